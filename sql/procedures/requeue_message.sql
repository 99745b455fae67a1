-- Puts a message that was set aside into the queue as if it were sent now, and deletes the letter. The caller has
-- decoded its text. Most parameters are those of enqueue_for_orchestrator.
-- Called by: Store.RequeueDeadLetter.
-- Transaction: its own.
-- Parameters:
--   @id  the letter
-- Result sets:
--   1 Requeued: found is 0 if there is no such letter; then nothing was changed
-- Locks: those of enqueue_for_orchestrator, dead_letters (the letter, by pk_dead_letters).
-- Errors:
--   50001 snapshot_transaction: the caller's transaction is under SNAPSHOT (refuse_snapshot)
-- gen:null @name @version
CREATE OR ALTER PROCEDURE duroxide.requeue_message
    @id          BIGINT,
    @instance_id NVARCHAR(400),
    @kind        TINYINT,
    @name        NVARCHAR(401),
    @version     NVARCHAR(401),
    @work_item   NVARCHAR(MAX),
    @delay_ms    BIGINT,
    @queue       NVARCHAR(400) = NULL
AS
SET NOCOUNT, XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @found BIT = 0;
BEGIN TRY
    BEGIN TRANSACTION;

    EXEC duroxide.enqueue_for_orchestrator @instance_id = @instance_id, @kind = @kind, @name = @name, @version = @version,
        @work_item = @work_item, @delay_ms = @delay_ms, @queue = @queue;
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
GRANT EXECUTE ON duroxide.requeue_message TO duroxide_runtime;
