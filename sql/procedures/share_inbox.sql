-- Locks the inbox of an instance with a shared lock if one more message does not change its state:
-- the instance is fetchable already, or a turn holds it and computes the state at its end. So
-- several messages to one instance can be committed at the same time. A call that changes the state
-- first locks the row by a write, waits for all shared locks, and sees their messages in a later
-- statement.
--
-- The inbox of an instance without a row is never shared, because a message can make the instance
-- unfetchable (function inbox_state).
--
-- Helper of: ack_instance_work, ack_work_item.
-- Transaction: the caller's. If @shared is 0, the caller ends it without any change, and locks the
--   inbox in a new one (lock_inbox): a write to a row that it shares would wait for the other shared
--   locks.
--
-- Parameters:
--   @instance_id  the instance
--   @now          the present time, in milliseconds since 1970 UTC
--   @shared       1 if the inbox is shared until the end of the transaction
--
-- Locks: inboxes (the instance's row, shared, by pk_inboxes), instances (the instance's row,
--   shared, by pk_instances); both are kept, by isolation level REPEATABLE READ, which ends with
--   the procedure.
--
-- Hints: INDEX comes to each row by its key, whatever the statistics say. LOOP locks the inbox
--   before the instance, as all procedures do: a call that held the instance and waited for the
--   inbox would deadlock with a turn that ends. KEEPFIXED PLAN prevents a new plan when many rows
--   have changed, see 0005_storage.sql.
--
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.share_inbox
    @instance_id NVARCHAR(400),
    @now         BIGINT,
    @shared      BIT OUTPUT
AS
SET NOCOUNT ON;
SET @shared = 0;
-- vet:allow Q12: what is read here must stay as it is; the level ends with the procedure
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
SELECT @shared = 1
FROM duroxide.inboxes AS b WITH (INDEX (pk_inboxes))
INNER LOOP JOIN duroxide.instances AS i WITH (INDEX (pk_instances)) ON i.instance_id = b.instance_id
WHERE b.instance_id = @instance_id
  AND (b.head_id IS NOT NULL OR b.locked_until > @now)
OPTION (KEEPFIXED PLAN);
