-- Queues a start unless the instance id is used, by an instance or by a start that waits for its first turn. Of
-- several callers that start one id at the same time, one succeeds.
-- Called by: Store.StartInstance, Store.StartInstanceTx, Store.StartInstanceWith.
-- Transaction: its own, or the caller's, which keeps all locks until it ends.
-- Parameters:
--   @kind            2, the kind of a start
--   @name, @version  the code that the start asks for; NULL for what any worker may take
-- Result sets:
--   1 Use: one row. used is 0 if the start was queued; otherwise the row is that of find_instance
-- Locks: code_names (by get_code), inboxes (the instance's row, by lock_inbox), orchestrator_queue (the new row),
--   instances, executions (shared, by id_use). In its own transaction a wait for a lock ends after 150 ms with error
--   1222 (LOCK_TIMEOUT, see README.md).
-- Errors:
--   50001 snapshot_transaction: the caller's transaction is under SNAPSHOT (refuse_snapshot)
-- gen:null @name @version
CREATE OR ALTER PROCEDURE duroxide.start_instance
    @instance_id NVARCHAR(400),
    @kind        TINYINT,
    @name        NVARCHAR(401),
    @version     NVARCHAR(401),
    @work_item   NVARCHAR(MAX)
AS
SET NOCOUNT, XACT_ABORT ON;
IF @@TRANCOUNT > 0
    EXEC duroxide.refuse_snapshot;
ELSE IF @@LOCK_TIMEOUT = -1
    SET LOCK_TIMEOUT 150;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()),
    @used BIT = 0, @user NVARCHAR(MAX), @status NVARCHAR(32), @start NVARCHAR(MAX), @code_id INT;
BEGIN TRY
    SELECT @code_id = c.id
    FROM duroxide.code_names AS c WITH (INDEX (uq_code_names))
    WHERE c.name = @name AND c.version = @version;
    IF @code_id IS NULL
        EXEC duroxide.get_code @name = @name, @version = @version, @code_id = @code_id OUTPUT;
    BEGIN TRANSACTION;

    EXEC duroxide.lock_inbox @instance_id = @instance_id;
    EXEC duroxide.id_use @instance_id = @instance_id, @used = @used OUTPUT, @name = @user OUTPUT,
        @status = @status OUTPUT, @start = @start OUTPUT;
    IF @used = 0
    BEGIN
        INSERT INTO duroxide.orchestrator_queue (instance_id, kind, code_id, work_item, visible_at, created_at)
        VALUES (@instance_id, @kind, @code_id, @work_item, @now, @now);
        EXEC duroxide.refresh_inbox @instance_id = @instance_id, @now = @now;
    END;

    -- gen:result Use
    SELECT COALESCE(@used, CAST(0 AS BIT)) AS used, @user AS name, @status AS status, @start AS start_item;

    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;
GO
GRANT EXECUTE ON duroxide.start_instance TO duroxide_runtime;
