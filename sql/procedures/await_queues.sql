-- Makes the oldest message of each queue that an instance awaits one that makes it ready (kind 0).
-- Helper of: ack_orchestration_item, delete_orphan_messages.
-- Transaction: the caller's, which has locked the inbox of the instance.
-- Parameters:
--   @all  1 awaits all queues, 0 those that @queues says
-- Locks: orchestrator_queue (the messages, by the primary key).
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.await_queues
    @instance_id NVARCHAR(400),
    @all         BIT,
    @queues      duroxide.queue_list_v1 READONLY
AS
DECLARE @heads TABLE (kind TINYINT NOT NULL, visible_at BIGINT NOT NULL, id BIGINT NOT NULL PRIMARY KEY);
DECLARE @awaited TABLE (queue NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY);
INSERT INTO @awaited (queue)
SELECT k.queue
FROM @queues AS k
WHERE k.awaited = 1 AND @all = 0
UNION
SELECT q.queue
FROM duroxide.orchestrator_queue AS q WITH (FORCESEEK (ix_orchestrator_queue_queue (instance_id)))
WHERE q.instance_id = @instance_id AND q.queue IS NOT NULL AND @all = 1
OPTION (KEEPFIXED PLAN);
INSERT INTO @heads (kind, visible_at, id)
SELECT m.kind, m.visible_at, m.id
FROM @awaited AS a
CROSS APPLY (
    SELECT TOP (1) q.kind, q.visible_at, q.id
    FROM duroxide.orchestrator_queue AS q WITH (FORCESEEK (ix_orchestrator_queue_queue (instance_id, queue)))
    WHERE q.instance_id = @instance_id AND q.queue = a.queue AND q.queue IS NOT NULL
    ORDER BY q.id
) AS m
OPTION (LOOP JOIN, KEEPFIXED PLAN);
UPDATE q
SET kind = 0
FROM @heads AS h
INNER LOOP JOIN duroxide.orchestrator_queue AS q WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_orchestrator_queue))
    ON q.kind = 4 AND q.visible_at = h.visible_at AND q.id = h.id
WHERE q.instance_id = @instance_id AND h.kind = 4
OPTION (KEEPFIXED PLAN);
