-- Moves the end of a turn's lease to a time from now.
-- Called by: Store.RenewOrchestrationItemLock, renew_locks.
-- Transaction: its own.
-- Locks: inboxes (the instance's row, exclusive, by pk_inboxes). A wait for a lock ends after a second with error
--   1222 (LOCK_TIMEOUT, see README.md).
-- Errors:
--   50010 invalid_lock_token: nobody holds the token
--   50011 lock_expired: the token's lease has ended
CREATE OR ALTER PROCEDURE duroxide.renew_orchestration_item_lock
    @instance_id NVARCHAR(400),
    @lock_token  UNIQUEIDENTIFIER,
    @extend_ms   BIGINT
AS
SET NOCOUNT, XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
IF @@LOCK_TIMEOUT = -1
    SET LOCK_TIMEOUT 1000;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
BEGIN TRY
    BEGIN TRANSACTION;

    -- Without a head, as under any lease: there would be one if the clock was set back after the lease had
    -- seemed to end.
    UPDATE b
    SET locked_until = @now + @extend_ms, wake_at = @now + @extend_ms, head_id = NULL
    FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_inboxes))
    WHERE instance_id = @instance_id AND lock_token = @lock_token AND locked_until > @now
    OPTION (KEEPFIXED PLAN);
    IF @@ROWCOUNT = 0
        EXEC duroxide.refuse_turn @instance_id = @instance_id, @lock_token = @lock_token, @now = @now;

    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;
GO
GRANT EXECUTE ON duroxide.renew_orchestration_item_lock TO duroxide_runtime;
