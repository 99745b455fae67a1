-- Deletes old executions of one instance, all of them or none. The current execution and
-- running ones are never deleted.
--
-- Called by: Store.PruneExecutions.
-- Transaction: its own.
--
-- Parameters:
--   @instance_id       the instance
--   @keep_last         keeps so many of the newest executions
--   @completed_before  only executions that ended before this time, in milliseconds since 1970 UTC;
--                      NULL for all
--
-- Result sets:
--   1 Counts: how many rows were deleted
--
-- Locks: by prune_instance, instances and executions (shared), then executions and history, each
--   row by its primary key.
--
-- Errors:
--   50020 instance_not_found: there is no such instance
--
-- gen:null @completed_before
CREATE OR ALTER PROCEDURE duroxide.prune_executions
    @instance_id      NVARCHAR(400),
    @keep_last        BIGINT,
    @completed_before BIGINT
AS
SET NOCOUNT, XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
SET DEADLOCK_PRIORITY LOW;
DECLARE @found BIT, @more BIT, @executions BIGINT, @events BIGINT;
BEGIN TRY
    BEGIN TRANSACTION;

    EXEC duroxide.prune_instance @instance_id = @instance_id, @finished_before = NULL, @keep_last = @keep_last,
        @completed_before = @completed_before, @portion = NULL, @found = @found OUTPUT, @more = @more OUTPUT, @executions = @executions OUTPUT, @events = @events OUTPUT;
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
GO
GRANT EXECUTE ON duroxide.prune_executions TO duroxide_admin;
