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
DECLARE @portion INT;
SET @instances = 0;
SET @executions = 0;
SET @events = 0;
SET @messages = 0;

SET @portion = 1000;
WHILE @portion = 1000
BEGIN
    DELETE TOP (1000) b
    FROM duroxide.inboxes AS b
    INNER JOIN @list AS l ON l.id = b.instance_id;
    SET @portion = @@ROWCOUNT;
END;

SET @portion = 1000;
WHILE @portion = 1000
BEGIN
    DELETE TOP (1000) q
    FROM duroxide.orchestrator_queue AS q
    INNER JOIN @list AS l ON l.id = q.instance_id;
    SET @portion = @@ROWCOUNT;
    SET @messages = @messages + @portion;
END;

SET @portion = 1000;
WHILE @portion = 1000
BEGIN
    DELETE TOP (1000) i
    FROM duroxide.instances AS i
    INNER JOIN @list AS l ON l.id = i.instance_id;
    SET @portion = @@ROWCOUNT;
    SET @instances = @instances + @portion;
END;

SET @portion = 1000;
WHILE @portion = 1000
BEGIN
    DELETE TOP (1000) e
    FROM duroxide.executions AS e
    INNER JOIN @list AS l ON l.id = e.instance_id;
    SET @portion = @@ROWCOUNT;
    SET @executions = @executions + @portion;
END;

SET @portion = 1000;
WHILE @portion = 1000
BEGIN
    DELETE TOP (1000) h
    FROM duroxide.history AS h
    INNER JOIN @list AS l ON l.id = h.instance_id;
    SET @portion = @@ROWCOUNT;
    SET @events = @events + @portion;
END;

SET @portion = 1000;
WHILE @portion = 1000
BEGIN
    DELETE TOP (1000) s
    FROM duroxide.kv_store AS s
    INNER JOIN @list AS l ON l.id = s.instance_id;
    SET @portion = @@ROWCOUNT;
END;

SET @portion = 1000;
WHILE @portion = 1000
BEGIN
    DELETE TOP (1000) d
    FROM duroxide.kv_delta AS d
    INNER JOIN @list AS l ON l.id = d.instance_id;
    SET @portion = @@ROWCOUNT;
END;

SET @portion = 1000;
WHILE @portion = 1000
BEGIN
    DELETE TOP (1000) w
    FROM duroxide.worker_queue AS w
    INNER JOIN @list AS l ON l.id = w.instance_id;
    SET @portion = @@ROWCOUNT;
    SET @messages = @messages + @portion;
END;
