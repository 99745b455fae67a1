-- Deletes old executions of many instances, running ones and sub-orchestrations
-- included, in the order of their ids (§6.19).
--
-- Each instance is a transaction of its own. After each the call ends if it has taken
-- @budget_ms milliseconds, and so it does at the first error, provided that something
-- was done before it: the next call goes on where this one stopped, or meets the error
-- again and reports it. So the counts are never lost.
--
-- Parameters: with @listed = 1 only instances in @list are looked at, and if
-- @finished_before is not NULL only those whose current execution ended before it.
-- @from is the id to begin at, NULL for the first, and @max_instances the largest
-- number of them, at most 1,000 are sensible. @keep_last and @completed_before are
-- those of prune_executions. Times are in milliseconds.
--
-- gen:null @finished_before @completed_before @from
--
-- Result sets:
--   1 Counts: how many instances were looked at, what was deleted, and where to go on;
--     the id is NULL if there are no more
--
-- Locks: executions, history.
--
-- Errors:
--   50001 wrong_isolation_level: the session is not under READ COMMITTED; do not set
--         an isolation level on the connections that the store uses
CREATE OR ALTER PROCEDURE duroxide.prune_executions_bulk
    @listed           BIT,
    @list             duroxide.id_list_v1 READONLY,
    @finished_before  BIGINT,
    @from             NVARCHAR(400),
    @max_instances    BIGINT,
    @keep_last        BIGINT,
    @completed_before BIGINT,
    @budget_ms        BIGINT
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
SET DEADLOCK_PRIORITY LOW;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
DECLARE @chosen TABLE (position BIGINT NOT NULL PRIMARY KEY, instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL);
DECLARE @count BIGINT, @done BIGINT = 0, @instance_id NVARCHAR(400), @in_time BIT = 1;
DECLARE @instances BIGINT = 0, @executions BIGINT = 0, @events BIGINT = 0;
DECLARE @found BIT, @of_executions BIGINT, @of_events BIGINT;
BEGIN TRY
    EXEC duroxide.require_read_committed;

    IF @from IS NULL
        SELECT @from = MIN(i.instance_id)
        FROM duroxide.instances AS i;

    -- One more than may be looked at, to tell where to go on.
    IF @listed = 1
        INSERT INTO @chosen (position, instance_id)
        SELECT TOP (@max_instances + 1) ROW_NUMBER() OVER (ORDER BY i.instance_id), i.instance_id
        FROM duroxide.instances AS i
        LEFT JOIN duroxide.executions AS e ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
        WHERE i.instance_id >= @from
          AND i.instance_id IN (SELECT l.id FROM @list AS l)
          AND (@finished_before IS NULL OR e.completed_at < @finished_before)
        ORDER BY i.instance_id;
    ELSE
        INSERT INTO @chosen (position, instance_id)
        SELECT TOP (@max_instances + 1) ROW_NUMBER() OVER (ORDER BY i.instance_id), i.instance_id
        FROM duroxide.instances AS i
        LEFT JOIN duroxide.executions AS e ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
        WHERE i.instance_id >= @from
          AND (@finished_before IS NULL OR e.completed_at < @finished_before)
        ORDER BY i.instance_id;
    SET @count = @@ROWCOUNT;

    WHILE @done < @count AND @done < @max_instances AND @in_time = 1
    BEGIN
        SELECT @instance_id = c.instance_id FROM @chosen AS c WHERE c.position = @done + 1;
        BEGIN TRANSACTION;
        EXEC duroxide.prune_instance @instance_id = @instance_id, @keep_last = @keep_last, @completed_before = @completed_before,
            @found = @found OUTPUT, @executions = @of_executions OUTPUT, @events = @of_events OUTPUT;
        COMMIT TRANSACTION;
        -- It may have been deleted since it was chosen.
        SET @instances = @instances + @found;
        SET @executions = @executions + @of_executions;
        SET @events = @events + @of_events;
        SET @done = @done + 1;
        -- How long the call has taken so far.
        IF DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) - @now >= @budget_ms
            SET @in_time = 0;
    END;
END TRY
BEGIN CATCH
    -- vet:allow P5-swallow: the next call meets the error again, as there are more
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    IF @done = 0
        THROW;
END CATCH;

-- gen:result Counts
-- gen:columns (instances bigint not null, executions bigint not null, events bigint not null, next_instance_id nvarchar(400))
SELECT @instances AS instances, @executions AS executions, @events AS events,
    (SELECT c.instance_id FROM @chosen AS c WHERE c.position = @done + 1) AS next_instance_id;
