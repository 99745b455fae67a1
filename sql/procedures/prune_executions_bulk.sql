-- Deletes old executions of many instances, including running instances and sub-orchestrations, in
-- the order of their ids.
--
-- A page of 1,000 instances is read, and those that match are chosen. The oldest executions of an
-- instance go first, those that have 1,000 events together in one transaction. The call ends when it
-- has taken @budget_ms, looked at after each transaction and each page, or at the first error if
-- something was done before it. The next call continues, or meets the error again and reports it. So
-- no counts are lost, and instances that do not match do not make a call longer.
--
-- Called by: Store.PruneExecutionsBulk.
-- Transaction: its own, one for each portion of an instance.
--
-- Parameters:
--   @listed, @list     1 looks only at instances in @list; 0 ignores the list
--   @finished_before   only instances whose current execution ended before this time, in milliseconds
--                      since 1970 UTC; NULL for all
--   @after             the id after which to begin; NULL for the first
--   @max_instances     the largest number of instances; at most 1,000 are sensible
--   @keep_last         keeps so many of the newest executions of each
--   @completed_before  only executions that ended before this time, in milliseconds since 1970 UTC;
--                      NULL for all
--   @budget_ms         the time in milliseconds after which nothing new is begun
--
-- Result sets:
--   1 Counts: how many instances were pruned to the end, how many rows were deleted, and the id after
--     which to continue; NULL if there are no more
--
-- Locks: instances, executions (shared, while it looks for instances); then for each instance,
--   by prune_instance, instances and executions (shared), executions and history, each row by
--   its primary key.
--
-- Hints: INDEX and LOOP read a page of instances by the primary key alone, and seek each
--   execution.
--
-- gen:null @finished_before @completed_before @after
CREATE OR ALTER PROCEDURE duroxide.prune_executions_bulk
    @listed           BIT,
    @list             duroxide.id_list_v1 READONLY,
    @finished_before  BIGINT,
    @after            NVARCHAR(400),
    @max_instances    BIGINT,
    @keep_last        BIGINT,
    @completed_before BIGINT,
    @budget_ms        BIGINT
AS
SET NOCOUNT, XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
SET DEADLOCK_PRIORITY LOW;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
DECLARE @page TABLE (
    position     INT           NOT NULL PRIMARY KEY,
    instance_id  NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    execution_id BIGINT        NOT NULL,
    matches      BIT           NOT NULL
);
DECLARE @count INT = 1000, @position INT = 0, @next INT, @instance_id NVARCHAR(400), @done BIGINT = 0, @in_time BIT = 1, @more BIT = 0;
DECLARE @instances BIGINT = 0, @executions BIGINT = 0, @events BIGINT = 0;
DECLARE @found BIT, @of_executions BIGINT, @of_events BIGINT;
BEGIN TRY

    -- No stored id has this character, so the first is behind it. It would not be behind the empty
    -- text, see list_instance_page.
    SET @after = COALESCE(@after, NCHAR(1));
    WHILE @count = 1000 AND @done < @max_instances AND @in_time = 1
    BEGIN
        -- A page of instances, and which of them match.
        DELETE FROM @page;
        IF @listed = 1
            INSERT INTO @page (position, instance_id, execution_id, matches)
            SELECT TOP (1000) ROW_NUMBER() OVER (ORDER BY i.instance_id), i.instance_id, i.current_execution_id, 1
            FROM (SELECT DISTINCT l.id FROM @list AS l WHERE l.id > @after) AS l
            INNER LOOP JOIN duroxide.instances AS i WITH (INDEX (pk_instances)) ON i.instance_id = l.id
            ORDER BY i.instance_id;
        ELSE
            INSERT INTO @page (position, instance_id, execution_id, matches)
            SELECT TOP (1000) ROW_NUMBER() OVER (ORDER BY i.instance_id), i.instance_id, i.current_execution_id, 1
            FROM duroxide.instances AS i WITH (INDEX (pk_instances))
            WHERE i.instance_id > @after
            ORDER BY i.instance_id;
        SET @count = @@ROWCOUNT;
        IF @finished_before IS NOT NULL
            UPDATE p
            SET matches = CASE WHEN e.completed_at < @finished_before THEN 1 ELSE 0 END
            FROM @page AS p
            LEFT OUTER LOOP JOIN duroxide.executions AS e WITH (INDEX (pk_executions))
                ON e.instance_id = p.instance_id AND e.execution_id = p.execution_id;

        SET @position = 0;
        WHILE @position < @count AND @done < @max_instances AND @in_time = 1
        BEGIN
            SELECT @next = MIN(p.position) FROM @page AS p WHERE p.position > @position AND p.matches = 1;
            IF @next IS NOT NULL
            BEGIN
                SELECT @instance_id = p.instance_id FROM @page AS p WHERE p.position = @next;
                BEGIN TRANSACTION;
                EXEC duroxide.prune_instance @instance_id = @instance_id, @finished_before = @finished_before, @keep_last = @keep_last,
                    @completed_before = @completed_before, @portion = 1000, @found = @found OUTPUT, @more = @more OUTPUT, @executions = @of_executions OUTPUT, @events = @of_events OUTPUT;
                COMMIT TRANSACTION;
                -- It may have been deleted since it was chosen, or run again.
                SELECT @executions = @executions + @of_executions, @events = @events + @of_events;
                IF @more = 0
                    SELECT @instances = @instances + @found, @done = @done + 1;
            END;
            IF @more = 0
            BEGIN
                SET @position = COALESCE(@next, @count);
                SELECT @after = p.instance_id FROM @page AS p WHERE p.position = @position;
            END;
            -- How long the call has taken so far.
            IF DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) - @now >= @budget_ms
                SET @in_time = 0;
        END;
    END;
END TRY
BEGIN CATCH
    -- vet:allow P5-swallow: the next call goes on at the same place and meets the error again
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    IF @done = 0 AND @executions = 0
        THROW;
    SET @in_time = 0;
END CATCH;

-- gen:result Counts
-- gen:columns (instances bigint not null, executions bigint not null, events bigint not null, after_instance_id nvarchar(400))
SELECT @instances AS instances, @executions AS executions, @events AS events,
    CASE WHEN @in_time = 0 OR @count = 1000 OR @position < @count THEN @after END AS after_instance_id;
GO
GRANT EXECUTE ON duroxide.prune_executions_bulk TO duroxide_admin;
