-- Messages and activities in the two queues, waiting or being worked on, one row each, for
-- people and their tools. Times are UTC. The server's clock decides the state.
--
--   queue          orchestrator or worker
--   id             the order of arrival; each queue has its own numbers
--   instance_id    an id that ends in a blank has the character ␟ behind it
--   kind           StartOrchestration, ContinueAsNew, QueueMessage, Activity, or Other
--   tag            of an activity, NULL for none
--   session_id     of an activity, NULL for none
--   state          leased: a worker has it; hidden: a timer, or work that was put back
--                  for later; waiting: a queue message behind an older one, or
--                  one that its instance does not await; ready: may be taken. A message can be ready while a turn
--                  works on earlier messages of its instance: the next turn takes it. A
--                  message for an instance that was never started stays ready
--   visible_at     from when on it may be taken
--   attempt_count  how often it was taken
--   locked_until   the end of the lease, NULL without a lease
--   holder         the process that has the lease and its host, NULL without a lease
--   created_at
--
-- A count by queue and state reads indexes alone, without payloads: ix_orchestrator_queue_kind and, for messages of
-- instances that a turn has, ix_orchestrator_queue_token; of activities those of what is ready and of what is not.
CREATE OR ALTER VIEW duroxide.v_queues
AS
SELECT
    a.queue,
    a.id,
    a.instance_id,
    a.kind,
    a.tag,
    a.session_id,
    a.state,
    v.utc AS visible_at,
    a.attempt_count,
    l.utc AS locked_until,
    a.holder,
    c.utc AS created_at
FROM (
    SELECT
        CAST(N'orchestrator' AS NVARCHAR(16)) AS queue,
        m.id,
        m.instance_id,
        CAST(CASE m.kind WHEN 0 THEN N'QueueMessage' WHEN 4 THEN N'QueueMessage' WHEN 1 THEN N'ContinueAsNew' WHEN 2 THEN N'StartOrchestration' ELSE N'Other' END
            AS NVARCHAR(32)) AS kind,
        CAST(NULL AS NVARCHAR(400)) AS tag,
        CAST(NULL AS NVARCHAR(400)) AS session_id,
        CAST(CASE WHEN m.locked_until IS NOT NULL THEN N'leased' WHEN m.visible_at > m.now THEN N'hidden' WHEN m.kind = 4 THEN N'waiting' ELSE N'ready' END
            AS NVARCHAR(16)) AS state,
        m.visible_at,
        m.attempt_count,
        m.locked_until,
        m.holder,
        m.created_at
    FROM (
        SELECT
            q.id, q.instance_id, q.kind, q.visible_at, q.created_at, n.now,
            q.attempt_count + CASE WHEN b.claimed_at IS NULL THEN 0 ELSE 1 END AS attempt_count,
            CASE WHEN b.locked_until > n.now THEN b.locked_until END AS locked_until,
            CASE WHEN b.locked_until > n.now THEN b.holder END AS holder
        FROM duroxide.orchestrator_queue AS q
        CROSS JOIN (SELECT DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) AS now) AS n
        -- By a seek for each message: most inboxes are of instances that have none.
        OUTER APPLY (
            SELECT TOP (1) x.locked_until, x.claimed_at, x.holder
            FROM duroxide.inboxes AS x
            WHERE x.instance_id = q.instance_id AND x.claimed_at >= q.visible_at AND x.claimed_to >= q.id
            ORDER BY x.instance_id
        ) AS b
    ) AS m
    UNION ALL
    SELECT
        CAST(N'worker' AS NVARCHAR(16)) AS queue,
        w.id,
        w.instance_id,
        CAST(N'Activity' AS NVARCHAR(32)) AS kind,
        NULLIF(w.tag, N'') AS tag,
        w.session_id,
        w.state,
        w.visible_at,
        w.attempt_count,
        w.locked_until,
        w.holder,
        w.created_at
    FROM (
        SELECT q.id, q.instance_id, q.tag, q.session_id, q.visible_at, q.attempt_count, q.created_at,
            CAST(N'ready' AS NVARCHAR(16)) AS state, CAST(NULL AS BIGINT) AS locked_until, CAST(NULL AS NVARCHAR(200)) AS holder
        FROM duroxide.worker_queue AS q
        WHERE q.ready = 1 AND q.session_id IS NULL
        UNION ALL
        SELECT q.id, q.instance_id, q.tag, q.session_id, q.visible_at, q.attempt_count, q.created_at,
            CAST(N'ready' AS NVARCHAR(16)) AS state, CAST(NULL AS BIGINT) AS locked_until, CAST(NULL AS NVARCHAR(200)) AS holder
        FROM duroxide.worker_queue AS q
        WHERE q.ready = 1 AND q.session_id IS NOT NULL
        UNION ALL
        SELECT q.id, q.instance_id, q.tag, q.session_id, q.visible_at, q.attempt_count, q.created_at,
            CAST(CASE WHEN q.wake_at <= n.now THEN N'ready' WHEN q.lock_token IS NULL THEN N'hidden' ELSE N'leased' END AS NVARCHAR(16)) AS state,
            CASE WHEN q.wake_at > n.now AND q.lock_token IS NOT NULL THEN q.wake_at END AS locked_until,
            CASE WHEN q.wake_at > n.now AND q.lock_token IS NOT NULL THEN q.holder END AS holder
        FROM duroxide.worker_queue AS q
        CROSS JOIN (SELECT DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) AS now) AS n
        WHERE q.ready = 0
    ) AS w
) AS a
CROSS APPLY duroxide.utc_time(a.visible_at) AS v
CROSS APPLY duroxide.utc_time(a.locked_until) AS l
CROSS APPLY duroxide.utc_time(a.created_at) AS c;
GO
GRANT SELECT ON duroxide.v_queues TO duroxide_reader;
