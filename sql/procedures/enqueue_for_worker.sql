-- Adds one activity to the worker queue, visible at once (§5.8).
--
-- gen:null @session_id @tag
--
-- Locks: worker_queue.
--
-- Errors:
--   50001 wrong_isolation_level: the session is not under READ COMMITTED; do not set
--         an isolation level on the connections that the store uses
CREATE OR ALTER PROCEDURE duroxide.enqueue_for_worker
    @instance_id  NVARCHAR(400),
    @execution_id BIGINT,
    @activity_id  BIGINT,
    @session_id   NVARCHAR(400),
    @tag          NVARCHAR(400),
    @work_item    NVARCHAR(MAX)
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
BEGIN TRY
    EXEC duroxide.require_read_committed;
    BEGIN TRANSACTION;

    INSERT INTO duroxide.worker_queue
        (instance_id, execution_id, activity_id, session_id, tag, work_item, visible_at, wake_at, created_at)
    VALUES (@instance_id, @execution_id, @activity_id, @session_id, @tag, @work_item, @now, @now, @now);

    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;
