-- Tells from when on an instance may be fetched, leases left aside, and with which
-- of its messages it stands in line. It holds the rules of §5.1 about eligibility,
-- with both hazards:
--
--   * An instance with a row is ready with its first visible message. But while its
--     current execution has ended as ContinuedAsNew, not before the message that
--     starts the next one: whatever else arrived would be taken for leftovers of the
--     old execution.
--   * An instance without a row is ready when its start is visible. Without a start
--     it is ready if its history has one, or if it has nothing but queue messages:
--     those belong to nobody, and the fetch drops them. Otherwise it waits, and does
--     not stand in the way of others.
--
-- All of it can be told as a time, so nothing has to be computed anew when a delay
-- ends. Each minimum and maximum is one seek.
CREATE OR ALTER FUNCTION duroxide.inbox_state (@instance_id NVARCHAR(400))
RETURNS TABLE
AS
RETURN (
    SELECT
        CASE
            WHEN t.first_visible IS NULL THEN NULL
            WHEN t.has_row = 1 AND t.status = N'ContinuedAsNew' AND t.last_continue > t.first_visible THEN t.last_continue
            WHEN t.has_row = 1 THEN t.first_visible
            WHEN t.last_start > t.last_continue THEN t.last_start
            WHEN t.last_continue IS NOT NULL THEN t.last_continue
            WHEN t.last_start IS NOT NULL THEN t.last_start
            WHEN t.first_other IS NULL OR t.started = 1 THEN t.first_visible
            ELSE NULL
        END AS ready_at,
        t.head_id,
        t.version_id
    FROM (
        SELECT
            CASE WHEN i.instance_id IS NULL THEN 0 ELSE 1 END AS has_row,
            e.status,
            COALESCE(e.version_id, 0) AS version_id,
            (SELECT MIN(q.id) FROM duroxide.orchestrator_queue AS q WHERE q.instance_id = n.instance_id) AS head_id,
            (
                SELECT MIN(q.visible_at)
                FROM (VALUES (0), (1), (2), (3)) AS k (kind)
                CROSS APPLY (
                    SELECT MIN(p.visible_at) AS visible_at
                    FROM duroxide.orchestrator_queue AS p
                    WHERE p.instance_id = n.instance_id
                      AND p.kind = k.kind
                ) AS q
            ) AS first_visible,
            (
                SELECT MAX(q.visible_at)
                FROM duroxide.orchestrator_queue AS q
                WHERE q.instance_id = n.instance_id
                  AND q.kind = 1
            ) AS last_continue,
            (
                SELECT MAX(q.visible_at)
                FROM duroxide.orchestrator_queue AS q
                WHERE q.instance_id = n.instance_id
                  AND q.kind = 2
            ) AS last_start,
            (
                SELECT MIN(q.visible_at)
                FROM duroxide.orchestrator_queue AS q
                WHERE q.instance_id = n.instance_id
                  AND q.kind = 3
            ) AS first_other,
            CASE
                WHEN i.instance_id IS NULL AND EXISTS (
                    SELECT 1
                    FROM duroxide.history AS h
                    WHERE h.instance_id = n.instance_id
                      AND h.event_type = N'OrchestrationStarted'
                      AND h.execution_id = (
                          SELECT MAX(l.execution_id)
                          FROM duroxide.history AS l
                          WHERE l.instance_id = n.instance_id
                      )
                ) THEN 1
                ELSE 0
            END AS started
        FROM (SELECT @instance_id AS instance_id) AS n
        LEFT JOIN duroxide.instances AS i ON i.instance_id = n.instance_id
        LEFT JOIN duroxide.executions AS e ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
    ) AS t
);
