-- Puts a message that was set aside into the queue as if it were sent now, and deletes the letter
-- (§6.23). The caller has decoded its text.
--
-- Called by: Store.RequeueDeadLetter.
-- Transaction: its own.
--
-- Parameters:
--   @id           the letter
--   @instance_id, @kind, @name, @version, @work_item, @delay_ms
--                 as those of enqueue_for_orchestrator
--
-- Result sets:
--   1 Requeued: one row. found is 0 if there is no such letter; then nothing was changed
--
-- Locks: code_names (by get_code), inboxes (the instance's row, by lock_inbox),
--   orchestrator_queue (the new row), dead_letters (the letter, by pk_dead_letters).
--
-- Hints: INDEX comes to the row by its key, whatever the statistics say. ROWLOCK keeps the lock to
--   the row.
--
-- gen:null @name @version
CREATE OR ALTER PROCEDURE duroxide.requeue_message
    @id          BIGINT,
    @instance_id NVARCHAR(400),
    @kind        TINYINT,
    @name        NVARCHAR(401),
    @version     NVARCHAR(401),
    @work_item   NVARCHAR(MAX),
    @delay_ms    BIGINT
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
DECLARE @code_id INT, @found BIT = 0;
BEGIN TRY
    EXEC duroxide.get_code @name = @name, @version = @version, @code_id = @code_id OUTPUT;
    BEGIN TRANSACTION;

    EXEC duroxide.lock_inbox @instance_id = @instance_id;
    INSERT INTO duroxide.orchestrator_queue (instance_id, kind, code_id, work_item, visible_at, created_at)
    VALUES (@instance_id, @kind, @code_id, @work_item, @now + @delay_ms, @now);
    EXEC duroxide.refresh_inbox @instance_id = @instance_id, @now = @now;
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
/* gen:columns (found bit not null) */
SELECT @found AS found;
GO
GRANT EXECUTE ON duroxide.requeue_message TO duroxide_runtime;
