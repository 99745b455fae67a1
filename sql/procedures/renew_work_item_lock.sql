-- Moves the end of an activity's lease to a time from now. An error tells the worker that
-- the activity was cancelled. It also stores the details of a heartbeat, if there are any.
--
-- Called by: Store.RenewWorkItemLock, Store.KeepHeartbeat, renew_locks.
-- Transaction: its own.
--
-- Parameters:
--   @lock_token  the activity's lease
--   @extend_ms   how long it lasts from now on, in milliseconds
--   @heartbeat   the details of a heartbeat, which replace earlier ones; NULL leaves those
--
-- Locks: worker_queue (the activity's row, exclusive, by pk_worker_queue; it is found by
--   uq_worker_queue_token without a lock), sessions (by stamp_session). A wait for a lock ends
--   after a second with error 1222 (LOCK_TIMEOUT, see README.md).
--
-- Hints: INDEX seeks the token. FORCESEEK locks the row before its keys in the indexes, as all
--   others do; READCOMMITTEDLOCK takes locks under row versioning as well, and ROWLOCK keeps to
--   rows. KEEPFIXED PLAN prevents a new plan when many rows have changed, see
--   0005_storage.sql.
--
-- Errors:
--   50010 invalid_lock_token: nobody holds the token
--   50011 lock_expired: the token's lease has ended
CREATE OR ALTER PROCEDURE duroxide.renew_work_item_lock
    @lock_token UNIQUEIDENTIFIER,
    @extend_ms  BIGINT,
    @heartbeat  NVARCHAR(MAX) = NULL
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
IF @@LOCK_TIMEOUT = -1
    SET LOCK_TIMEOUT 1000;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
DECLARE @id BIGINT, @session_id NVARCHAR(400);
BEGIN TRY
    BEGIN TRANSACTION;

    -- Found by the token, written by the id: whoever writes the row locks it first and
    -- its keys in the indexes after it, so nobody may come the other way.
    SELECT @id = q.id
    FROM duroxide.worker_queue AS q WITH (INDEX (uq_worker_queue_token))
    -- The second condition is the filter of the index.
    WHERE q.lock_token = @lock_token
      AND q.lock_token IS NOT NULL
    OPTION (KEEPFIXED PLAN);
    -- Not ready, as under any lease: it would be if the clock was set back after the
    -- lease had seemed to end.
    UPDATE q
    SET locked_until = @now + @extend_ms, wake_at = @now + @extend_ms, ready = 0, heartbeat = COALESCE(@heartbeat, heartbeat)
    FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_worker_queue))
    WHERE id = @id
      AND lock_token = @lock_token
      AND locked_until > @now
    OPTION (KEEPFIXED PLAN);
    IF @@ROWCOUNT = 0
    BEGIN
        IF EXISTS (SELECT 1 FROM duroxide.worker_queue AS q WITH (INDEX (uq_worker_queue_token)) WHERE q.lock_token = @lock_token AND q.lock_token IS NOT NULL)
            THROW 50011, N'Activity lock expired.', 1;
        THROW 50010, N'Invalid lock token.', 1;
    END;

    SELECT @session_id = q.session_id
    FROM duroxide.worker_queue AS q WITH (FORCESEEK (pk_worker_queue (id)))
    WHERE q.id = @id
    OPTION (KEEPFIXED PLAN);
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
