-- Deletes finished root instances with their descendants, beginning with those that finished
-- first. Descendants go even if they run.
--
-- A page of 1,000 ended executions is read, the roots among them are chosen, and each root with its
-- descendants is a transaction of its own. The call ends when it has taken @budget_ms, looked at
-- after each root and each page, or at the first error if something was done before it. The next
-- call continues, or meets the error again and reports it. So no counts are lost, and instances that
-- may not be deleted do not make a call longer.
--
-- Called by: Store.DeleteInstanceBulk.
-- Transaction: its own, one for each root.
--
-- Parameters:
--   @listed, @list      1 deletes only instances in @list; 0 ignores the list
--   @completed_before   only roots that finished before this time, in milliseconds since 1970 UTC;
--                       NULL for all
--   @max_roots          the largest number of roots; at most 1,000 are sensible
--   @budget_ms          the time in milliseconds after which no other root is begun
--   @after_completed_at, @after_instance_id, @after_execution_id
--                       where the last call ended and this one continues; NULL for the beginning
--
-- Result sets:
--   1 Counts: how many roots, and how many rows of each table, were deleted; whether there may be more,
--     and where the next call continues. Messages are those of both queues
--   2 Deleted: the ids of the deleted instances
--
-- Locks: instances, executions (shared, while it looks for roots); then for each root inboxes (the
--   whole tree in the order of ids, by lock_inboxes, and children that were created meanwhile);
--   instances, orchestrator_queue (shared, of children that were deleted meanwhile); and by
--   delete_list orchestrator_queue, instances, executions, history, kv_store, kv_delta,
--   worker_queue, each by its primary key.
--
-- Hints: INDEX and LOOP read a page of executions by ix_executions_completed alone, and seek each
--   instance by its key. ROWLOCK keeps the locks to rows. LOOP JOIN seeks what a deletion looks
--   for, even if the plan was made for a small table. KEEPFIXED PLAN, as the queue's statistics
--   change all the time.
--
-- Length: choosing roots, and locking and deleting each with its tree, share one loop and its
--   variables.
--
-- gen:null @completed_before @after_completed_at @after_instance_id @after_execution_id
CREATE OR ALTER PROCEDURE duroxide.delete_instance_bulk
    @listed             BIT,
    @list               duroxide.id_list_v1 READONLY,
    @completed_before   BIGINT,
    @max_roots          BIGINT,
    @budget_ms          BIGINT,
    @after_completed_at BIGINT,
    @after_instance_id  NVARCHAR(400),
    @after_execution_id BIGINT
AS
SET NOCOUNT, XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
SET DEADLOCK_PRIORITY LOW;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
-- No time is later, so that there is one shape of the query, with or without it.
DECLARE @before BIGINT = COALESCE(@completed_before, 9223372036854775807);
DECLARE @ended TABLE (
    position     INT           NOT NULL PRIMARY KEY,
    instance_id  NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    execution_id BIGINT        NOT NULL,
    completed_at BIGINT        NOT NULL,
    root         BIT           NOT NULL
);
DECLARE @tree duroxide.id_list_v1;
DECLARE @locked TABLE (instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY);
DECLARE @deleted TABLE (instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL);
DECLARE @count INT = 1000, @position INT, @next INT, @root NVARCHAR(400), @done BIGINT = 0, @in_time BIT = 1;
DECLARE @instances BIGINT = 0, @executions BIGINT = 0, @events BIGINT = 0, @messages BIGINT = 0;
DECLARE @of_instances BIGINT, @of_executions BIGINT, @of_events BIGINT, @of_messages BIGINT;
SELECT @after_completed_at = COALESCE(@after_completed_at, -1), @after_instance_id = COALESCE(@after_instance_id, N''),
    @after_execution_id = COALESCE(@after_execution_id, 0);
