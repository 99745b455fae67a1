-- Finds the least tag of a ready activity that is greater than @tag, or the least of
-- all if @tag is NULL: one seek in the index of either kind of activity. A worker that
-- takes any tag lists them with it. NULL is the end.
--
-- Hints: READPAST does not wait for activities that somebody is taking: with @patient = 1
-- it does, to see whether they are really taken. READCOMMITTEDLOCK makes it mean that
-- under row versioning too, and ROWLOCK keeps it to rows; INDEX is there for the reason
-- that find_work gives.
-- KEEPFIXED PLAN keeps the plan however many rows change: see 0005_storage_sqlserver.sql.
CREATE OR ALTER PROCEDURE duroxide.next_ready_tag
    @patient BIT,
    @tag     NVARCHAR(400) OUTPUT
AS
SET NOCOUNT ON;
DECLARE @after NVARCHAR(400) = @tag;
IF @patient = 1
    SELECT @tag = MIN(m.tag)
    FROM (
        SELECT MIN(q.tag) AS tag
        FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, ROWLOCK, INDEX (ix_worker_queue_ready))
        WHERE q.ready = 1
          AND q.session_id IS NULL
          AND q.tag > @after
        UNION ALL
        SELECT MIN(q.tag) AS tag
        FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, ROWLOCK, INDEX (ix_worker_queue_ready))
        WHERE q.ready = 1
          AND q.session_id IS NULL
          AND q.tag IS NOT NULL
          AND @after IS NULL
        UNION ALL
        SELECT MIN(q.tag) AS tag
        FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, ROWLOCK, INDEX (ix_worker_queue_ready_session))
        WHERE q.ready = 1
          AND q.session_id IS NOT NULL
          AND q.tag > @after
        UNION ALL
        SELECT MIN(q.tag) AS tag
        FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, ROWLOCK, INDEX (ix_worker_queue_ready_session))
        WHERE q.ready = 1
          AND q.session_id IS NOT NULL
          AND q.tag IS NOT NULL
          AND @after IS NULL
    ) AS m
    OPTION (KEEPFIXED PLAN);
ELSE
    SELECT @tag = MIN(m.tag)
    FROM (
        SELECT MIN(q.tag) AS tag
        -- vet:allow Q1: a look that takes nothing
        FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_ready))
        WHERE q.ready = 1
          AND q.session_id IS NULL
          AND q.tag > @after
        UNION ALL
        SELECT MIN(q.tag) AS tag
        -- vet:allow Q1: a look that takes nothing
        FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_ready))
        WHERE q.ready = 1
          AND q.session_id IS NULL
          AND q.tag IS NOT NULL
          AND @after IS NULL
        UNION ALL
        SELECT MIN(q.tag) AS tag
        -- vet:allow Q1: a look that takes nothing
        FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_ready_session))
        WHERE q.ready = 1
          AND q.session_id IS NOT NULL
          AND q.tag > @after
        UNION ALL
        SELECT MIN(q.tag) AS tag
        -- vet:allow Q1: a look that takes nothing
        FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_ready_session))
        WHERE q.ready = 1
          AND q.session_id IS NOT NULL
          AND q.tag IS NOT NULL
          AND @after IS NULL
    ) AS m
    OPTION (KEEPFIXED PLAN);
