-- Finds the oldest activity that has one of the codes and has been ready since @since or
-- longer, that is neither hidden nor leased after it. Who owns its session does not
-- matter. What somebody is taking is left to them.
--
-- Locks: worker_queue.
-- Hints: READPAST passes over activities that another call is writing,
-- READCOMMITTEDLOCK makes it mean that under row versioning too, and ROWLOCK keeps it
-- to rows; none is kept locked. INDEX is there for the reason that find_work gives, and
-- LOOP for the same: it seeks each tag.
-- KEEPFIXED PLAN keeps the plan however many rows change: see 0005_storage_sqlserver.sql.
CREATE OR ALTER PROCEDURE duroxide.find_unknown_work
    @tags  duroxide.id_list_v1 READONLY,
    @codes duroxide.code_id_list_v1 READONLY,
    @since BIGINT,
    @id    BIGINT OUTPUT
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
SELECT @id = MIN(n.id)
FROM @codes AS c
CROSS APPLY (
    SELECT MIN(q.id) AS id
    -- vet:allow Q1: a look; the claim repeats its condition
    FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_ready))
    WHERE q.ready = 1
      AND q.session_id IS NULL
      AND q.tag IS NULL
      AND q.code_id = c.code_id
      AND q.visible_at <= @since
      AND COALESCE(q.locked_until, 0) <= @since
    UNION ALL
    SELECT MIN(q.id) AS id
    -- vet:allow Q1: a look; the claim repeats its condition
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
    -- vet:allow Q1: a look; the claim repeats its condition
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
    -- vet:allow Q1: a look; the claim repeats its condition
    INNER LOOP JOIN duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_ready_session))
        ON q.tag = t.id
    WHERE q.ready = 1
      AND q.session_id IS NOT NULL
      AND q.code_id = c.code_id
      AND q.visible_at <= @since
      AND COALESCE(q.locked_until, 0) <= @since
) AS n
OPTION (KEEPFIXED PLAN);
