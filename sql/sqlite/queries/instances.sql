-- Adds an instance, or sets the name and version of an existing one and changes it as
-- TouchInstance does. The parent of an existing row stays as it is.
--
-- name: PutInstance :one
INSERT INTO instances (
    instance_id, orchestration_name, orchestration_version, current_execution_id, custom_status, custom_status_version,
    parent_instance_id, created_at, updated_at
)
VALUES (
    @instance_id, @orchestration_name, @orchestration_version, @execution_id, @custom_status, @set_status,
    @parent_instance_id, @now, @now
)
ON CONFLICT (instance_id) DO UPDATE SET
    orchestration_name = excluded.orchestration_name,
    orchestration_version = excluded.orchestration_version,
    current_execution_id = max(current_execution_id, excluded.current_execution_id),
    custom_status = CASE WHEN excluded.custom_status_version = 1 THEN excluded.custom_status ELSE custom_status END,
    custom_status_version = custom_status_version + excluded.custom_status_version,
    updated_at = excluded.updated_at
RETURNING EXISTS (
    SELECT 1
    FROM executions AS e
    WHERE e.instance_id = @instance_id
      AND e.execution_id = @execution_id
) AS execution_exists;

-- Changes what a turn may change. If set_status is 1, replaces the custom status and adds 1
-- to its version. Returns whether the execution exists, and no row for an unknown instance.
--
-- name: TouchInstance :one
UPDATE instances
SET
    current_execution_id = max(current_execution_id, CAST(@execution_id AS INTEGER)),
    custom_status = CASE WHEN CAST(@set_status AS INTEGER) = 1 THEN sqlc.narg(custom_status) ELSE custom_status END,
    custom_status_version = custom_status_version + CAST(@set_status AS INTEGER),
    updated_at = @now
WHERE instances.instance_id = @instance_id
RETURNING EXISTS (
    SELECT 1
    FROM executions AS e
    WHERE e.instance_id = @instance_id
      AND e.execution_id = @execution_id
) AS execution_exists;

-- Reads what a fetch returns about an instance: its row and current execution, if any, whether
-- it has values, and for an instance without a row whether it has a history.
--
-- name: GetInstanceContext :one
SELECT
    i.orchestration_name,
    i.orchestration_version,
    i.current_execution_id,
    e.status,
    e.version_id,
    e.code_id,
    EXISTS (SELECT 1 FROM kv_store AS k WHERE k.instance_id = n.instance_id) AS has_values,
    CAST(i.id IS NULL AND EXISTS (SELECT 1 FROM history AS h WHERE h.instance_id = n.instance_id) AS INTEGER) AS has_history
FROM (SELECT CAST(@instance_id AS TEXT) AS instance_id) AS n
LEFT JOIN instances AS i ON i.instance_id = n.instance_id
LEFT JOIN executions AS e ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id;

-- name: GetCustomStatus :one
SELECT custom_status, custom_status_version
FROM instances
WHERE instance_id = @instance_id
  AND custom_status_version > @last_seen;

-- Finds what uses an instance id: an instance, or a start that waits for its first turn.
--
-- name: FindUse :one
SELECT
    i.orchestration_name,
    e.status,
    q.work_item AS start_item
FROM (SELECT CAST(@instance_id AS TEXT) AS instance_id) AS n
LEFT JOIN instances AS i ON i.instance_id = n.instance_id
LEFT JOIN executions AS e ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
LEFT JOIN orchestrator_queue AS q ON q.instance_id = n.instance_id AND q.kind IN (1, 2)
WHERE i.id IS NOT NULL OR q.id IS NOT NULL
ORDER BY q.id
LIMIT 1;

-- Reads how far the instances of a JSON list are, in the order of the list. Reads a waiting start only for an id
-- without an instance, and the first and last event of the current execution only if the execution has ended.
--
-- name: ReadProgress :many
SELECT
    i.orchestration_name,
    i.current_execution_id,
    i.custom_status,
    i.custom_status_version,
    e.status,
    q.work_item AS start_item,
    f.event_id AS first_id,
    f.event_data AS first_event,
    fp.text AS first_payload,
    l.event_id AS last_id,
    l.event_data AS last_event,
    lp.text AS last_payload
