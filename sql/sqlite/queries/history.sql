-- Adds an event. A duplicate id violates the primary key, so no event is ever replaced.
--
-- name: AppendEvent :exec
INSERT INTO history (instance_id, execution_id, event_id, event_type, event_data, payload_id, created_at)
VALUES (@instance_id, @execution_id, @event_id, @event_type, @event_data, @payload_id, @created_at);

-- name: ReadExecution :many
SELECT h.event_id, h.event_data, p.text AS payload
FROM history AS h
LEFT JOIN payload_texts AS p ON p.id = h.payload_id
WHERE h.instance_id = @instance_id
  AND h.execution_id = @execution_id
ORDER BY h.event_id;

-- Reads the events from an id on, for a caller that has those before it.
--
-- name: ReadExecutionFrom :many
SELECT h.event_id, h.event_data, p.text AS payload
FROM history AS h
LEFT JOIN payload_texts AS p ON p.id = h.payload_id
WHERE h.instance_id = @instance_id
  AND h.execution_id = @execution_id
  AND h.event_id >= @event_id
ORDER BY h.event_id;

-- Finds the highest execution id that is stored; 0 for an unknown instance.
--
-- name: LatestExecution :one
SELECT CAST(coalesce(max(x.execution_id), 0) AS INTEGER) AS execution_id
FROM (
    SELECT max(e.execution_id) AS execution_id
    FROM executions AS e
    WHERE e.instance_id = @instance_id
    UNION ALL
    SELECT max(h.execution_id) AS execution_id
    FROM history AS h
    WHERE h.instance_id = @instance_id
) AS x;

-- Finds the latest execution of an instance without a row, if that execution has a start
-- event: the name of the orchestration is in the event.
--
-- name: LatestStartedExecution :one
SELECT h.execution_id
FROM history AS h
WHERE h.instance_id = @instance_id
  AND h.event_type = 'OrchestrationStarted'
  AND h.execution_id = (
      SELECT max(l.execution_id)
      FROM history AS l
      WHERE l.instance_id = @instance_id
  )
LIMIT 1;

-- name: CountEvents :one
SELECT count(*)
FROM history;

-- name: DeleteHistoryOf :execrows
DELETE FROM history
WHERE instance_id IN (SELECT j.value FROM json_each(CAST(@instances AS TEXT)) AS j);

-- name: DeleteHistoryOfExecutions :execrows
DELETE FROM history
WHERE instance_id = @instance_id
  AND execution_id IN (SELECT j.value FROM json_each(CAST(@executions AS TEXT)) AS j);
