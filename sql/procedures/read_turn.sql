-- Reads what a claimed turn needs. The lease protects what is read.
-- Helper of: claim_turn.
-- Transaction: none.
-- Parameters:
--   @claim                  the row with which the turn was claimed. If the last event id is higher than its
--                           history_limit, only the last event is sent, because the worker may have the
--                           others; NULL sends all. peek = 1 sends the oldest messages of each queue only
--                           (function waiting_messages)
--   @due_until, @looked_ms  what claim_turn returned
-- Result sets:
--   1 Item, 2 History, 3 Values, 4 Messages: those of take
-- Locks: instances, history, kv_store, inboxes, orchestrator_queue (read, by the primary key or
--   ix_kv_store_instance).
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.read_turn
    @claim       duroxide.turn_claim_v1 READONLY,
    @instance_id NVARCHAR(400),
    @due_until   BIGINT,
    @looked_ms   BIGINT
AS
DECLARE @messages TABLE (kind TINYINT NOT NULL, visible_at BIGINT NOT NULL, id BIGINT NOT NULL PRIMARY KEY);
DECLARE @lock_token UNIQUEIDENTIFIER, @history_limit BIGINT, @peek BIT, @waiting BIT, @unnamed BIT, @claimed_at BIGINT, @claimed_to BIGINT,
    @name NVARCHAR(MAX), @version NVARCHAR(MAX), @execution_id BIGINT;
SELECT @lock_token = c.lock_token, @history_limit = c.history_limit, @peek = c.peek, @waiting = CASE WHEN EXISTS (
        SELECT 1
        FROM duroxide.orchestrator_queue AS q WITH (FORCESEEK (pk_orchestrator_queue (instance_id, kind, visible_at)))
        WHERE q.instance_id = @instance_id AND q.kind = 4 AND q.visible_at <= b.claimed_at
    ) THEN 1 ELSE 0 END,
    @unnamed = CASE WHEN c.known IS NULL THEN 1 ELSE 0 END,
    @claimed_at = b.claimed_at, @claimed_to = b.claimed_to, @name = i.orchestration_name, @version = i.orchestration_version, @execution_id = i.current_execution_id
FROM @claim AS c
INNER LOOP JOIN duroxide.inboxes AS b WITH (FORCESEEK (pk_inboxes (instance_id))) ON b.instance_id = @instance_id
LEFT OUTER LOOP JOIN duroxide.instances AS i WITH (FORCESEEK (pk_instances (instance_id))) ON i.instance_id = b.instance_id
OPTION (KEEPFIXED PLAN);
IF @execution_id IS NULL
    SELECT @execution_id = MAX(h.execution_id)
    FROM duroxide.history AS h WITH (FORCESEEK (pk_history (instance_id, execution_id)))
    WHERE h.instance_id = @instance_id
      AND h.event_type = N'OrchestrationStarted'
      AND h.execution_id = (
          SELECT MAX(l.execution_id)
          FROM duroxide.history AS l WITH (FORCESEEK (pk_history (instance_id)))
          WHERE l.instance_id = @instance_id
      )
    OPTION (KEEPFIXED PLAN);
INSERT INTO @messages (kind, visible_at, id)
SELECT q.kind, q.visible_at, q.id
FROM (VALUES (CAST(0 AS TINYINT)), (CAST(1 AS TINYINT)), (CAST(2 AS TINYINT)), (CAST(3 AS TINYINT)), (CAST(4 AS TINYINT))) AS k (kind)
INNER LOOP JOIN duroxide.orchestrator_queue AS q WITH (FORCESEEK (pk_orchestrator_queue (instance_id, kind, visible_at))) ON q.kind = k.kind
WHERE q.instance_id = @instance_id AND q.visible_at <= @claimed_at AND q.id <= @claimed_to
  AND (k.kind < 4 OR @peek = 0)
OPTION (KEEPFIXED PLAN);
IF @peek = 1 AND @waiting = 1
    INSERT INTO @messages (kind, visible_at, id)
    SELECT 4, w.visible_at, w.id
    FROM duroxide.waiting_messages(@instance_id, @claimed_at) AS w
    WHERE w.id <= @claimed_to;

-- gen:result Item
SELECT COALESCE(@instance_id, N'') AS instance_id, @name AS orchestration_name, @version AS orchestration_version,
    COALESCE(@execution_id, 1) AS execution_id,
    COALESCE((
        SELECT MAX(q.attempt_count - CASE @unnamed WHEN 1 THEN 0 ELSE q.unnamed_count END)
        FROM @messages AS m
        INNER LOOP JOIN duroxide.orchestrator_queue AS q WITH (FORCESEEK (pk_orchestrator_queue (instance_id, kind, visible_at, id)))
            ON q.kind = m.kind AND q.visible_at = m.visible_at AND q.id = m.id
        WHERE q.instance_id = @instance_id
    ), 0) + 1 AS attempt_count,
    COALESCE(@due_until, 0) AS due_until, COALESCE(@looked_ms, 0) AS looked_ms
WHERE @instance_id IS NOT NULL
OPTION (KEEPFIXED PLAN);

-- gen:result History
SELECT h.event_id, h.event_data
FROM duroxide.history AS h WITH (INDEX (pk_history))
WHERE h.instance_id = @instance_id AND h.execution_id = @execution_id
  AND h.event_id >= COALESCE((
      SELECT MAX(l.event_id)
      FROM duroxide.history AS l WITH (FORCESEEK (pk_history (instance_id, execution_id, event_id)))
      WHERE l.instance_id = @instance_id AND l.execution_id = @execution_id AND l.event_id > @history_limit
  ), 0)
ORDER BY h.event_id
OPTION (KEEPFIXED PLAN);

IF EXISTS (SELECT 1 FROM duroxide.kv_store AS s WITH (INDEX (ix_kv_store_instance)) WHERE s.instance_id = @instance_id)
    -- gen:result Values
    SELECT s.kv_key, s.value, s.last_updated_at_ms
    FROM duroxide.kv_store AS s WITH (INDEX (ix_kv_store_instance))
    WHERE s.instance_id = @instance_id;

-- gen:result Messages
SELECT q.id, q.work_item
FROM duroxide.inboxes AS b WITH (FORCESEEK (pk_inboxes (instance_id)))
CROSS JOIN @messages AS m
INNER LOOP JOIN duroxide.orchestrator_queue AS q WITH (FORCESEEK (pk_orchestrator_queue (instance_id, kind, visible_at, id)))
    ON q.instance_id = b.instance_id AND q.kind = m.kind AND q.visible_at = m.visible_at AND q.id = m.id
WHERE b.instance_id = @instance_id AND b.lock_token = @lock_token
ORDER BY q.id
OPTION (KEEPFIXED PLAN);
