-- Ends the queue messages of a turn whose claim left them in the store: deletes those that the turn has read, the
-- oldest of each queue, and lets the others wait as if it had not had them.
-- Helper of: ack_orchestration_item.
-- Transaction: the caller's, which has ended the lease of the instance and so locked its inbox.
-- Parameters:
--   @claimed_at, @claimed_to
--                when the turn was claimed, and its last message
--   @queues      how many messages of each queue the turn has read
-- Locks: orchestrator_queue (the messages, by the primary key).
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.leave_messages
    @instance_id NVARCHAR(400),
    @claimed_at  BIGINT,
    @claimed_to  BIGINT,
    @queues      duroxide.queue_list_v1 READONLY
AS
DECLARE @messages TABLE (kind TINYINT NOT NULL, visible_at BIGINT NOT NULL, id BIGINT NOT NULL PRIMARY KEY);
INSERT INTO @messages (kind, visible_at, id)
SELECT m.kind, m.visible_at, m.id
FROM @queues AS k
CROSS APPLY (
    SELECT TOP (k.messages) q.kind, q.visible_at, q.id
    FROM duroxide.orchestrator_queue AS q WITH (FORCESEEK (ix_orchestrator_queue_queue (instance_id, queue)))
    WHERE q.instance_id = @instance_id AND q.queue = k.queue AND q.queue IS NOT NULL AND q.visible_at <= @claimed_at
      AND q.id <= @claimed_to
    ORDER BY q.id
) AS m
OPTION (LOOP JOIN, KEEPFIXED PLAN);
DELETE q
FROM @messages AS m
INNER LOOP JOIN duroxide.orchestrator_queue AS q WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_orchestrator_queue))
    ON q.kind = m.kind AND q.visible_at = m.visible_at AND q.id = m.id
WHERE q.instance_id = @instance_id
OPTION (KEEPFIXED PLAN);
UPDATE q
SET kind = 4, attempt_count = 0, unnamed_count = 0, misfit = NULL, misfit_at = NULL
FROM duroxide.orchestrator_queue AS q WITH (ROWLOCK, INDEX (pk_orchestrator_queue))
WHERE q.instance_id = @instance_id AND q.kind = 0 AND q.visible_at <= @claimed_at AND q.id <= @claimed_to
OPTION (KEEPFIXED PLAN);