BEGIN TRY

    WHILE @count = 1000 AND @done < @max_roots AND @in_time = 1
    BEGIN
        -- A page of executions, and which of them are the last ones of roots.
        DELETE FROM @ended;
        IF @listed = 1
            INSERT INTO @ended (position, instance_id, execution_id, completed_at, root)
            SELECT TOP (1000) ROW_NUMBER() OVER (ORDER BY e.completed_at, e.instance_id, e.execution_id),
                e.instance_id, e.execution_id, e.completed_at, 0
            FROM (SELECT DISTINCT l.id FROM @list AS l) AS l
            INNER LOOP JOIN duroxide.instances AS i WITH (INDEX (pk_instances)) ON i.instance_id = l.id
            INNER LOOP JOIN duroxide.executions AS e WITH (INDEX (pk_executions))
                ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
            WHERE e.completed_at < @before
              AND (e.completed_at > @after_completed_at OR (e.completed_at = @after_completed_at AND e.instance_id > @after_instance_id))
            ORDER BY e.completed_at, e.instance_id, e.execution_id;
        ELSE
            INSERT INTO @ended (position, instance_id, execution_id, completed_at, root)
            SELECT TOP (1000) ROW_NUMBER() OVER (ORDER BY e.completed_at, e.instance_id, e.execution_id),
                e.instance_id, e.execution_id, e.completed_at, 0
            FROM duroxide.executions AS e WITH (INDEX (ix_executions_completed))
            WHERE e.completed_at IS NOT NULL
              AND e.completed_at < @before
              AND e.completed_at >= @after_completed_at
              AND (e.completed_at > @after_completed_at OR e.instance_id > @after_instance_id
                   OR (e.instance_id = @after_instance_id AND e.execution_id > @after_execution_id))
            ORDER BY e.completed_at, e.instance_id, e.execution_id;
        SET @count = @@ROWCOUNT;
        UPDATE p
        SET root = 1
        FROM @ended AS p
        INNER LOOP JOIN duroxide.instances AS i WITH (INDEX (pk_instances))
            ON i.instance_id = p.instance_id AND i.current_execution_id = p.execution_id
        WHERE i.parent_instance_id IS NULL;

        SET @position = 0;
        WHILE @position < @count AND @done < @max_roots AND @in_time = 1
        BEGIN
            SELECT @next = MIN(p.position) FROM @ended AS p WHERE p.position > @position AND p.root = 1;
            IF @next IS NOT NULL
            BEGIN
                SELECT @root = p.instance_id FROM @ended AS p WHERE p.position = @next;
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

                -- Since it was found the instance may have been deleted, and created anew.
                IF EXISTS (
                    SELECT 1
                    FROM duroxide.instances AS i WITH (INDEX (pk_instances))
                    INNER LOOP JOIN duroxide.executions AS e WITH (INDEX (pk_executions))
                        ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
                    WHERE i.instance_id = @root
                      AND i.parent_instance_id IS NULL
                      AND e.completed_at < @before
                )
                BEGIN
                    -- As in delete_instance.
                    DELETE TOP (1000) b
                    FROM @locked AS l
                    INNER LOOP JOIN duroxide.inboxes AS b WITH (ROWLOCK, INDEX (pk_inboxes)) ON b.instance_id = l.instance_id
                    WHERE NOT EXISTS (SELECT 1 FROM @tree AS t WHERE t.id = l.instance_id)
                      AND NOT EXISTS (SELECT 1 FROM duroxide.instances AS i WITH (INDEX (pk_instances)) WHERE i.instance_id = l.instance_id)
                      AND NOT EXISTS (
                          SELECT 1 FROM duroxide.orchestrator_queue AS q WITH (INDEX (pk_orchestrator_queue)) WHERE q.instance_id = l.instance_id
                      )
                    OPTION (LOOP JOIN, KEEPFIXED PLAN);
                    EXEC duroxide.delete_list @list = @tree, @instances = @of_instances OUTPUT, @executions = @of_executions OUTPUT,
                        @events = @of_events OUTPUT, @messages = @of_messages OUTPUT;
                    COMMIT TRANSACTION;
                    SELECT @instances = @instances + @of_instances, @executions = @executions + @of_executions,
                        @events = @events + @of_events, @messages = @messages + @of_messages;
                    INSERT INTO @deleted (instance_id)
                    SELECT t.id
                    FROM @tree AS t;
                END
                ELSE
                    -- With the inbox that the lock may have added.
                    ROLLBACK TRANSACTION;
                SET @done = @done + 1;
            END;
            SET @position = COALESCE(@next, @count);
            SELECT @after_completed_at = p.completed_at, @after_instance_id = p.instance_id, @after_execution_id = p.execution_id
            FROM @ended AS p
            WHERE p.position = @position;
            -- How long the call has taken so far.
            IF DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) - @now >= @budget_ms
                SET @in_time = 0;
        END;
    END;
END TRY
BEGIN CATCH
    -- vet:allow P5-swallow: the next call goes on at the same place and meets the error again
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    IF @done = 0
        THROW;
    SET @in_time = 0;
END CATCH;

-- gen:result Counts
/* gen:columns (roots bigint not null, instances bigint not null, executions bigint not null, events bigint not null,
    messages bigint not null, more bit not null, after_completed_at bigint not null, after_instance_id nvarchar(400) not null,
    after_execution_id bigint not null) */
SELECT @done AS roots, @instances AS instances, @executions AS executions, @events AS events, @messages AS messages,
    CAST(CASE WHEN @in_time = 0 OR @count = 1000 OR @position < @count THEN 1 ELSE 0 END AS BIT) AS more,
    @after_completed_at AS after_completed_at, @after_instance_id AS after_instance_id, @after_execution_id AS after_execution_id;

-- gen:result Deleted
SELECT d.instance_id
FROM @deleted AS d;
GO
GRANT EXECUTE ON duroxide.delete_instance_bulk TO duroxide_admin;
