-- Computes whether an instance that nobody holds may be claimed, which of its messages decides its
-- place in the line, and when to compute the answer again. The rules are the contract's:
--   * An instance with a row waits while its current execution has ended as ContinuedAsNew and the
--     message that starts the next execution is hidden: the turn would drop other messages as
--     leftovers of the old execution.
--   * An instance without a row waits while its start is hidden. Otherwise it needs a visible start, or
--     a history with a start, or nothing but queue messages: nobody will read those, and the claim
--     drops them.
-- Each minimum, maximum and test is one seek for each kind of message.
-- Helper of: ready_due_inboxes, refresh_inbox, refresh_inboxes.
-- Parameters:
--   @now      the present time, in milliseconds since 1970 UTC
--   @head_id  the answer's head if the caller knows that it is there; NULL looks for it
-- Returns: one row. version_id is the framework's version of the current execution. code_id is the code that the next
--   turn runs, 0 for any worker: the code of the current execution while it runs, of the message that starts the next
--   execution, or of the first start of an instance without a row. head_id is the oldest visible message, NULL if the
--   instance may not be claimed. wake_at is when the next hidden message becomes visible, in milliseconds since 1970
--   UTC; NULL for never.
-- Locks: instances, executions, orchestrator_queue, history (read, by the primary key).
CREATE OR ALTER FUNCTION duroxide.inbox_state (@instance_id NVARCHAR(400), @now BIGINT, @head_id BIGINT)
RETURNS TABLE
AS
RETURN (
    SELECT
        t.version_id,
        CASE
            WHEN t.status = N'Running' THEN t.code_id
            WHEN t.has_row = 1 AND t.status <> N'ContinuedAsNew' THEN 0
            WHEN t.last_execution IS NOT NULL THEN 0
            ELSE COALESCE((
                SELECT TOP (1) n.code_id
                FROM (VALUES (CAST(1 AS TINYINT)), (CAST(2 AS TINYINT))) AS k (kind)
                CROSS APPLY (
                    SELECT TOP (1) q.id, q.code_id
                    FROM duroxide.orchestrator_queue AS q WITH (INDEX (pk_orchestrator_queue))
                    WHERE q.instance_id = t.instance_id AND q.kind = k.kind AND q.visible_at <= @now
                    ORDER BY q.id
                ) AS n
                WHERE k.kind = 1
                   OR t.has_row = 0
                ORDER BY k.kind
            ), 0)
        END AS code_id,
        CASE
            WHEN t.has_row = 1 AND t.status = N'ContinuedAsNew' AND t.last_continue > @now THEN NULL
            WHEN t.has_row = 0 AND (t.last_continue > @now OR t.last_start > @now) THEN NULL
            WHEN t.has_row = 0 AND t.last_continue IS NULL AND t.last_start IS NULL AND t.others = 1
                AND NOT EXISTS (
                    SELECT 1 FROM duroxide.history AS h WITH (INDEX (pk_history)) WHERE h.instance_id = t.instance_id
                      AND h.execution_id = t.last_execution
                      AND h.event_type = N'OrchestrationStarted'
                ) THEN NULL
            WHEN @head_id IS NOT NULL THEN @head_id
            ELSE (
                SELECT MIN(v.id)
                FROM (VALUES (CAST(0 AS TINYINT)), (CAST(1 AS TINYINT)), (CAST(2 AS TINYINT)), (CAST(3 AS TINYINT))) AS k (kind)
                CROSS APPLY (
                    SELECT MIN(q.id) AS id
                    FROM duroxide.orchestrator_queue AS q WITH (INDEX (pk_orchestrator_queue))
                    WHERE q.instance_id = t.instance_id AND q.kind = k.kind AND q.visible_at <= @now
                ) AS v
            )
        END AS head_id,
        (
            SELECT MIN(h.visible_at)
            FROM (VALUES (CAST(0 AS TINYINT)), (CAST(1 AS TINYINT)), (CAST(2 AS TINYINT)), (CAST(3 AS TINYINT))) AS k (kind)
            CROSS APPLY (
                SELECT MIN(q.visible_at) AS visible_at
                FROM duroxide.orchestrator_queue AS q WITH (INDEX (pk_orchestrator_queue))
                WHERE q.instance_id = t.instance_id AND q.kind = k.kind AND q.visible_at > @now
            ) AS h
        ) AS wake_at
    FROM (
        SELECT
            n.instance_id,
            CASE WHEN i.instance_id IS NULL THEN 0 ELSE 1 END AS has_row,
            e.status,
            COALESCE(e.version_id, 0) AS version_id,
            e.code_id,
            (
                SELECT MAX(q.visible_at)
                FROM duroxide.orchestrator_queue AS q WITH (INDEX (pk_orchestrator_queue))
                WHERE q.instance_id = n.instance_id AND q.kind = 1
            ) AS last_continue,
            (
                SELECT MAX(q.visible_at)
                FROM duroxide.orchestrator_queue AS q WITH (INDEX (pk_orchestrator_queue))
                WHERE q.instance_id = n.instance_id AND q.kind = 2
            ) AS last_start,
            CASE
                WHEN EXISTS (
                    SELECT 1 FROM duroxide.orchestrator_queue AS q WITH (INDEX (pk_orchestrator_queue))
                    WHERE q.instance_id = n.instance_id AND q.kind = 3
                ) THEN 1
                ELSE 0
            END AS others,
            -- Only for an instance without a row.
            CASE WHEN i.instance_id IS NULL THEN (
                SELECT TOP (1) h.execution_id
                FROM duroxide.history AS h WITH (INDEX (pk_history))
                WHERE h.instance_id = n.instance_id
                ORDER BY h.execution_id DESC
            ) END AS last_execution
        FROM (SELECT @instance_id COLLATE Latin1_General_100_BIN2 AS instance_id) AS n
        LEFT JOIN duroxide.instances AS i WITH (INDEX (pk_instances)) ON i.instance_id = n.instance_id
        LEFT JOIN duroxide.executions AS e WITH (INDEX (pk_executions))
            ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
    ) AS t
);
