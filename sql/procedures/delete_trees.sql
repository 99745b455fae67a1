-- Deletes root instances with their descendants, all in one transaction: the first of the list that have about 1,000
-- events together. Kept names the others, and roots that may not be deleted. Turns and activities in progress lose
-- their leases. The trees are read again once their inboxes are locked, until all of them are locked: a child may
-- have been created in between, or a root have begun anew. A child that is created later counts as created after the
-- deletion.
-- Called by: Store.DeleteInstance, Store.DeleteInstanceBulk.
-- Transaction: its own.
-- Parameters:
--   @list          the roots; more than 50 are locked together for long
--   @force         0 keeps a tree in which an instance runs
--   @ended_before  keeps a root whose current execution has not ended before this time, in milliseconds since 1970 UTC;
--                  NULL looks at @force only
--   @wait          0 keeps a tree if somebody has locked one of its inboxes; 1 waits for the lock
-- Result sets:
--   1 Kept: the roots of the list that were not deleted, and why: 'missing', 'child' (it has a parent), 'running' (it
--     or the instance that cause names runs, or it ended too late), 'later' (there is room in the next call) or 'busy'
--     (see @wait)
--   2 Counts: how many roots, and how many rows, were deleted; messages are those of both queues
--   3 Deleted: the ids of the deleted instances
-- Locks: instances, executions, history (shared, while it looks); inboxes (of all trees in the order of ids, by
--   lock_inboxes, and then children that were created meanwhile); orchestrator_queue, instances (shared, of what was
--   deleted meanwhile); and by delete_list all tables of an instance.
-- gen:null @ended_before
CREATE OR ALTER PROCEDURE duroxide.delete_trees
    @list         duroxide.id_list_v1 READONLY,
    @force        BIT,
    @ended_before BIGINT,
    @wait         BIT
AS
SET NOCOUNT, XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
SET DEADLOCK_PRIORITY LOW;
-- The reason says why a root is kept; it is NULL if it is not.
DECLARE @roots TABLE (position INT NOT NULL PRIMARY KEY, id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    reason NVARCHAR(16) NULL, cause NVARCHAR(400) NULL);
DECLARE @tree TABLE (root INT NOT NULL, id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL, depth INT NOT NULL,
    PRIMARY KEY (root, id));
