-- Fails a call that has not ended or moved its lease on an instance, with the reason: the lease is lost, or otherwise
-- the execution is invalid.
-- Helper of: ack_orchestration_item, renew_orchestration_item_lock.
-- Transaction: the caller's.
-- Locks: inboxes (the instance's row, shared, by pk_inboxes).
-- Errors:
--   50010 invalid_lock_token: nobody holds the token
--   50011 lock_expired: the token's lease has ended
--   50012 invalid_execution_id: the first execution is 1
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.refuse_turn
    @instance_id NVARCHAR(400),
    @lock_token  UNIQUEIDENTIFIER,
    @now         BIGINT
AS
DECLARE @locked_until BIGINT;
SELECT @locked_until = b.locked_until
FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, ROWLOCK, INDEX (pk_inboxes))
WHERE b.instance_id = @instance_id AND b.lock_token = @lock_token
OPTION (KEEPFIXED PLAN);
IF @locked_until > @now
    THROW 50012, N'The execution id must be set: the first is 1.', 1;
IF @locked_until IS NOT NULL
    THROW 50011, N'Instance lock expired.', 1;
THROW 50010, N'Invalid lock token.', 1;
