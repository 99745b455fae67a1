-- Locks the inbox of an instance for a message to it: shared if one more message does not change whether the instance
-- is ready, because it is, or because a turn holds it, whose end looks at its messages. Many activities of one
-- instance can then end at the same time. Otherwise exclusively, in a new transaction, as the shared lock of two
-- callers would keep both from the exclusive one.
-- Helper of: end_work.
-- Transaction: its own, in which the caller goes on. The caller has begun one and done nothing in it. An isolation
--   level that is set in a procedure ends with it; the locks stay.
-- Parameters:
--   @now         the present time, in milliseconds since 1970 UTC
--   @shared      0 on entry; 1 if the lock is shared: the caller need not compute the state of the inbox again
-- Locks: inboxes, instances (the instance's rows, shared, by pk_inboxes and pk_instances), or those of lock_inbox.
-- gen:internal
-- vet:allow Q12-level: what is read must stay as it is; the level ends with the procedure
-- vet:allow P1-open: it exchanges the caller's transaction for a new one
-- vet:allow P1-try: the caller rolls back
CREATE OR ALTER PROCEDURE duroxide.join_inbox
    @instance_id NVARCHAR(400),
    @now         BIGINT,
    @shared      BIT OUTPUT
AS
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
SELECT @shared = 1
FROM duroxide.inboxes AS b WITH (INDEX (pk_inboxes))
INNER LOOP JOIN duroxide.instances AS i WITH (INDEX (pk_instances)) ON i.instance_id = b.instance_id
WHERE b.instance_id = @instance_id AND (b.head_id IS NOT NULL OR b.locked_until > @now)
OPTION (KEEPFIXED PLAN);
IF @shared = 1
    RETURN;
COMMIT TRANSACTION;
BEGIN TRANSACTION;
EXEC duroxide.lock_inbox @instance_id = @instance_id;
