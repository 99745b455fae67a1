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
--   created_at
--
-- Hints: INDEX reads each row by its primary key, since writers lock a row first and its keys
-- in other indexes after it. HASH reads all messages before the first lease. So a reader that waits
-- for a lease has no message locked: the writer that ends the lease needs those messages next.
CREATE OR ALTER VIEW duroxide.v_queues
AS
SELECT
    a.queue,
    a.id,
    a.instance_id,
    a.kind,
    a.tag,
    a.session_id,
    CASE
        WHEN a.locked_until > a.now THEN N'leased'
        WHEN a.visible_at > a.now THEN N'hidden'
        WHEN a.waits = 1 THEN N'waiting'
        ELSE N'ready'
    END AS state,
    v.utc AS visible_at,
    a.attempt_count,
    l.utc AS locked_until,
    c.utc AS created_at
FROM (
    SELECT
        CAST(N'orchestrator' AS NVARCHAR(16)) AS queue,
        q.id,
        q.instance_id,
        CAST(CASE q.kind WHEN 0 THEN N'QueueMessage' WHEN 4 THEN N'QueueMessage' WHEN 1 THEN N'ContinueAsNew' WHEN 2 THEN N'StartOrchestration' ELSE N'Other' END
            AS NVARCHAR(32)) AS kind,
        CAST(NULL AS NVARCHAR(400)) AS tag,
        CAST(NULL AS NVARCHAR(400)) AS session_id,
        q.visible_at,
        q.attempt_count + CASE WHEN b.claimed_at IS NULL THEN 0 ELSE 1 END AS attempt_count,
        CASE WHEN b.locked_until > n.now THEN b.locked_until END AS locked_until,
        q.created_at,
        n.now,
        CAST(CASE q.kind WHEN 4 THEN 1 ELSE 0 END AS BIT) AS waits
    FROM duroxide.orchestrator_queue AS q WITH (INDEX (pk_orchestrator_queue))
    CROSS JOIN (SELECT DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) AS now) AS n
    LEFT OUTER HASH JOIN duroxide.inboxes AS b WITH (INDEX (pk_inboxes)) ON b.instance_id = q.instance_id AND b.claimed_at >= q.visible_at AND b.claimed_to >= q.id
    UNION ALL
    SELECT
        CAST(N'worker' AS NVARCHAR(16)) AS queue,
        q.id,
        q.instance_id,
        CAST(N'Activity' AS NVARCHAR(32)) AS kind,
        NULLIF(q.tag, N'') AS tag,
        q.session_id,
        q.visible_at,
        q.attempt_count,
        CASE WHEN q.lock_token IS NOT NULL AND q.locked_until > n.now THEN q.locked_until END AS locked_until,
        q.created_at,
        n.now,
        CAST(0 AS BIT) AS waits
    FROM duroxide.worker_queue AS q WITH (INDEX (pk_worker_queue))
    CROSS JOIN (SELECT DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) AS now) AS n
) AS a
CROSS APPLY duroxide.utc_time(a.visible_at) AS v
CROSS APPLY duroxide.utc_time(a.locked_until) AS l
CROSS APPLY duroxide.utc_time(a.created_at) AS c;
GO
GRANT SELECT ON duroxide.v_queues TO duroxide_reader;
