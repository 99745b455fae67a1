-- Adds an execution. Of an existing one, only the code and the pinned version change, and
-- each only if the caller gives one.
--
-- name: StartExecution :exec
INSERT INTO executions (instance_id, execution_id, status, version_id, code_id, started_at)
VALUES (@instance_id, @execution_id, 'Running', @version_id, @code_id, @now)
ON CONFLICT (instance_id, execution_id) DO UPDATE SET
    version_id = CASE WHEN excluded.version_id > 0 THEN excluded.version_id ELSE version_id END,
    code_id = CASE WHEN excluded.code_id > 0 THEN excluded.code_id ELSE code_id END;

-- name: AddFrameworkVersion :exec
INSERT INTO framework_versions (major, minor, patch)
VALUES (@major, @minor, @patch)
ON CONFLICT (major, minor, patch) DO NOTHING;

-- name: ListFrameworkVersions :many
SELECT id, major, minor, patch
FROM framework_versions
ORDER BY id;

-- name: GetFrameworkVersion :one
SELECT id
FROM framework_versions
WHERE major = @major
  AND minor = @minor
  AND patch = @patch;

-- Sets the status and output of an execution. Returns whether the instance has changes to merge
-- (MergeValues).
--
-- name: SetExecutionStatus :one
UPDATE executions
SET status = @status, output = @output, payload_id = @payload_id, completed_at = @completed_at
WHERE executions.instance_id = @instance_id
  AND executions.execution_id = @execution_id
RETURNING EXISTS (SELECT 1 FROM kv_delta AS d WHERE d.instance_id = @instance_id) AS has_delta;

-- SetExecutionStatus for an instance of which the caller knows that it has none.
--
-- name: EndExecution :exec
UPDATE executions
SET status = @status, output = @output, payload_id = @payload_id, completed_at = @completed_at
WHERE instance_id = @instance_id
  AND execution_id = @execution_id;

-- name: ListExecutions :many
SELECT execution_id
FROM executions
WHERE instance_id = @instance_id
ORDER BY execution_id;

-- name: GetExecution :one
SELECT
    e.execution_id,
    e.status,
    e.output,
    p.text AS payload,
    e.started_at,
    e.completed_at,
    (
        SELECT count(*)
        FROM history AS h
        WHERE h.instance_id = e.instance_id
          AND h.execution_id = e.execution_id
    ) AS event_count
FROM executions AS e
LEFT JOIN payload_texts AS p ON p.id = e.payload_id
WHERE e.instance_id = @instance_id
  AND e.execution_id = @execution_id;

-- name: CountExecutions :one
SELECT count(*)
FROM executions;

-- Lists the executions that pruning may delete: not the current one, no running one, and
-- none of the newest, which the caller wants to keep.
--
-- name: ListPrunableExecutions :many
SELECT e.execution_id
FROM executions AS e
JOIN instances AS i ON i.instance_id = e.instance_id
WHERE e.instance_id = @instance_id
  AND e.execution_id <> i.current_execution_id
  AND e.status <> 'Running'
  AND (CAST(sqlc.narg(completed_before) AS INTEGER) IS NULL OR e.completed_at < CAST(sqlc.narg(completed_before) AS INTEGER))
  AND e.execution_id NOT IN (
      SELECT k.execution_id
      FROM executions AS k
      WHERE k.instance_id = @instance_id
      ORDER BY k.execution_id DESC
      LIMIT @keep_last
  )
ORDER BY e.execution_id;

-- name: DeleteExecutionsOf :execrows
DELETE FROM executions
WHERE instance_id IN (SELECT j.value FROM json_each(CAST(@instances AS TEXT)) AS j);

-- name: DeleteExecutions :execrows
DELETE FROM executions
WHERE instance_id = @instance_id
  AND execution_id IN (SELECT j.value FROM json_each(CAST(@executions AS TEXT)) AS j);
