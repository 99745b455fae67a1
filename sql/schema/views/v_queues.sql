-- What waits in the two queues or is being worked on, one row per message or
-- activity, for people and their tools. Times are UTC, and the state is that of the
-- moment by the server's clock.
--
--   queue          orchestrator or worker
--   id             the order of arrival; each queue counts by itself
--   instance_id    an id that ends in a blank has the character ␟ behind it
--   kind           StartOrchestration, ContinueAsNew, QueueMessage, Activity, or Other
--   tag            of an activity, NULL for none
--   session_id     of an activity, NULL for none
--   state          leased: somebody works on it; hidden: a timer, or what was put back
--                  for later; ready: may be taken. A message can be ready while a turn
--                  works on earlier ones of its instance: it is taken by the next. One
--                  of an instance that was never started is ready until it is
--   visible_at     from when on it may be taken
--   attempt_count  how often it was taken
--   locked_until   the end of the lease, NULL without one
--   created_at
--
-- Hints: INDEX reads each row by its primary key: whoever writes a row locks it first and its keys
-- in other indexes after it. HASH has read all messages before the first lease: who waits for a
-- lease has no message locked, which whoever ends the lease needs next.
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
        CAST(CASE q.kind WHEN 0 THEN N'QueueMessage' WHEN 1 THEN N'ContinueAsNew' WHEN 2 THEN N'StartOrchestration' ELSE N'Other' END
            AS NVARCHAR(32)) AS kind,
        CAST(NULL AS NVARCHAR(400)) AS tag,
        CAST(NULL AS NVARCHAR(400)) AS session_id,
        q.visible_at,
        q.attempt_count,
        CASE WHEN b.locked_until > n.now THEN b.locked_until END AS locked_until,
        q.created_at,
        n.now
    FROM duroxide.orchestrator_queue AS q WITH (INDEX (pk_orchestrator_queue))
    CROSS JOIN (SELECT DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) AS now) AS n
    LEFT OUTER HASH JOIN duroxide.inboxes AS b WITH (INDEX (pk_inboxes)) ON b.instance_id = q.instance_id AND b.lock_token = q.lock_token
    UNION ALL
    SELECT
        CAST(N'worker' AS NVARCHAR(16)) AS queue,
        q.id,
        q.instance_id,
        CAST(N'Activity' AS NVARCHAR(32)) AS kind,
        q.tag,
        q.session_id,
        q.visible_at,
        q.attempt_count,
        CASE WHEN q.lock_token IS NOT NULL AND q.locked_until > n.now THEN q.locked_until END AS locked_until,
        q.created_at,
        n.now
    FROM duroxide.worker_queue AS q WITH (INDEX (pk_worker_queue))
    CROSS JOIN (SELECT DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) AS now) AS n
) AS a
CROSS APPLY duroxide.utc_time(a.visible_at) AS v
CROSS APPLY duroxide.utc_time(a.locked_until) AS l
CROSS APPLY duroxide.utc_time(a.created_at) AS c;
GO
GRANT SELECT ON duroxide.v_queues TO duroxide_reader;
