-- Deletes a root instance with its descendants, all or none. Turns and activities in
-- progress lose their leases.
--
-- The tree is read again once its inboxes are locked, until all of it is locked: a child may
-- have been created in between. A child that is created later counts as created after the
-- deletion.
--
-- Called by: Store.DeleteInstance.
-- Transaction: its own, rolled back if an instance of the tree runs.
--
-- Parameters:
--   @instance_id  the root
--   @force        1 also deletes instances that run; 0 deletes nothing while one does
--
-- Result sets:
--   1 Running: a running instance, because of which nothing was deleted; otherwise no row
--   2 Counts: how many rows were deleted; messages are those of both queues
--   3 Deleted: the ids of the deleted instances
--
-- Locks: inboxes (the whole tree in the order of ids, by lock_inboxes, and then children that were
--   created meanwhile); instances, orchestrator_queue (shared, of children that were deleted
--   meanwhile); then by delete_list orchestrator_queue, instances, executions, history, kv_store,
--   kv_delta, worker_queue, each by its primary key.
--
-- Hints: LOOP and INDEX seek the rows of the listed instances, even if the plan was made for other
--   lists. ROWLOCK keeps the locks to rows. LOOP JOIN seeks what a deletion looks for, even if the
--   plan was made for a small table. KEEPFIXED PLAN, as the queue's statistics change all the time.
--
-- Errors:
--   50020 instance_not_found: there is no such instance
--   50023 sub_orchestration: the instance has a parent and is deleted only with it, also with @force
CREATE OR ALTER PROCEDURE duroxide.delete_instance
    @instance_id NVARCHAR(400),
    @force       BIT
AS
SET NOCOUNT, XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
SET DEADLOCK_PRIORITY LOW;
DECLARE @tree duroxide.id_list_v1;
DECLARE @locked TABLE (instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY);
DECLARE @running NVARCHAR(400);
DECLARE @instances BIGINT = 0, @executions BIGINT = 0, @events BIGINT = 0, @messages BIGINT = 0;
BEGIN TRY
    BEGIN TRANSACTION;

    INSERT INTO @tree (position, id)
    SELECT t.position, t.instance_id
    FROM duroxide.instance_tree(@instance_id) AS t;
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
        FROM duroxide.instance_tree(@instance_id) AS t;
    END;

    IF NOT EXISTS (SELECT 1 FROM duroxide.instances AS i WITH (INDEX (pk_instances)) WHERE i.instance_id = @instance_id)
        THROW 50020, N'Instance not found.', 1;
    IF EXISTS (SELECT 1 FROM duroxide.instances AS i WITH (INDEX (pk_instances)) WHERE i.instance_id = @instance_id AND i.parent_instance_id IS NOT NULL)
        THROW 50023, N'Cannot delete a sub-orchestration directly. Delete the root instance instead.', 1;
    IF @force = 0
        SELECT TOP (1) @running = i.instance_id
        FROM @tree AS t
        INNER LOOP JOIN duroxide.instances AS i WITH (INDEX (pk_instances)) ON i.instance_id = t.id
        INNER LOOP JOIN duroxide.executions AS e WITH (INDEX (pk_executions))
            ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
        WHERE e.status = N'Running'
        ORDER BY t.position;

    IF @running IS NULL
    BEGIN
        -- lock_inboxes has added those of children that were deleted meanwhile.
        DELETE TOP (1000) b
        FROM @locked AS l
        INNER LOOP JOIN duroxide.inboxes AS b WITH (ROWLOCK, INDEX (pk_inboxes)) ON b.instance_id = l.instance_id
        WHERE NOT EXISTS (SELECT 1 FROM @tree AS t WHERE t.id = l.instance_id)
          AND NOT EXISTS (SELECT 1 FROM duroxide.instances AS i WITH (INDEX (pk_instances)) WHERE i.instance_id = l.instance_id)
          AND NOT EXISTS (
              SELECT 1 FROM duroxide.orchestrator_queue AS q WITH (INDEX (pk_orchestrator_queue)) WHERE q.instance_id = l.instance_id
          )
        OPTION (LOOP JOIN, KEEPFIXED PLAN);
        EXEC duroxide.delete_list @list = @tree, @instances = @instances OUTPUT, @executions = @executions OUTPUT,
            @events = @events OUTPUT, @messages = @messages OUTPUT;
        COMMIT TRANSACTION;
    END
    ELSE
        ROLLBACK TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;

-- gen:result Running
-- gen:columns (instance_id nvarchar(400) not null)
SELECT @running AS instance_id
WHERE @running IS NOT NULL;

-- gen:result Counts
SELECT @instances AS instances, @executions AS executions, @events AS events, @messages AS messages;

-- gen:result Deleted
SELECT t.id AS instance_id
FROM @tree AS t
WHERE @running IS NULL
ORDER BY t.position;
GO
GRANT EXECUTE ON duroxide.delete_instance TO duroxide_admin;
