-- Never replaces an event: a duplicate id violates the primary key.
--
-- name: AppendEvent :exec
INSERT INTO history (instance_id, execution_id, event_id, event_type, event_data, created_at)
VALUES (@instance_id, @execution_id, @event_id, @event_type, @event_data, @created_at);

-- name: ReadExecution :many
SELECT event_id, event_data
FROM history
WHERE instance_id = @instance_id
  AND execution_id = @execution_id
ORDER BY event_id;

-- The events from one on, for who knows those before it.
--
-- name: ReadExecutionFrom :many
SELECT event_id, event_data
FROM history
WHERE instance_id = @instance_id
  AND execution_id = @execution_id
  AND event_id >= @event_id
ORDER BY event_id;

-- The highest execution id that is stored; 0 for an unknown instance.
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

-- The execution to resolve an instance without a row from: its latest, if that
-- has a start event.
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
