-- Adds one message for an instance. The instance need not exist, and is not created.
-- Called by: Store.EnqueueForOrchestrator, Store.EnqueueTx, Store.StartInstanceWith, requeue_message.
-- Transaction: its own, or the caller's if there is one: the message is then committed or rolled back with it. An
--   error rolls the caller's transaction back.
-- Parameters:
--   @kind         0 a queue message, 1 the start of the next execution, 2 a start, 3 any other message
--   @name, @version
--                 the code that a start asks for, NULL for what any worker may take; the name
--                 duroxide:cancel for a request to cancel; NULL for other messages
--   @delay_ms     hides the message for so many milliseconds; 0 for none
--   @queue        the queue of a queue message; NULL for others. Behind older messages of its queue the
--                 message waits (kind 4), and so it does if a queue message makes the instance ready
--                 already. Then it is not hidden
-- Locks: code_names (by get_code), inboxes (the instance's row, by lock_inbox), orchestrator_queue (shared, then the
--   new row). In its own transaction a wait for a lock ends after 150 ms with error 1222 (LOCK_TIMEOUT, see
--   README.md).
-- Errors:
--   50001 snapshot_transaction: the caller's transaction is under SNAPSHOT (refuse_snapshot)
-- gen:null @name @version
CREATE OR ALTER PROCEDURE duroxide.enqueue_for_orchestrator
    @instance_id NVARCHAR(400),
    @kind        TINYINT,
    @name        NVARCHAR(401),
    @version     NVARCHAR(401),
    @work_item   NVARCHAR(MAX),
    @delay_ms    BIGINT,
    @queue       NVARCHAR(400) = NULL
AS
SET NOCOUNT, XACT_ABORT ON;
IF @@TRANCOUNT > 0
    EXEC duroxide.refuse_snapshot;
ELSE IF @@LOCK_TIMEOUT = -1
    SET LOCK_TIMEOUT 150;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()), @code_id INT;
BEGIN TRY
    EXEC duroxide.get_code @name = @name, @version = @version, @code_id = @code_id OUTPUT;
    BEGIN TRANSACTION;

    EXEC duroxide.lock_inbox @instance_id = @instance_id;
    IF @queue IS NOT NULL AND (EXISTS (
        SELECT 1
        FROM duroxide.orchestrator_queue AS q WITH (FORCESEEK (ix_orchestrator_queue_queue (instance_id, queue)))
        WHERE q.instance_id = @instance_id AND q.queue = @queue AND q.queue IS NOT NULL
    ) OR EXISTS (
        SELECT 1
        FROM duroxide.orchestrator_queue AS q WITH (FORCESEEK (pk_orchestrator_queue (instance_id, kind, visible_at)))
        WHERE q.instance_id = @instance_id AND q.kind = 0 AND q.visible_at <= @now
    ))
        SELECT @kind = 4, @delay_ms = 0;
    INSERT INTO duroxide.orchestrator_queue (instance_id, kind, queue, code_id, work_item, visible_at, created_at)
    VALUES (@instance_id, @kind, @queue, @code_id, @work_item, @now + @delay_ms, @now);
    EXEC duroxide.refresh_inbox @instance_id = @instance_id, @now = @now;

    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;
GO
GRANT EXECUTE ON duroxide.enqueue_for_orchestrator TO duroxide_runtime;
