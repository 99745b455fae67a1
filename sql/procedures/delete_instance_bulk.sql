-- Deletes finished root instances with their descendants, those first that finished
-- first (§6.17). Descendants go even if they run.
--
-- Each root with its descendants is a transaction of its own: all of a tree or nothing
-- of it. After each the call ends if it has taken @budget_ms milliseconds, and so it
-- does at the first error, provided that something was done before it: the next call
-- goes on, or meets the error again and reports it. So the counts are never lost.
--
-- Parameters: with @listed = 1 only instances in @list are deleted. @completed_before
-- is a time in milliseconds, NULL for no restriction. @max_roots is the largest number
-- of roots, at most 1,000 are sensible.
--
-- gen:null @completed_before
--
-- Result sets:
--   1 Counts: what was deleted, after how many roots, and whether there are more;
--     messages are those of both queues
--   2 Deleted: the ids of the instances
--
-- Locks: inboxes (in the order of their ids, but for a child that was created while the
-- rest was locked), orchestrator_queue, instances, executions, history, kv_store,
-- kv_delta, worker_queue.
-- Hints: see lock_inbox, which this calls.
--
-- Errors:
--   50001 wrong_isolation_level: the session is not under READ COMMITTED; do not set
--         an isolation level on the connections that the store uses
CREATE OR ALTER PROCEDURE duroxide.delete_instance_bulk
    @listed           BIT,
    @list             duroxide.id_list_v1 READONLY,
    @completed_before BIGINT,
    @max_roots        BIGINT,
    @budget_ms        BIGINT
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
SET DEADLOCK_PRIORITY LOW;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
-- No time is later, so that there is one shape of the query, with or without it.
DECLARE @before BIGINT = COALESCE(@completed_before, 9223372036854775807);
DECLARE @roots TABLE (position BIGINT NOT NULL PRIMARY KEY, instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL);
DECLARE @tree duroxide.id_list_v1;
DECLARE @locked TABLE (instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY);
DECLARE @deleted TABLE (instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL);
DECLARE @found BIGINT, @done BIGINT = 0, @root NVARCHAR(400), @in_time BIT = 1, @still BIT;
DECLARE @instances BIGINT = 0, @executions BIGINT = 0, @events BIGINT = 0, @messages BIGINT = 0;
DECLARE @of_instances BIGINT, @of_executions BIGINT, @of_events BIGINT, @of_messages BIGINT;
BEGIN TRY
    EXEC duroxide.require_read_committed;

    -- One more than may be deleted, to tell whether there are more.
    IF @listed = 1
        INSERT INTO @roots (position, instance_id)
        SELECT TOP (@max_roots + 1) ROW_NUMBER() OVER (ORDER BY e.completed_at, i.instance_id), i.instance_id
        FROM duroxide.instances AS i
        INNER JOIN duroxide.executions AS e ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
        WHERE i.instance_id IN (SELECT l.id FROM @list AS l)
          AND i.parent_instance_id IS NULL
          AND e.status IN (N'Completed', N'Failed', N'ContinuedAsNew')
          AND e.completed_at < @before
        ORDER BY e.completed_at, i.instance_id;
    ELSE
        INSERT INTO @roots (position, instance_id)
        SELECT TOP (@max_roots + 1) ROW_NUMBER() OVER (ORDER BY e.completed_at, e.instance_id), e.instance_id
        FROM duroxide.executions AS e
        INNER JOIN duroxide.instances AS i ON i.instance_id = e.instance_id AND i.current_execution_id = e.execution_id
        WHERE e.completed_at IS NOT NULL
          AND e.completed_at < @before
          AND e.status IN (N'Completed', N'Failed', N'ContinuedAsNew')
          AND i.parent_instance_id IS NULL
        ORDER BY e.completed_at, e.instance_id;
    SET @found = @@ROWCOUNT;

    WHILE @done < @found AND @done < @max_roots AND @in_time = 1
    BEGIN
        SELECT @root = r.instance_id FROM @roots AS r WHERE r.position = @done + 1;
        DELETE FROM @tree;
        DELETE FROM @locked;

        BEGIN TRANSACTION;
        -- As in delete_instance.
        INSERT INTO @tree (position, id)
        SELECT t.position, t.instance_id
        FROM duroxide.instance_tree(@root) AS t;
        WHILE EXISTS (SELECT 1 FROM @tree AS t WHERE NOT EXISTS (SELECT 1 FROM @locked AS l WHERE l.instance_id = t.id))
        BEGIN
            EXEC duroxide.lock_inboxes @instances = @tree;
            INSERT INTO @locked (instance_id)
            SELECT t.id
            FROM @tree AS t
            WHERE NOT EXISTS (SELECT 1 FROM @locked AS l WHERE l.instance_id = t.id);
            DELETE FROM @tree;
            INSERT INTO @tree (position, id)
            SELECT t.position, t.instance_id
            FROM duroxide.instance_tree(@root) AS t;
        END;

        -- Since it was found the instance may have been deleted and created anew.
        IF EXISTS (
            SELECT 1
            FROM duroxide.instances AS i
            INNER JOIN duroxide.executions AS e ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
            WHERE i.instance_id = @root
              AND i.parent_instance_id IS NULL
              AND e.status IN (N'Completed', N'Failed', N'ContinuedAsNew')
              AND e.completed_at < @before
        )
        BEGIN
            EXEC duroxide.delete_list @list = @tree, @instances = @of_instances OUTPUT, @executions = @of_executions OUTPUT,
                @events = @of_events OUTPUT, @messages = @of_messages OUTPUT;
            SET @still = 1;
        END
        ELSE
            SET @still = 0;
        COMMIT TRANSACTION;

        IF @still = 1
        BEGIN
            SET @instances = @instances + @of_instances;
            SET @executions = @executions + @of_executions;
            SET @events = @events + @of_events;
            SET @messages = @messages + @of_messages;
            INSERT INTO @deleted (instance_id)
            SELECT t.id
            FROM @tree AS t;
        END;
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
/* gen:columns (roots bigint not null, instances bigint not null, executions bigint not null, events bigint not null,
    messages bigint not null, more bit not null) */
SELECT @done AS roots, @instances AS instances, @executions AS executions, @events AS events, @messages AS messages,
    CAST(CASE WHEN @done < @found THEN 1 ELSE 0 END AS BIT) AS more;

-- gen:result Deleted
SELECT d.instance_id
FROM @deleted AS d;
