-- Lists the instances and activities that are ready and that wait for code that no worker has known since a time: no
-- fetch since then has named a set that has the code and takes the activity's tag. It skips rows that others are
-- writing: waiting for a row with the row's key in an index locked would deadlock with a writer that waits for the
-- key.
-- Helper of: get_queue_depths, list_unknown_code.
-- Parameters:
--   @now, @since  milliseconds since 1970 UTC
-- Returns: a row for each: activity is 1 for an activity and 0 for an instance, then the code, the activity's tag,
--   the instance, and when the work became visible, in milliseconds since 1970 UTC.
-- Locks: inboxes (by ix_inboxes_ready), orchestrator_queue, worker_queue, code_names, known_code, known_code_names,
--   known_code_tags (read).
CREATE OR ALTER FUNCTION duroxide.unknown_work (@now BIGINT, @since BIGINT)
RETURNS TABLE
AS
RETURN (
    SELECT CAST(0 AS BIT) AS activity, c.code_id, c.name, c.version, CAST(N'' AS NVARCHAR(400)) AS tag, b.instance_id, q.visible_at
    FROM duroxide.unknown_codes(0, @since) AS c
    INNER LOOP JOIN duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_inboxes_ready))
        ON b.code_id = c.code_id AND b.head_id IS NOT NULL
    INNER LOOP JOIN duroxide.orchestrator_queue AS q ON q.instance_id = b.instance_id AND q.id = b.head_id
    WHERE q.visible_at <= @now AND COALESCE(b.locked_until, 0) <= @now
    UNION ALL
    SELECT CAST(1 AS BIT) AS activity, n.id AS code_id, n.name, n.version, q.tag, q.instance_id, q.visible_at
    FROM (
        SELECT w.code_id, w.tag
        FROM duroxide.worker_queue AS w WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (pk_worker_queue))
        WHERE w.ready = 1
        GROUP BY w.code_id, w.tag
    ) AS g
    INNER JOIN duroxide.code_names AS n ON n.id = g.code_id
    INNER JOIN duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (pk_worker_queue))
        ON q.code_id = g.code_id AND q.tag = g.tag
    WHERE q.ready = 1 AND q.visible_at <= @now AND COALESCE(q.locked_until, 0) <= @now
      AND NOT EXISTS (
          SELECT 1 FROM duroxide.known_code_names AS kn WITH (INDEX (ix_known_code_names_code))
          INNER JOIN duroxide.known_code AS k ON k.id = kn.known_id
          INNER JOIN duroxide.known_code_tags AS kt ON kt.known_id = k.id
          WHERE kn.code_id = g.code_id AND k.activity = 1 AND k.seen_at > @since
            AND kt.tag IN (N'*', N'+' + g.tag)
      )
);
