-- Finds the next tag of which an activity is ready, in the order of the tags: one seek in the
-- index of each kind of activity, with and without a session. A fetch that takes any tag lists
-- them with it.
--
-- Helper of: lock_work_item.
-- Transaction: none. It is called before the one in which the activity is locked.
--
-- Parameters:
--   @patient  1 waits for activities that others are taking, to see whether they are really taken; 0
--             passes over them
--   @tag      the tag behind which to look, NULL for the first; returns the next, NULL for none
--
-- Locks: worker_queue (by ix_worker_queue_ready and ix_worker_queue_ready_session). Nothing
--   stays locked.
--
-- Hints: READPAST passes over activities that others are writing, READCOMMITTEDLOCK takes locks
--   under row versioning as well, and ROWLOCK keeps to rows. INDEX seeks the tag. A plan that was
--   made for an empty table would read all of it. KEEPFIXED PLAN prevents a new plan when many rows
--   have changed, see 0005_storage.sql.
--
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.next_ready_tag
    @patient BIT,
    @tag     NVARCHAR(400) OUTPUT
AS
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
        -- vet:allow Q1: it only looks, and takes nothing
        FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_ready))
        WHERE q.ready = 1
          AND q.session_id IS NULL
          AND q.tag > @after
        UNION ALL
        SELECT MIN(q.tag) AS tag
        -- vet:allow Q1: it only looks, and takes nothing
        FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_ready))
        WHERE q.ready = 1
          AND q.session_id IS NULL
          AND q.tag IS NOT NULL
          AND @after IS NULL
        UNION ALL
        SELECT MIN(q.tag) AS tag
        -- vet:allow Q1: it only looks, and takes nothing
        FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_ready_session))
        WHERE q.ready = 1
          AND q.session_id IS NOT NULL
          AND q.tag > @after
        UNION ALL
        SELECT MIN(q.tag) AS tag
        -- vet:allow Q1: it only looks, and takes nothing
        FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_ready_session))
        WHERE q.ready = 1
          AND q.session_id IS NOT NULL
          AND q.tag IS NOT NULL
          AND @after IS NULL
    ) AS m
    OPTION (KEEPFIXED PLAN);
