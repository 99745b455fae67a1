-- Adds one activity to the worker queue, ready at once.
-- Called by: Store.EnqueueForWorker.
-- Transaction: its own.
-- Parameters:
--   @instance_id, @execution_id, @activity_id
--                which activity of which execution it is
--   @session_id  the session it belongs to; NULL for none
--   @tag         the tag that a worker must have asked for; the empty text for none
--   @name        the activity's name; NULL for what any worker may take
--   @work_item   the activity's input
-- Locks: code_names (by get_code), worker_queue (the new row).
-- gen:null @session_id @name
CREATE OR ALTER PROCEDURE duroxide.enqueue_for_worker
    @instance_id  NVARCHAR(400),
    @execution_id BIGINT,
    @activity_id  BIGINT,
    @session_id   NVARCHAR(400),
    @tag          NVARCHAR(400),
    @name         NVARCHAR(401),
    @work_item    NVARCHAR(MAX)
AS
SET NOCOUNT, XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
DECLARE @code_id INT;
BEGIN TRY
    EXEC duroxide.get_code @name = @name, @version = N'', @code_id = @code_id OUTPUT;
    BEGIN TRANSACTION;

    INSERT INTO duroxide.worker_queue
        (instance_id, execution_id, activity_id, session_id, tag, code_id, work_item, visible_at, wake_at, created_at)
    VALUES (@instance_id, @execution_id, @activity_id, @session_id, @tag, @code_id, @work_item, @now, @now, @now);

    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;
GO
GRANT EXECUTE ON duroxide.enqueue_for_worker TO duroxide_runtime;
