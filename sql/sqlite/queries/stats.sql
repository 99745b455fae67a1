-- Measures the history of the current execution, and reads its first event.
--
-- name: GetHistoryStats :one
SELECT
    i.current_execution_id,
    (
        SELECT count(*)
        FROM history AS h
        WHERE h.instance_id = i.instance_id
          AND h.execution_id = i.current_execution_id
    ) AS event_count,
    (
        -- octet_length counts UTF-8 bytes where length would count characters.
        SELECT CAST(coalesce(sum(octet_length(h.event_data) + coalesce(p.json_bytes, 0)), 0) AS INTEGER)
        FROM history AS h
        LEFT JOIN payload_texts AS p ON p.id = h.payload_id
        WHERE h.instance_id = i.instance_id
          AND h.execution_id = i.current_execution_id
    ) AS event_bytes,
    f.event_data AS first_event
FROM instances AS i
LEFT JOIN history AS f
    ON f.instance_id = i.instance_id
    AND f.execution_id = i.current_execution_id
    AND f.event_id = 1
WHERE i.instance_id = @instance_id;

-- Measures the present values of an instance, as ReadValues reads them.
--
-- name: GetValueStats :one
SELECT
    count(*) AS key_count,
    CAST(coalesce(sum(octet_length(x.value)), 0) AS INTEGER) AS value_bytes
FROM (
    SELECT s.value
    FROM kv_store AS s
    WHERE s.instance_id = @instance_id
      AND NOT EXISTS (
          SELECT 1
          FROM kv_delta AS t
          WHERE t.instance_id = s.instance_id
            AND t.key = s.key
      )
    UNION ALL
    SELECT d.value
    FROM kv_delta AS d
    WHERE d.instance_id = @instance_id
      AND d.value IS NOT NULL
) AS x;
