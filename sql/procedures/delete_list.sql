-- Deletes instances with everything that belongs to them, one statement for each table. The caller has locked their
-- inboxes (lock_inboxes) and checked that they may be deleted. The lease goes with the inbox, so that a turn in
-- progress cannot bring the instance back. Messages, activities and dead letters go as well, because a new instance
-- of the same id must not get them. Sessions belong to workers and stay.
-- Helper of: delete_instances, delete_trees.
-- Transaction: the caller's.
-- Parameters:
--   @list  the ids of the instances; an id may be there twice
--   @instances, @executions, @events, @messages
--          how many rows were deleted; messages are those of both queues
-- Locks: inboxes, orchestrator_queue, instances, executions, history, kv_store, kv_delta, worker_queue, dead_letters:
--   each row by its clustered index. 0005_storage.sql keeps the server from locking a whole table instead.
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.delete_list
    @list       duroxide.id_list_v1 READONLY,
    @instances  BIGINT OUTPUT,
    @executions BIGINT OUTPUT,
    @events     BIGINT OUTPUT,
    @messages   BIGINT OUTPUT
AS
SET DEADLOCK_PRIORITY LOW;
DECLARE @ids TABLE (instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY);
DECLARE @work TABLE (id BIGINT NOT NULL PRIMARY KEY);
DECLARE @letters TABLE (id BIGINT NOT NULL PRIMARY KEY);
INSERT INTO @ids (instance_id)
SELECT DISTINCT l.id FROM @list AS l;

DELETE b FROM @ids AS n
INNER LOOP JOIN duroxide.inboxes AS b WITH (ROWLOCK, INDEX (pk_inboxes)) ON b.instance_id = n.instance_id
OPTION (LOOP JOIN, KEEPFIXED PLAN);
DELETE q FROM @ids AS n
INNER LOOP JOIN duroxide.orchestrator_queue AS q WITH (ROWLOCK, INDEX (pk_orchestrator_queue)) ON q.instance_id = n.instance_id
OPTION (LOOP JOIN, KEEPFIXED PLAN);
SET @messages = @@ROWCOUNT;
DELETE i FROM @ids AS n
INNER LOOP JOIN duroxide.instances AS i WITH (ROWLOCK, INDEX (pk_instances)) ON i.instance_id = n.instance_id;
SET @instances = @@ROWCOUNT;
DELETE e FROM @ids AS n
INNER LOOP JOIN duroxide.executions AS e WITH (ROWLOCK, INDEX (pk_executions)) ON e.instance_id = n.instance_id;
SET @executions = @@ROWCOUNT;
DELETE h FROM @ids AS n
INNER LOOP JOIN duroxide.history AS h WITH (ROWLOCK, INDEX (pk_history)) ON h.instance_id = n.instance_id;
SET @events = @@ROWCOUNT;
DELETE s FROM @ids AS n
INNER LOOP JOIN duroxide.kv_store AS s WITH (ROWLOCK, INDEX (ix_kv_store_instance)) ON s.instance_id = n.instance_id;
DELETE d FROM @ids AS n
INNER LOOP JOIN duroxide.kv_delta AS d WITH (ROWLOCK, INDEX (ix_kv_delta_instance)) ON d.instance_id = n.instance_id;

-- Found by the instance, deleted by the id: whoever writes such a row locks it before its keys in the other indexes.
INSERT INTO @work (id)
SELECT w.id FROM @ids AS n
INNER LOOP JOIN duroxide.worker_queue AS w WITH (INDEX (ix_worker_queue_activity)) ON w.instance_id = n.instance_id
OPTION (LOOP JOIN, KEEPFIXED PLAN);
DELETE w FROM @work AS k
INNER LOOP JOIN duroxide.worker_queue AS w WITH (ROWLOCK, INDEX (pk_worker_queue)) ON w.id = k.id
OPTION (LOOP JOIN, KEEPFIXED PLAN);
SET @messages = @messages + @@ROWCOUNT;
INSERT INTO @letters (id)
SELECT d.id FROM @ids AS n
INNER LOOP JOIN duroxide.dead_letters AS d WITH (INDEX (ix_dead_letters_instance)) ON d.instance_id = n.instance_id;
DELETE d FROM @letters AS k
INNER LOOP JOIN duroxide.dead_letters AS d WITH (ROWLOCK, INDEX (pk_dead_letters)) ON d.id = k.id;