FROM json_each(CAST(@instances AS TEXT)) AS j
LEFT JOIN instances AS i ON i.instance_id = j.value
LEFT JOIN executions AS e ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
LEFT JOIN orchestrator_queue AS q ON i.id IS NULL AND q.id = (
    SELECT MIN(s.id) FROM orchestrator_queue AS s WHERE s.instance_id = j.value AND s.kind IN (1, 2)
)
LEFT JOIN history AS f
    ON e.status IN ('Completed', 'Failed') AND f.instance_id = i.instance_id AND f.execution_id = i.current_execution_id
   AND f.event_id = (SELECT MIN(h.event_id) FROM history AS h WHERE h.instance_id = i.instance_id AND h.execution_id = i.current_execution_id)
LEFT JOIN history AS l
    ON l.instance_id = f.instance_id AND l.execution_id = f.execution_id
   AND l.event_id = (SELECT MAX(h.event_id) FROM history AS h WHERE h.instance_id = f.instance_id AND h.execution_id = f.execution_id)
LEFT JOIN payload_texts AS fp ON fp.id = f.payload_id
LEFT JOIN payload_texts AS lp ON lp.id = l.payload_id
ORDER BY j.key;

-- Returns those of a JSON list whose current execution has ended.
--
-- name: ListEndedOf :many
SELECT i.instance_id
FROM json_each(CAST(@instances AS TEXT)) AS j
INNER JOIN instances AS i ON i.instance_id = j.value
INNER JOIN executions AS e ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
WHERE e.status IN ('Completed', 'Failed');

-- name: InstanceExists :one
SELECT EXISTS (SELECT 1 FROM instances AS i WHERE i.instance_id = @instance_id) AS found;

-- name: GetParent :one
SELECT parent_instance_id
FROM instances
WHERE instance_id = @instance_id;

-- Reads the facts about an instance. A turn that only adds events does not change the row, so
-- updated_at also looks at the last event.
--
-- name: GetInstanceInfo :one
SELECT
    i.instance_id,
    i.orchestration_name,
    i.orchestration_version,
    i.current_execution_id,
    e.status,
    e.output,
    p.text AS payload,
    i.created_at,
    CAST(max(i.updated_at, coalesce((
        SELECT h.created_at
        FROM history AS h
        WHERE h.instance_id = i.instance_id
          AND h.execution_id = i.current_execution_id
        ORDER BY h.event_id DESC
        LIMIT 1
    ), 0)) AS INTEGER) AS updated_at,
    i.parent_instance_id
FROM instances AS i
LEFT JOIN executions AS e ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
LEFT JOIN payload_texts AS p ON p.id = e.payload_id
WHERE i.instance_id = @instance_id;

-- name: ListInstances :many
SELECT instance_id
FROM instances
ORDER BY created_at DESC, id DESC;

-- name: ListInstancesByStatus :many
SELECT i.instance_id
FROM instances AS i
JOIN executions AS e ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
WHERE e.status = @status
ORDER BY i.created_at DESC, i.id DESC;

-- name: ListChildren :many
SELECT instance_id
FROM instances
WHERE parent_instance_id = @parent
ORDER BY id;

-- Lists an instance and its descendants, level by level. The instance need not exist.
-- UNION, and not UNION ALL, lists each id once, so a cycle of parents ends.
--
-- name: ListTree :many
WITH RECURSIVE tree AS (
    SELECT CAST(@root AS TEXT) AS instance_id
    UNION
    SELECT i.instance_id
    FROM tree AS t
    JOIN instances AS i ON i.parent_instance_id = t.instance_id
)
SELECT t.instance_id
FROM tree AS t;

-- name: CountInstances :one
SELECT
    count(*) AS total,
    count(CASE WHEN e.status = 'Running' THEN 1 END) AS running,
    count(CASE WHEN e.status = 'Completed' THEN 1 END) AS completed,
    count(CASE WHEN e.status = 'Failed' THEN 1 END) AS failed
FROM instances AS i
LEFT JOIN executions AS e ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id;

-- Finds one instance of a JSON list that is running.
--
-- name: FindRunning :one
SELECT i.instance_id
FROM instances AS i
JOIN executions AS e ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
WHERE i.instance_id IN (SELECT j.value FROM json_each(CAST(@instances AS TEXT)) AS j)
  AND e.status = 'Running'
ORDER BY i.id
LIMIT 1;

