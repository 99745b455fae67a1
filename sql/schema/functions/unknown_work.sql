-- Lists the instances and activities that have been ready since @since or longer, that is
-- neither hidden nor leased after it, and wait for code that nobody has known since then.
--
-- Hints: INDEX and LOOP find the instances that wait for a code, and the message of each
-- that is its head, by a seek, even if the plan was made for empty tables (rule Q9).
-- READPAST passes over what somebody is writing, which READCOMMITTEDLOCK makes it mean
-- under row versioning too, and ROWLOCK keeps it to rows: who waited for a row, with its
-- key in the index locked, would wait for a writer that waits for that key.
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
    FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK)
    INNER JOIN duroxide.unknown_codes(1, @since) AS c ON c.code_id = q.code_id
    WHERE q.ready = 1
      AND q.visible_at <= @since
      AND COALESCE(q.locked_until, 0) <= @since
);
