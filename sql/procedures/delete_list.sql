-- Deletes instances with everything that belongs to them. The caller has locked their inboxes
-- (lock_inboxes) and checked that they may be deleted.
--
-- The lease is deleted with the inbox, so that a turn in progress cannot bring the instance back.
-- Messages and activities are deleted as well, because a new instance of the same id must not get
-- them. Sessions belong to workers and stay.
--
-- Each statement deletes at most 1,000 rows, so that the server never takes a lock of the whole
-- table instead of rows. The transaction may still be long, because deleting half a tree would be
-- worse. Its time is linear in the rows: see delete_events.
--
-- Helper of: delete_instance, delete_instance_bulk, delete_instances.
-- Transaction: the caller's.
--
-- Parameters:
--   @list        the ids of the instances; an id may be there twice
--   @instances   how many instances were deleted
--   @executions  how many executions were deleted
--   @events      how many events were deleted
--   @messages    how many messages and activities were deleted
--
-- Locks: inboxes, orchestrator_queue, instances, executions, history, kv_store, kv_delta,
--   worker_queue, dead_letters: each row by its primary key, those of the key-value map by the
--   instance's index.
--
-- Hints: LOOP and INDEX seek each instance's rows. A plan that was made for an empty table would
--   read all of it. ROWLOCK keeps the locks to rows. KEEPFIXED PLAN prevents a new plan when many
--   rows have changed, see 0005_storage.sql.
--
-- Length: one loop of portions for each table, in the order of locks.
--
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.delete_list
    @list       duroxide.id_list_v1 READONLY,
    @instances  BIGINT OUTPUT,
    @executions BIGINT OUTPUT,
    @events     BIGINT OUTPUT,
    @messages   BIGINT OUTPUT
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
SET DEADLOCK_PRIORITY LOW;
-- An id may be in the list twice.
DECLARE @ids TABLE (
    position    INT           NOT NULL PRIMARY KEY,
    instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    -- All messages up to this one are deleted.
    after       BIGINT        NOT NULL
);
DECLARE @runs duroxide.execution_list_v1;
DECLARE @work TABLE (id BIGINT NOT NULL PRIMARY KEY);
-- As in delete_events.
DECLARE @gone TABLE (
    number   INT    NOT NULL IDENTITY (1, 1) PRIMARY KEY,
    position INT    NOT NULL,
    id       BIGINT NOT NULL
);
DECLARE @count INT, @position INT, @after BIGINT, @portion INT, @more BIT;
SET @instances = 0;
SET @executions = 0;
SET @messages = 0;
INSERT INTO @ids (position, instance_id, after)
SELECT ROW_NUMBER() OVER (ORDER BY d.id), d.id, 0
FROM (SELECT DISTINCT l.id FROM @list AS l) AS d;
SET @count = @@ROWCOUNT;

SET @position = 1;
WHILE @position <= @count
BEGIN
    DELETE TOP (1000) b
    FROM @ids AS n
    INNER LOOP JOIN duroxide.inboxes AS b WITH (ROWLOCK, INDEX (pk_inboxes)) ON b.instance_id = n.instance_id
    WHERE n.position BETWEEN @position AND @position + 999
    OPTION (KEEPFIXED PLAN);
    SET @position = @position + 1000;
END;

-- Portion by portion as in delete_events.
SELECT @position = 0, @after = 0, @more = 1;
WHILE @more = 1
BEGIN
    DELETE FROM @gone;
    DELETE TOP (1000) q
    OUTPUT n.position, deleted.id INTO @gone (position, id)
    FROM @ids AS n
    INNER LOOP JOIN duroxide.orchestrator_queue AS q WITH (ROWLOCK, INDEX (pk_orchestrator_queue))
        ON q.instance_id = n.instance_id AND q.id > n.after
    WHERE n.position >= @position
    OPTION (KEEPFIXED PLAN);
    SET @portion = @@ROWCOUNT;
    SET @messages = @messages + @portion;
    IF @portion = 0 AND @position = 0
        SET @more = 0;
    UPDATE @ids
    SET after = 0
    WHERE position = @position;
    IF @portion < 1000
        SET @position = 0;
    ELSE
    BEGIN
        SELECT TOP (1) @position = g.position, @after = g.id
        FROM @gone AS g
        ORDER BY g.number DESC;
        UPDATE @ids
        SET after = @after
        WHERE position = @position;
    END;
