-- Fails a call that has not found its lease on an instance, with the reason.
--
-- Helper of: ack_orchestration_item, renew_orchestration_item_lock.
-- Transaction: the caller's.
-- Locks: inboxes (the instance's row, shared, by pk_inboxes).
-- Errors:
--   50010 invalid_lock_token: nobody holds the token
--   50011 lock_expired: the token's lease has ended
--
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.refuse_turn
    @instance_id NVARCHAR(400),
    @lock_token  UNIQUEIDENTIFIER
AS
SET NOCOUNT, XACT_ABORT ON;
IF EXISTS (
    SELECT 1
    FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, INDEX (pk_inboxes))
    WHERE b.instance_id = @instance_id
      AND b.lock_token = @lock_token
)
    THROW 50011, N'Instance lock expired.', 1;
THROW 50010, N'Invalid lock token.', 1;
