-- Moves the end of an activity's lease to @extend_ms milliseconds from now (§5.12).
-- That it fails is how a worker learns that the activity was cancelled.
--
-- Locks: worker_queue, sessions.
-- Hints: INDEX finds the token by a seek (rule Q9). FORCESEEK locks the row by its key, and
-- its keys in the indexes after it, as everybody does; READCOMMITTEDLOCK makes row versions
-- no exception, and ROWLOCK keeps to rows.
-- KEEPFIXED PLAN keeps the plan however many rows change: see 0005_storage_sqlserver.sql.
--
-- Errors:
--   50010 invalid_lock_token: nobody holds the token
--   50011 lock_expired: the token's lease has ended
CREATE OR ALTER PROCEDURE duroxide.renew_work_item_lock
    @lock_token UNIQUEIDENTIFIER,
    @extend_ms  BIGINT
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
DECLARE @id BIGINT, @session_id NVARCHAR(400);
BEGIN TRY
    BEGIN TRANSACTION;

    -- Found by the token, written by the id: whoever writes the row locks it first and
    -- its keys in the indexes after it, so nobody may come the other way.
    SELECT @id = q.id
    FROM duroxide.worker_queue AS q WITH (INDEX (uq_worker_queue_token))
    WHERE q.lock_token = @lock_token
    OPTION (KEEPFIXED PLAN);
    -- Not ready, as under any lease: it would be if the clock was set back after the
    -- lease had seemed to end.
    UPDATE q
    SET locked_until = @now + @extend_ms, wake_at = @now + @extend_ms, ready = 0
    FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK (pk_worker_queue (id)))
    WHERE id = @id
      AND lock_token = @lock_token
      AND locked_until > @now
    OPTION (KEEPFIXED PLAN);
    IF @@ROWCOUNT = 0
    BEGIN
        IF EXISTS (SELECT 1 FROM duroxide.worker_queue AS q WITH (INDEX (uq_worker_queue_token)) WHERE q.lock_token = @lock_token)
            THROW 50011, N'Activity lock expired.', 1;
        THROW 50010, N'Invalid lock token.', 1;
    END;

    SELECT @session_id = q.session_id
    FROM duroxide.worker_queue AS q WITH (FORCESEEK (pk_worker_queue (id)))
    WHERE q.id = @id;
    IF @session_id IS NOT NULL
        EXEC duroxide.stamp_session @session_id = @session_id, @now = @now;

    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;