END;

SET @position = 1;
WHILE @position <= @count
BEGIN
    DELETE TOP (1000) i
    FROM @ids AS n
    INNER LOOP JOIN duroxide.instances AS i WITH (ROWLOCK, INDEX (pk_instances)) ON i.instance_id = n.instance_id
    WHERE n.position BETWEEN @position AND @position + 999;
    SET @instances = @instances + @@ROWCOUNT;
    SET @position = @position + 1000;
END;

-- A history may have events of an execution that has no row, and the other way round.
INSERT INTO @runs (position, instance_id, execution_id)
SELECT ROW_NUMBER() OVER (ORDER BY r.position, r.execution_id), r.instance_id, r.execution_id
FROM (
    SELECT n.position, n.instance_id, e.execution_id
    FROM @ids AS n
    INNER LOOP JOIN duroxide.executions AS e WITH (INDEX (pk_executions)) ON e.instance_id = n.instance_id
    UNION
    SELECT n.position, n.instance_id, h.execution_id
    FROM @ids AS n
    INNER LOOP JOIN duroxide.history AS h WITH (INDEX (pk_history)) ON h.instance_id = n.instance_id
) AS r;
SET @count = @@ROWCOUNT;
SET @position = 1;
WHILE @position <= @count
BEGIN
    DELETE TOP (1000) e
    FROM @runs AS r
    INNER LOOP JOIN duroxide.executions AS e WITH (ROWLOCK, INDEX (pk_executions))
        ON e.instance_id = r.instance_id AND e.execution_id = r.execution_id
    WHERE r.position BETWEEN @position AND @position + 999;
    SET @executions = @executions + @@ROWCOUNT;
    SET @position = @position + 1000;
END;
EXEC duroxide.delete_events @runs = @runs, @events = @events OUTPUT;

SET @portion = 1;
WHILE @portion > 0
BEGIN
    DELETE TOP (1000) s
    FROM @ids AS n
    INNER LOOP JOIN duroxide.kv_store AS s WITH (ROWLOCK, INDEX (ix_kv_store_instance)) ON s.instance_id = n.instance_id;
    SET @portion = @@ROWCOUNT;
END;

SET @portion = 1;
WHILE @portion > 0
BEGIN
    DELETE TOP (1000) d
    FROM @ids AS n
    INNER LOOP JOIN duroxide.kv_delta AS d WITH (ROWLOCK, INDEX (ix_kv_delta_instance)) ON d.instance_id = n.instance_id;
    SET @portion = @@ROWCOUNT;
END;

-- Found by the instance, deleted by the id: whoever writes the row locks it first and
-- its keys in the indexes after it, so nobody may come the other way.
SET @portion = 1;
WHILE @portion > 0
BEGIN
    DELETE FROM @work;
    INSERT INTO @work (id)
    SELECT TOP (1000) w.id
    FROM @ids AS n
    INNER LOOP JOIN duroxide.worker_queue AS w WITH (INDEX (ix_worker_queue_activity)) ON w.instance_id = n.instance_id
    OPTION (KEEPFIXED PLAN);
    SET @portion = @@ROWCOUNT;
    DELETE TOP (1000) w
    FROM @work AS k
    INNER LOOP JOIN duroxide.worker_queue AS w WITH (ROWLOCK, INDEX (pk_worker_queue)) ON w.id = k.id
    OPTION (KEEPFIXED PLAN);
    SET @messages = @messages + @@ROWCOUNT;
END;

-- What was set aside is deleted as well: sent again, it would reach a new instance of the same id.
SET @portion = 1;
WHILE @portion > 0
BEGIN
    DELETE FROM @work;
    INSERT INTO @work (id)
    SELECT TOP (1000) d.id
    FROM @ids AS n
    INNER LOOP JOIN duroxide.dead_letters AS d WITH (INDEX (ix_dead_letters_instance)) ON d.instance_id = n.instance_id;
    SET @portion = @@ROWCOUNT;
    DELETE TOP (1000) d
    FROM @work AS k
    INNER LOOP JOIN duroxide.dead_letters AS d WITH (ROWLOCK, INDEX (pk_dead_letters)) ON d.id = k.id;
END;
