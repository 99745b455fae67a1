-- Lists the instances and activities that have been ready since a time or longer, neither hidden
-- nor leased after it, and that wait for code that no worker has known since then.
--
-- Helper of: get_queue_depths, list_unknown_code.
--
-- Parameters:
--   @since  the time, in milliseconds since 1970 UTC
--
-- Returns: a row for each: activity is 1 for an activity and 0 for an instance, then the code's
--   name and version, and when the work became visible, in milliseconds since 1970 UTC.
--
-- Locks: inboxes (by ix_inboxes_ready), orchestrator_queue, worker_queue (shared, while it
--   reads; rows that others are writing are skipped).
--
-- Hints: INDEX and LOOP seek the instances that wait for a code, and the head of each; activities
--   are read by the primary key alone. READPAST skips rows that others are writing: a reader that
--   waited for a row while it had the row's key in the index locked would deadlock with a writer
--   that waits for the key. READCOMMITTEDLOCK makes READPAST work under row versioning, and ROWLOCK
--   locks rows instead of pages.
CREATE OR ALTER FUNCTION duroxide.unknown_work (@since BIGINT)
RETURNS TABLE
AS
RETURN (
    SELECT CAST(0 AS BIT) AS activity, c.name, c.version, q.visible_at
    FROM duroxide.unknown_codes(0, @since) AS c
    INNER LOOP JOIN duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_inboxes_ready))
        ON b.code_id = c.code_id AND b.head_id IS NOT NULL
    INNER LOOP JOIN duroxide.orchestrator_queue AS q ON q.instance_id = b.instance_id AND q.id = b.head_id
    WHERE q.visible_at <= @since
      AND COALESCE(b.locked_until, 0) <= @since
    UNION ALL
    SELECT CAST(1 AS BIT) AS activity, c.name, c.version, q.visible_at
    FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (pk_worker_queue))
    INNER JOIN duroxide.unknown_codes(1, @since) AS c ON c.code_id = q.code_id
    WHERE q.ready = 1
      AND q.visible_at <= @since
      AND COALESCE(q.locked_until, 0) <= @since
);
