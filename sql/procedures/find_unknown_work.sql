-- Finds the oldest activity with one of the codes that has been ready since a time or longer:
-- neither hidden nor leased after it. It does not matter who owns its session. What others are
-- taking is passed over.
--
-- Helper of: lock_work_item.
-- Transaction: the caller's.
--
-- Parameters:
--   @tags   tags to look at; activities without a tag are looked at in any case
--   @codes  codes to look at, as code_names.id
--   @since  the time, in milliseconds since 1970 UTC
--   @id     the activity; NULL for none
--
-- Locks: worker_queue (by ix_worker_queue_ready and ix_worker_queue_ready_session). Nothing
--   stays locked.
--
-- Hints: READPAST passes over activities that others are writing, READCOMMITTEDLOCK takes locks
--   under row versioning as well, and ROWLOCK keeps to rows. INDEX and LOOP seek each tag and code.
--   A plan that was made for an empty table would read all of it. KEEPFIXED PLAN prevents a new plan
--   when many rows have changed, see 0005_storage.sql.
--
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.find_unknown_work
    @tags  duroxide.id_list_v1 READONLY,
    @codes duroxide.code_id_list_v1 READONLY,
    @since BIGINT,
    @id    BIGINT OUTPUT
AS
SELECT @id = MIN(n.id)
FROM @codes AS c
CROSS APPLY (
    SELECT MIN(q.id) AS id
    -- vet:allow Q1: it only looks; the claim tests again that the activity is ready
    FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_ready))
    WHERE q.ready = 1
      AND q.session_id IS NULL
      AND q.tag IS NULL
      AND q.code_id = c.code_id
      AND q.visible_at <= @since
      AND COALESCE(q.locked_until, 0) <= @since
    UNION ALL
    SELECT MIN(q.id) AS id
    -- vet:allow Q1: it only looks; the claim tests again that the activity is ready
    FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_ready_session))
    WHERE q.ready = 1
      AND q.session_id IS NOT NULL
      AND q.tag IS NULL
      AND q.code_id = c.code_id
      AND q.visible_at <= @since
      AND COALESCE(q.locked_until, 0) <= @since
    UNION ALL
    SELECT MIN(q.id) AS id
    FROM @tags AS t
    -- vet:allow Q1: it only looks; the claim tests again that the activity is ready
    INNER LOOP JOIN duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_ready))
        ON q.tag = t.id
    WHERE q.ready = 1
      AND q.session_id IS NULL
      AND q.code_id = c.code_id
      AND q.visible_at <= @since
      AND COALESCE(q.locked_until, 0) <= @since
    UNION ALL
    SELECT MIN(q.id) AS id
    FROM @tags AS t
    -- vet:allow Q1: it only looks; the claim tests again that the activity is ready
    INNER LOOP JOIN duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_ready_session))
        ON q.tag = t.id
    WHERE q.ready = 1
      AND q.session_id IS NOT NULL
      AND q.code_id = c.code_id
      AND q.visible_at <= @since
      AND COALESCE(q.locked_until, 0) <= @since
) AS n
OPTION (KEEPFIXED PLAN);
