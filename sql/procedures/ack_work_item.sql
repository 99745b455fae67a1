-- Ends an activity and sends its completion, if there is one, to its instance
-- (§5.11): it is never both queued and completed, nor neither.
--
-- Parameters: @instance_id and @work_item are the completion; NULL for none.
--
-- gen:null @instance_id @work_item
--
-- Locks: inboxes, orchestrator_queue, worker_queue, sessions.
--
-- Errors:
--   50001 wrong_isolation_level: the session is not under READ COMMITTED; do not set
--         an isolation level on the connections that the store uses
--   50010 invalid_lock_token: nobody holds the token
--   50011 lock_expired: the token's lease has ended
CREATE OR ALTER PROCEDURE duroxide.ack_work_item
    @lock_token  UNIQUEIDENTIFIER,
    @instance_id NVARCHAR(400),
    @work_item   NVARCHAR(MAX)
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
DECLARE @id BIGINT, @session_id NVARCHAR(400);
BEGIN TRY
    EXEC duroxide.require_read_committed;
    BEGIN TRANSACTION;

    IF @instance_id IS NOT NULL
    BEGIN
        EXEC duroxide.lock_inbox @instance_id = @instance_id;
        INSERT INTO duroxide.orchestrator_queue (instance_id, kind, work_item, visible_at, created_at)
        VALUES (@instance_id, 3, @work_item, @now, @now);
        EXEC duroxide.refresh_inbox @instance_id = @instance_id, @now = @now;
    END;

    -- Found by the token, written by the id: whoever writes the row locks it first and
    -- its keys in the indexes after it, so nobody may come the other way.
    SELECT @id = q.id
    FROM duroxide.worker_queue AS q
    WHERE q.lock_token = @lock_token;
    SELECT @session_id = q.session_id
    FROM duroxide.worker_queue AS q
    WHERE q.id = @id;
    DELETE FROM duroxide.worker_queue
    WHERE id = @id
      AND lock_token = @lock_token
      AND locked_until > @now;
    IF @@ROWCOUNT = 0
    BEGIN
        IF EXISTS (SELECT 1 FROM duroxide.worker_queue AS q WHERE q.lock_token = @lock_token)
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
