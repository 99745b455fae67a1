-- Finds the next code for which an activity with one of the tags is ready, in the order of
-- code_names.id: one seek for each tag in the index of each kind of activity, with and without a
-- session. A fetch that names no code lists them with it.
--
-- Helper of: lock_work_item.
-- Transaction: none. It is called before the one in which the activity is locked.
--
-- Parameters:
--   @untagged  1 also looks at activities without a tag
--   @tags      tags to look at
--   @patient   1 waits for activities that others are taking, to see whether they are really taken; 0
--              passes over them
--   @code      the code behind which to look, -1 for the first; returns the next, NULL for none
--
-- Locks: worker_queue (by ix_worker_queue_ready and ix_worker_queue_ready_session). Nothing
--   stays locked.
--
-- Hints: READPAST passes over activities that others are writing, READCOMMITTEDLOCK takes locks
--   under row versioning as well, and ROWLOCK keeps to rows. INDEX seeks the code of each tag. A
--   plan that was made for an empty table would read all of it. KEEPFIXED PLAN prevents a new plan
--   when many rows have changed, see 0005_storage.sql.
--
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.next_ready_work_code
    @untagged BIT,
    @tags     duroxide.id_list_v1 READONLY,
    @patient  BIT,
    @code     INT OUTPUT
AS
DECLARE @after INT = @code;
IF @patient = 1
    SELECT @code = MIN(m.code_id)
    FROM (
        SELECT MIN(q.code_id) AS code_id
        FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, ROWLOCK, INDEX (ix_worker_queue_ready))
        WHERE q.ready = 1
          AND q.session_id IS NULL
          AND q.tag IS NULL
          AND q.code_id > @after
          AND @untagged = 1
        UNION ALL
        SELECT MIN(q.code_id) AS code_id
        FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, ROWLOCK, INDEX (ix_worker_queue_ready_session))
        WHERE q.ready = 1
          AND q.session_id IS NOT NULL
          AND q.tag IS NULL
          AND q.code_id > @after
          AND @untagged = 1
        UNION ALL
        SELECT MIN(n.code_id) AS code_id
        FROM @tags AS t
        CROSS APPLY (
            SELECT MIN(q.code_id) AS code_id
            FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, ROWLOCK, INDEX (ix_worker_queue_ready))
            WHERE q.ready = 1
              AND q.session_id IS NULL
              AND q.tag = t.id
              AND q.code_id > @after
            UNION ALL
            SELECT MIN(q.code_id) AS code_id
            FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, ROWLOCK, INDEX (ix_worker_queue_ready_session))
            WHERE q.ready = 1
              AND q.session_id IS NOT NULL
              AND q.tag = t.id
              AND q.code_id > @after
        ) AS n
    ) AS m
    OPTION (KEEPFIXED PLAN);
ELSE
    SELECT @code = MIN(m.code_id)
    FROM (
        SELECT MIN(q.code_id) AS code_id
        -- vet:allow Q1: it only looks, and takes nothing
        FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_ready))
        WHERE q.ready = 1
          AND q.session_id IS NULL
          AND q.tag IS NULL
          AND q.code_id > @after
          AND @untagged = 1
        UNION ALL
        SELECT MIN(q.code_id) AS code_id
        -- vet:allow Q1: it only looks, and takes nothing
        FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_ready_session))
        WHERE q.ready = 1
          AND q.session_id IS NOT NULL
          AND q.tag IS NULL
          AND q.code_id > @after
          AND @untagged = 1
        UNION ALL
        SELECT MIN(n.code_id) AS code_id
        FROM @tags AS t
        CROSS APPLY (
            SELECT MIN(q.code_id) AS code_id
            -- vet:allow Q1: it only looks, and takes nothing
            FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_ready))
            WHERE q.ready = 1
              AND q.session_id IS NULL
              AND q.tag = t.id
              AND q.code_id > @after
            UNION ALL
            SELECT MIN(q.code_id) AS code_id
            -- vet:allow Q1: it only looks, and takes nothing
            FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_ready_session))
            WHERE q.ready = 1
              AND q.session_id IS NOT NULL
              AND q.tag = t.id
              AND q.code_id > @after
        ) AS n
    ) AS m
    OPTION (KEEPFIXED PLAN);
