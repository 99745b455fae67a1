-- Finds the least code greater than @code for which an activity with one of the tags is
-- ready: one seek for each tag, and one for untagged ones, in the index of either kind
-- of activity. A fetch that takes any code lists them with it. NULL is the end.
--
-- Hints: READPAST does not wait for activities that somebody is taking; with @patient = 1
-- it does, to see whether they are really taken. READCOMMITTEDLOCK makes it mean that
-- under row versioning too, and ROWLOCK keeps it to rows; INDEX is there for the reason
-- that find_work gives.
-- KEEPFIXED PLAN keeps the plan however many rows change: see 0005_storage_sqlserver.sql.
CREATE OR ALTER PROCEDURE duroxide.next_ready_work_code
    @untagged BIT,
    @tags     duroxide.id_list_v1 READONLY,
    @patient  BIT,
    @code     INT OUTPUT
AS
SET NOCOUNT ON;
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
        -- vet:allow Q1: a look that takes nothing
        FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_ready))
        WHERE q.ready = 1
          AND q.session_id IS NULL
          AND q.tag IS NULL
          AND q.code_id > @after
          AND @untagged = 1
        UNION ALL
        SELECT MIN(q.code_id) AS code_id
        -- vet:allow Q1: a look that takes nothing
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
            -- vet:allow Q1: a look that takes nothing
            FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_ready))
            WHERE q.ready = 1
              AND q.session_id IS NULL
              AND q.tag = t.id
              AND q.code_id > @after
            UNION ALL
            SELECT MIN(q.code_id) AS code_id
            -- vet:allow Q1: a look that takes nothing
            FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_ready_session))
            WHERE q.ready = 1
              AND q.session_id IS NOT NULL
              AND q.tag = t.id
              AND q.code_id > @after
        ) AS n
    ) AS m
    OPTION (KEEPFIXED PLAN);
