-- Deletes instances with all they have. The caller has locked their inboxes
-- (lock_inboxes), is inside a transaction, and has made sure that they may go.
--
-- With the inbox goes the lease: a turn in progress cannot bring the instance back
-- (pitfall P19). With the queues go messages and activities of the old life, which a
-- new instance of the same id must not get (pitfall P20). Sessions stay: they belong
-- to workers.
--
-- Each statement deletes at most 1,000 rows, so that the server never takes a whole
-- table instead of rows (rule Q7). The transaction as a whole may be long: half a tree
-- would be worse.
--
-- Locks: inboxes, orchestrator_queue, instances, executions, history, kv_store,
-- kv_delta, worker_queue.
-- Hints: LOOP and INDEX find each instance's rows by a seek, even if the plan was made
-- for empty tables (rule Q9).
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
-- An id may be in the list twice, and a row that is met twice would count twice towards
-- a portion.
DECLARE @ids TABLE (instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY);
DECLARE @work TABLE (id BIGINT NOT NULL PRIMARY KEY);
DECLARE @portion INT;
SET @instances = 0;
SET @executions = 0;
SET @events = 0;
SET @messages = 0;
INSERT INTO @ids (instance_id)
SELECT DISTINCT l.id
FROM @list AS l;

SET @portion = 1000;
WHILE @portion = 1000
BEGIN
    DELETE TOP (1000) b
    FROM @ids AS n
    INNER LOOP JOIN duroxide.inboxes AS b ON b.instance_id = n.instance_id;
    SET @portion = @@ROWCOUNT;
END;

SET @portion = 1000;
WHILE @portion = 1000
BEGIN
    DELETE TOP (1000) q
    FROM @ids AS n
    INNER LOOP JOIN duroxide.orchestrator_queue AS q ON q.instance_id = n.instance_id;
    SET @portion = @@ROWCOUNT;
    SET @messages = @messages + @portion;
END;

SET @portion = 1000;
WHILE @portion = 1000
BEGIN
    DELETE TOP (1000) i
    FROM @ids AS n
    INNER LOOP JOIN duroxide.instances AS i ON i.instance_id = n.instance_id;
    SET @portion = @@ROWCOUNT;
    SET @instances = @instances + @portion;
END;

SET @portion = 1000;
WHILE @portion = 1000
BEGIN
    DELETE TOP (1000) e
    FROM @ids AS n
    INNER LOOP JOIN duroxide.executions AS e ON e.instance_id = n.instance_id;
    SET @portion = @@ROWCOUNT;
    SET @executions = @executions + @portion;
END;

SET @portion = 1000;
WHILE @portion = 1000
BEGIN
    DELETE TOP (1000) h
    FROM @ids AS n
    INNER LOOP JOIN duroxide.history AS h ON h.instance_id = n.instance_id;
    SET @portion = @@ROWCOUNT;
    SET @events = @events + @portion;
END;

SET @portion = 1000;
WHILE @portion = 1000
BEGIN
    DELETE TOP (1000) s
    FROM @ids AS n
    INNER LOOP JOIN duroxide.kv_store AS s ON s.instance_id = n.instance_id;
    SET @portion = @@ROWCOUNT;
END;

SET @portion = 1000;
WHILE @portion = 1000
BEGIN
    DELETE TOP (1000) d
    FROM @ids AS n
    INNER LOOP JOIN duroxide.kv_delta AS d ON d.instance_id = n.instance_id;
    SET @portion = @@ROWCOUNT;
END;

-- Found by the instance, deleted by the id: whoever writes the row locks it first and
-- its keys in the indexes after it, so nobody may come the other way.
SET @portion = 1000;
WHILE @portion = 1000
BEGIN
    DELETE FROM @work;
    INSERT INTO @work (id)
    SELECT TOP (1000) w.id
    FROM @ids AS n
    INNER LOOP JOIN duroxide.worker_queue AS w WITH (INDEX (ix_worker_queue_activity)) ON w.instance_id = n.instance_id;
    SET @portion = @@ROWCOUNT;
    DELETE TOP (1000) w
    FROM @work AS k
    INNER LOOP JOIN duroxide.worker_queue AS w ON w.id = k.id;
    SET @messages = @messages + @@ROWCOUNT;
END;
