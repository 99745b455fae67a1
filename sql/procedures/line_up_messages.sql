-- Lets queue messages that were just added wait behind older ones of their queues (kind 4).
-- Helper of: send_messages.
-- Transaction: the caller's, which has locked the inboxes of the instances.
-- Parameters:
--   @messages  the messages; those without a queue do not matter
-- Locks: orchestrator_queue (the messages, by the primary key).
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.line_up_messages
    @messages duroxide.message_list_v1 READONLY
AS
DECLARE @behind TABLE (
    instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL, visible_at BIGINT NOT NULL, id BIGINT NOT NULL, PRIMARY KEY (instance_id, id)
);
INSERT INTO @behind (instance_id, visible_at, id)
SELECT q.instance_id, q.visible_at, q.id
FROM (
    SELECT DISTINCT m.instance_id, m.queue
    FROM @messages AS m
    WHERE m.queue IS NOT NULL
) AS k
CROSS APPLY (
    SELECT MIN(o.id) AS id
    FROM duroxide.orchestrator_queue AS o WITH (FORCESEEK (ix_orchestrator_queue_queue (instance_id, queue)))
    WHERE o.instance_id = k.instance_id AND o.queue = k.queue AND o.queue IS NOT NULL
) AS f
INNER LOOP JOIN duroxide.orchestrator_queue AS q WITH (FORCESEEK (ix_orchestrator_queue_queue (instance_id, queue, id)))
    ON q.instance_id = k.instance_id AND q.queue = k.queue AND q.queue IS NOT NULL AND q.id > f.id
WHERE q.kind = 0
OPTION (KEEPFIXED PLAN);
UPDATE q
SET kind = 4
FROM @behind AS b
INNER LOOP JOIN duroxide.orchestrator_queue AS q WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_orchestrator_queue))
    ON q.instance_id = b.instance_id AND q.kind = 0 AND q.visible_at = b.visible_at AND q.id = b.id
OPTION (KEEPFIXED PLAN);