DECLARE @free TABLE (id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY);
DECLARE @locked duroxide.id_list_v1, @gone duroxide.id_list_v1;
DECLARE @looks INT = 0, @new INT = 1, @depth INT, @added INT, @last INT;
DECLARE @instances BIGINT = 0, @executions BIGINT = 0, @events BIGINT = 0, @messages BIGINT = 0;
INSERT INTO @roots (position, id)
SELECT MIN(l.position), l.id
FROM @list AS l
GROUP BY l.id;
BEGIN TRY
    BEGIN TRANSACTION;
    WHILE @new > 0
    BEGIN
        SET @looks = @looks + 1;
        UPDATE r
        SET reason = CASE WHEN i.instance_id IS NULL THEN N'missing' WHEN i.parent_instance_id IS NOT NULL THEN N'child'
            WHEN @ended_before IS NULL OR e.completed_at < @ended_before THEN NULL ELSE N'running' END
        FROM @roots AS r
        LEFT OUTER LOOP JOIN duroxide.instances AS i WITH (INDEX (pk_instances)) ON i.instance_id = r.id
        LEFT OUTER LOOP JOIN duroxide.executions AS e WITH (INDEX (pk_executions))
            ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
        WHERE r.reason IS NULL;
        DELETE FROM @tree;
        INSERT INTO @tree (root, id, depth)
        SELECT r.position, r.id, 0
        FROM @roots AS r
        WHERE r.reason IS NULL;
        SELECT @added = @@ROWCOUNT, @depth = 0;
        WHILE @added > 0
        BEGIN
            INSERT INTO @tree (root, id, depth)
            SELECT t.root, i.instance_id, @depth + 1
            FROM @tree AS t
            INNER LOOP JOIN duroxide.instances AS i WITH (INDEX (ix_instances_parent)) ON i.parent_instance_id = t.id
            -- The second condition is the filter of ix_instances_parent.
            WHERE t.depth = @depth AND i.parent_instance_id IS NOT NULL
              AND NOT EXISTS (SELECT 1 FROM @tree AS k WHERE k.root = t.root AND k.id = i.instance_id);
            SELECT @added = @@ROWCOUNT, @depth = @depth + 1;
        END;
        IF @force = 0
            UPDATE r
            SET reason = N'running', cause = x.instance_id
            FROM @roots AS r
            CROSS APPLY (
                SELECT TOP (1) e.instance_id
                FROM @tree AS t
                INNER LOOP JOIN duroxide.instances AS i WITH (INDEX (pk_instances)) ON i.instance_id = t.id
                INNER LOOP JOIN duroxide.executions AS e WITH (INDEX (pk_executions))
                    ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
                WHERE t.root = r.position
                  AND e.status = N'Running'
                ORDER BY t.id
            ) AS x;
        IF @looks = 1
        BEGIN
            SELECT @last = MAX(h.root)
            FROM (
                SELECT TOP (1000) t.root
                FROM @tree AS t
                INNER LOOP JOIN duroxide.history AS h WITH (INDEX (pk_history)) ON h.instance_id = t.id
                ORDER BY t.root, t.id
            ) AS h
            HAVING COUNT(*) = 1000;
            UPDATE @roots SET reason = N'later' WHERE reason IS NULL AND position > @last;
        END;
        IF @looks = 1 AND @wait = 0
        BEGIN
            INSERT INTO @free (id)
            SELECT b.instance_id
            FROM (SELECT DISTINCT t.id FROM @roots AS r INNER JOIN @tree AS t ON t.root = r.position WHERE r.reason IS NULL) AS d
            INNER LOOP JOIN duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, READPAST, UPDLOCK, ROWLOCK, INDEX (pk_inboxes)) ON b.instance_id = d.id
            OPTION (LOOP JOIN, KEEPFIXED PLAN);
            UPDATE r
            SET reason = N'busy'
            FROM @roots AS r
            WHERE r.reason IS NULL
              AND EXISTS (SELECT 1 FROM @tree AS t WHERE t.root = r.position AND NOT EXISTS (SELECT 1 FROM @free AS f WHERE f.id = t.id));
        END;
        DELETE t
        FROM @tree AS t
        INNER JOIN @roots AS r ON r.position = t.root
        WHERE r.reason IS NOT NULL;
        INSERT INTO @locked (position, id)
        SELECT ROW_NUMBER() OVER (ORDER BY d.id) + (SELECT COUNT(*) FROM @locked AS k), d.id
        FROM (SELECT DISTINCT t.id FROM @tree AS t WHERE NOT EXISTS (SELECT 1 FROM @locked AS k WHERE k.id = t.id)) AS d;
        SET @new = @@ROWCOUNT;
        IF @new > 0
            EXEC duroxide.lock_inboxes @instances = @locked;
    END;

    -- lock_inboxes has added those of instances that were deleted meanwhile.
    DELETE TOP (1000) b
    FROM @locked AS k
    INNER LOOP JOIN duroxide.inboxes AS b WITH (ROWLOCK, INDEX (pk_inboxes)) ON b.instance_id = k.id
    WHERE NOT EXISTS (SELECT 1 FROM @tree AS t WHERE t.id = k.id)
      AND NOT EXISTS (SELECT 1 FROM duroxide.instances AS i WITH (INDEX (pk_instances)) WHERE i.instance_id = k.id)
      AND NOT EXISTS (SELECT 1 FROM duroxide.orchestrator_queue AS q WITH (INDEX (pk_orchestrator_queue)) WHERE q.instance_id = k.id)
    OPTION (LOOP JOIN, KEEPFIXED PLAN);
    INSERT INTO @gone (position, id)
    SELECT ROW_NUMBER() OVER (ORDER BY t.root, t.id), t.id
    FROM @tree AS t;
    EXEC duroxide.delete_list @list = @gone, @instances = @instances OUTPUT, @executions = @executions OUTPUT,
        @events = @events OUTPUT, @messages = @messages OUTPUT;
    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;

-- gen:result Kept
SELECT r.id AS instance_id, r.reason, r.cause
FROM @roots AS r
WHERE r.reason IS NOT NULL
ORDER BY r.position;

-- gen:result Counts
SELECT (SELECT COUNT_BIG(*) FROM @roots AS r WHERE r.reason IS NULL) AS roots, @instances AS instances, @executions AS executions,
    @events AS events, @messages AS messages;

-- gen:result Deleted
SELECT g.id AS instance_id
FROM @gone AS g;
GO
GRANT EXECUTE ON duroxide.delete_trees TO duroxide_admin;
