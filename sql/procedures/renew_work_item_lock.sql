-- Moves the end of an activity's lease to a time from now. An error tells the worker that the activity was cancelled.
-- It also stores the details of a heartbeat, if there are any.
-- Called by: Store.RenewWorkItemLock, Store.KeepHeartbeat, renew_locks.
-- Transaction: its own.
-- Parameters:
--   @id, @lock_token  the activity and its lease
--   @extend_ms        how long it lasts from now on, in milliseconds
--   @heartbeat        the details of a heartbeat, which replace earlier ones; NULL leaves those
-- Locks: worker_queue (the activity's row, exclusive, by pk_worker_queue), sessions (by stamp_session). A wait for a
--   lock ends after a second with error 1222 (LOCK_TIMEOUT, see README.md).
-- Errors:
--   50010 invalid_lock_token: nobody holds the token
--   50011 lock_expired: the token's lease has ended
CREATE OR ALTER PROCEDURE duroxide.renew_work_item_lock
    @id         BIGINT,
    @lock_token UNIQUEIDENTIFIER,
    @extend_ms  BIGINT,
    @heartbeat  NVARCHAR(MAX) = NULL
AS
SET NOCOUNT, XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
IF @@LOCK_TIMEOUT = -1
    SET LOCK_TIMEOUT 1000;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
DECLARE @session_id NVARCHAR(400);
BEGIN TRY
    BEGIN TRANSACTION;

    -- Not ready, as under any lease: it would be if the clock was set back after the
    -- lease had seemed to end.
    UPDATE q
    SET locked_until = @now + @extend_ms, wake_at = @now + @extend_ms, ready = 0, heartbeat = COALESCE(@heartbeat, heartbeat),
        @session_id = session_id
    FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_worker_queue))
    WHERE id = @id AND lock_token = @lock_token AND locked_until > @now
    OPTION (KEEPFIXED PLAN);
    IF @@ROWCOUNT = 0
    BEGIN
        IF EXISTS (SELECT 1 FROM duroxide.worker_queue AS q WITH (INDEX (pk_worker_queue)) WHERE q.id = @id AND q.lock_token = @lock_token)
            THROW 50011, N'Activity lock expired.', 1;
        THROW 50010, N'Invalid lock token.', 1;
    END;
    IF @session_id IS NOT NULL
        EXEC duroxide.stamp_session @session_id = @session_id, @now = @now;

    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;
GO
GRANT EXECUTE ON duroxide.renew_work_item_lock TO duroxide_runtime;
