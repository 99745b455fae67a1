-- Deletes old executions of one instance, never the current one nor a running one
-- (§6.18). All or none of them.
--
-- Parameters: of the @keep_last newest executions none is deleted, nor one that has
-- not ended before @completed_before, a time in milliseconds, if that is not NULL.
--
-- gen:null @completed_before
--
-- Result sets:
--   1 Counts: what was deleted
--
-- Locks: executions, history.
--
-- Errors:
--   50020 instance_not_found: there is no such instance
CREATE OR ALTER PROCEDURE duroxide.prune_executions
    @instance_id      NVARCHAR(400),
    @keep_last        BIGINT,
    @completed_before BIGINT
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
SET DEADLOCK_PRIORITY LOW;
DECLARE @found BIT, @executions BIGINT, @events BIGINT;
BEGIN TRY
    BEGIN TRANSACTION;

    EXEC duroxide.prune_instance @instance_id = @instance_id, @keep_last = @keep_last, @completed_before = @completed_before,
        @found = @found OUTPUT, @executions = @executions OUTPUT, @events = @events OUTPUT;
    IF @found = 0
        THROW 50020, N'Instance not found.', 1;

    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;

-- gen:result Counts
-- gen:columns (executions bigint not null, events bigint not null)
SELECT @executions AS executions, @events AS events;
