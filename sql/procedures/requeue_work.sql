-- Puts an activity that was set aside into the queue as if it were scheduled now, and deletes the letter. The caller
-- has decoded its text.
-- Called by: Store.RequeueDeadLetter.
-- Transaction: its own.
-- Parameters:
--   @id           the letter
--   @instance_id, @execution_id, @activity_id, @session_id, @tag, @name, @work_item
--                 as those of enqueue_for_worker
-- Result sets:
--   1 Requeued: one row. found is 0 if there is no such letter; then nothing was changed
-- Locks: code_names (by get_code), worker_queue (the new row), dead_letters (the letter, by pk_dead_letters).
-- gen:null @session_id @name
CREATE OR ALTER PROCEDURE duroxide.requeue_work
    @id           BIGINT,
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
DECLARE @code_id INT, @found BIT = 0;
BEGIN TRY
    EXEC duroxide.get_code @name = @name, @version = N'', @code_id = @code_id OUTPUT;
    BEGIN TRANSACTION;

    INSERT INTO duroxide.worker_queue
        (instance_id, execution_id, activity_id, session_id, tag, code_id, work_item, visible_at, wake_at, created_at)
    VALUES (@instance_id, @execution_id, @activity_id, @session_id, @tag, @code_id, @work_item, @now, @now, @now);
    DELETE d
    FROM duroxide.dead_letters AS d WITH (ROWLOCK, INDEX (pk_dead_letters))
    WHERE d.id = @id;
    IF @@ROWCOUNT > 0
    BEGIN
        SET @found = 1;
        COMMIT TRANSACTION;
    END
    ELSE
        ROLLBACK TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;

-- gen:result Requeued
SELECT @found AS found;
GO
GRANT EXECUTE ON duroxide.requeue_work TO duroxide_runtime;