-- Finds one child that is not in a JSON list although its parent is.
--
-- name: FindOrphan :one
SELECT i.instance_id, i.parent_instance_id
FROM instances AS i
WHERE i.parent_instance_id IN (SELECT j.value FROM json_each(CAST(@instances AS TEXT)) AS j)
  AND i.instance_id NOT IN (SELECT j.value FROM json_each(CAST(@instances AS TEXT)) AS j)
ORDER BY i.id
LIMIT 1;

-- Lists root instances whose current execution has ended, for a bulk deletion. A NULL
-- completed_before does not restrict the list.
--
-- name: ListFinishedRoots :many
SELECT i.instance_id
FROM instances AS i
JOIN executions AS e ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
WHERE i.parent_instance_id IS NULL
  AND e.status IN ('Completed', 'Failed', 'ContinuedAsNew')
  AND (CAST(sqlc.narg(completed_before) AS INTEGER) IS NULL OR e.completed_at < CAST(sqlc.narg(completed_before) AS INTEGER))
ORDER BY i.id
LIMIT @max_rows;

-- Lists those instances of a JSON list that ListFinishedRoots would list. Each is found by its key.
--
-- name: ListFinishedRootsOf :many
SELECT i.instance_id
FROM instances AS i
JOIN executions AS e ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
WHERE i.instance_id IN (SELECT j.value FROM json_each(CAST(@instances AS TEXT)) AS j)
  AND i.parent_instance_id IS NULL
  AND e.status IN ('Completed', 'Failed', 'ContinuedAsNew')
  AND (CAST(sqlc.narg(completed_before) AS INTEGER) IS NULL OR e.completed_at < CAST(sqlc.narg(completed_before) AS INTEGER))
ORDER BY i.id
LIMIT @max_rows;

-- Returns whether ListFinishedRoots would list the instance, which is found by its key.
--
-- name: IsFinishedRoot :one
SELECT EXISTS (
    SELECT 1
    FROM instances AS i
    JOIN executions AS e ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
    WHERE i.instance_id = @instance_id
      AND i.parent_instance_id IS NULL
      AND e.status IN ('Completed', 'Failed', 'ContinuedAsNew')
      AND (CAST(sqlc.narg(completed_before) AS INTEGER) IS NULL OR e.completed_at < CAST(sqlc.narg(completed_before) AS INTEGER))
) AS found;

-- Lists instances to prune in bulk, including running ones and children. A NULL completed_before
-- does not restrict the list.
--
-- name: ListPrunable :many
SELECT i.instance_id
FROM instances AS i
LEFT JOIN executions AS e ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
WHERE (CAST(sqlc.narg(completed_before) AS INTEGER) IS NULL OR e.completed_at < CAST(sqlc.narg(completed_before) AS INTEGER))
ORDER BY i.id
LIMIT @max_rows;

-- Lists those instances of a JSON list that ListPrunable would list. Each is found by its key.
--
-- name: ListPrunableOf :many
SELECT i.instance_id
FROM instances AS i
LEFT JOIN executions AS e ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
WHERE i.instance_id IN (SELECT j.value FROM json_each(CAST(@instances AS TEXT)) AS j)
  AND (CAST(sqlc.narg(completed_before) AS INTEGER) IS NULL OR e.completed_at < CAST(sqlc.narg(completed_before) AS INTEGER))
ORDER BY i.id
LIMIT @max_rows;

-- Lists a page of instances in the order of creation. ended is 1 for a root that completed or failed
-- before a time.
--
-- name: ListInstancePage :many
SELECT
    i.id,
    i.instance_id,
    i.created_at,
    CAST(i.parent_instance_id IS NULL AND EXISTS (
        SELECT 1
        FROM executions AS e
        WHERE e.instance_id = i.instance_id
          AND e.execution_id = i.current_execution_id
          AND e.status IN ('Completed', 'Failed')
          AND e.completed_at < @ended_before
    ) AS INTEGER) AS ended
FROM instances AS i
WHERE i.id > @after
ORDER BY i.id
LIMIT @max_rows;

-- Lists a page of instances, the last that was created first.
--
-- name: ListLatestPage :many
SELECT i.id, i.instance_id, e.status
FROM instances AS i
LEFT JOIN executions AS e ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
WHERE i.id < @before
ORDER BY i.id DESC
LIMIT @max_rows;

-- name: DeleteInstancesOf :execrows
DELETE FROM instances
WHERE instance_id IN (SELECT j.value FROM json_each(CAST(@instances AS TEXT)) AS j);
