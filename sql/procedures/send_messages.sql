-- Adds a turn's messages to the queues of their instances.
-- Helper of: ack_orchestration_item.
-- Transaction: the caller's, which has locked the inboxes of the instances, and computes their states.
-- Parameters:
--   @now  the present time, in milliseconds since 1970 UTC
-- Locks: code_names (shared), orchestrator_queue (the new rows, and those of line_up_messages).
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.send_messages
    @messages duroxide.message_list_v1 READONLY,
    @now      BIGINT
AS
INSERT INTO duroxide.orchestrator_queue (instance_id, kind, queue, code_id, work_item, visible_at, created_at)
SELECT m.instance_id, m.kind, m.queue, COALESCE(c.id, 0), m.work_item, @now + m.delay_ms, @now
FROM @messages AS m
LEFT OUTER LOOP JOIN duroxide.code_names AS c WITH (INDEX (uq_code_names)) ON c.name = m.name AND c.version = m.version
ORDER BY m.position;
IF EXISTS (SELECT 1 FROM @messages AS m WHERE m.queue IS NOT NULL)
    EXEC duroxide.line_up_messages @messages = @messages;
