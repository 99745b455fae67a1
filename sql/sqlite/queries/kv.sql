-- name: SetValue :exec
INSERT INTO kv_delta (instance_id, key, value, last_updated_at_ms)
VALUES (@instance_id, @key, @value, @last_updated_at_ms)
ON CONFLICT (instance_id, key) DO UPDATE SET
    value = excluded.value,
    last_updated_at_ms = excluded.last_updated_at_ms;

-- Clears all keys: writes a tombstone for each key that this execution changed or that
-- earlier executions left.
--
-- name: ClearValues :exec
INSERT INTO kv_delta (instance_id, key, value, last_updated_at_ms)
SELECT k.instance_id, k.key, NULL, CAST(@now AS INTEGER)
FROM (
    SELECT d.instance_id, d.key
    FROM kv_delta AS d
    WHERE d.instance_id = @instance_id
    UNION
    SELECT s.instance_id, s.key
    FROM kv_store AS s
    WHERE s.instance_id = @instance_id
) AS k
WHERE true
ON CONFLICT (instance_id, key) DO UPDATE SET
    value = NULL,
    last_updated_at_ms = excluded.last_updated_at_ms;

-- The first of three statements at the end of an execution: stores the values that the
-- execution set.
--
-- name: MergeValues :exec
INSERT INTO kv_store (instance_id, key, value, last_updated_at_ms)
SELECT d.instance_id, d.key, d.value, d.last_updated_at_ms
FROM kv_delta AS d
WHERE d.instance_id = @instance_id
  AND d.value IS NOT NULL
ON CONFLICT (instance_id, key) DO UPDATE SET
    value = excluded.value,
    last_updated_at_ms = excluded.last_updated_at_ms;

-- The second: deletes the values that the execution cleared.
--
-- name: MergeTombstones :exec
DELETE FROM kv_store
WHERE kv_store.instance_id = @instance_id
  AND kv_store.key IN (
      SELECT d.key
      FROM kv_delta AS d
      WHERE d.instance_id = @instance_id
        AND d.value IS NULL
  );

-- The third: deletes the execution's changes, which are now in the store.
--
-- name: DeleteDelta :exec
DELETE FROM kv_delta
WHERE instance_id = @instance_id;

-- Reads the values as of the start of the execution, for replay.
--
-- name: ReadSnapshot :many
SELECT key, value, last_updated_at_ms
FROM kv_store
WHERE instance_id = @instance_id;

-- Reads the present value. A row with NULL is a tombstone, which hides the value in the
-- store.
--
-- name: GetValue :one
SELECT x.value
FROM (
    SELECT d.value, 0 AS place
    FROM kv_delta AS d
    WHERE d.instance_id = @instance_id
      AND d.key = @key
    UNION ALL
    SELECT s.value, 1 AS place
    FROM kv_store AS s
    WHERE s.instance_id = @instance_id
      AND s.key = @key
) AS x
ORDER BY x.place
LIMIT 1;

-- Reads the present values: those of the store whose keys the delta does not have, and
-- those of the delta.
--
-- name: ReadValues :many
SELECT s.key, s.value
FROM kv_store AS s
WHERE s.instance_id = @instance_id
  AND NOT EXISTS (
      SELECT 1
      FROM kv_delta AS t
      WHERE t.instance_id = s.instance_id
        AND t.key = s.key
  )
UNION ALL
SELECT d.key, d.value
FROM kv_delta AS d
WHERE d.instance_id = @instance_id
  AND d.value IS NOT NULL;

-- name: DeleteStoreOf :exec
DELETE FROM kv_store
WHERE instance_id IN (SELECT j.value FROM json_each(CAST(@instances AS TEXT)) AS j);

-- name: DeleteDeltaOf :exec
DELETE FROM kv_delta
WHERE instance_id IN (SELECT j.value FROM json_each(CAST(@instances AS TEXT)) AS j);
