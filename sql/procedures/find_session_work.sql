-- Finds the oldest ready activity of a session that the owner has or may claim, and that has one
-- of the codes. It looks at the first 20 activities of each tag and code. If all of those belong
-- to sessions of other owners, one of which may have a very long queue, it then looks at each
-- session once. It stops at activities that are not older than what the caller has found without
-- sessions.
--
-- Helper of: lock_work_item.
-- Transaction: the caller's.
--
-- Parameters:
--   @owner     who would have the session
--   @now       the present time, in milliseconds since 1970 UTC
--   @untagged  1 also looks at activities without a tag
--   @tags      tags to look at
--   @codes     codes to look at, as code_names.id; 0 is what any worker may take
--   @from_id   leaves lower ids out of the first 20
--   @patient   1 skips nothing, and waits for activities that others are taking, to see whether they are
--              really taken
--   @before    the id of what the caller has found; NULL for nothing
--   @id        the activity; NULL for none
--
-- Locks: worker_queue (by ix_worker_queue_ready_session and ix_worker_queue_session), sessions
--   (shared, by pk_sessions). Nothing stays locked.
--
-- Hints: READPAST passes over activities that others are writing, READCOMMITTEDLOCK takes locks
--   under row versioning as well, and ROWLOCK keeps to rows. INDEX and the condition on locked_until
--   are explained in find_work. FORCESEEK looks at a session by its key alone. KEEPFIXED PLAN
--   prevents a new plan when many rows have changed, see 0005_storage.sql.
--
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.find_session_work
    @owner    NVARCHAR(400),
    @now      BIGINT,
    @untagged BIT,
    @tags     duroxide.id_list_v1 READONLY,
    @codes    duroxide.code_id_list_v1 READONLY,
    @from_id  BIGINT,
    @patient  BIT,
    @before   BIGINT,
    @id       BIGINT OUTPUT
AS
DECLARE @first TABLE (
    id         BIGINT        NOT NULL PRIMARY KEY,
    session_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    tag        NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NULL,
    code_id    INT           NOT NULL
);
DECLARE @session_id NVARCHAR(400), @oldest BIGINT;

IF @patient = 1
    INSERT INTO @first (id, session_id, tag, code_id)
    SELECT u.id, u.session_id, CAST(NULL AS NVARCHAR(400)), c.code_id
    FROM @codes AS c
    CROSS APPLY (
        SELECT TOP (20) q.id, q.session_id
        FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, ROWLOCK, INDEX (ix_worker_queue_ready_session))
        WHERE q.ready = 1
          AND q.session_id IS NOT NULL
          AND q.tag IS NULL
          AND q.code_id = c.code_id
          AND @untagged = 1
        ORDER BY q.id
    ) AS u
    UNION ALL
    SELECT n.id, n.session_id, t.id, c.code_id
    FROM @tags AS t
    CROSS JOIN @codes AS c
    CROSS APPLY (
        SELECT TOP (20) q.id, q.session_id
        FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, ROWLOCK, INDEX (ix_worker_queue_ready_session))
        WHERE q.ready = 1
          AND q.session_id IS NOT NULL
          AND q.tag = t.id
          AND q.code_id = c.code_id
        ORDER BY q.id
    ) AS n
    OPTION (KEEPFIXED PLAN);
ELSE
    INSERT INTO @first (id, session_id, tag, code_id)
    SELECT u.id, u.session_id, CAST(NULL AS NVARCHAR(400)), c.code_id
    FROM @codes AS c
    CROSS APPLY (
        SELECT TOP (20) q.id, q.session_id
        -- vet:allow Q1: it only looks; the claim tests again that the activity is ready
        FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_ready_session))
        WHERE q.ready = 1
          AND q.session_id IS NOT NULL
          AND q.tag IS NULL
          AND q.code_id = c.code_id
          AND @untagged = 1
          AND q.id >= @from_id
          AND COALESCE(q.locked_until, 0) >= 0
        ORDER BY q.id
    ) AS u
    UNION ALL
    SELECT n.id, n.session_id, t.id, c.code_id
    FROM @tags AS t
    CROSS JOIN @codes AS c
    CROSS APPLY (
        SELECT TOP (20) q.id, q.session_id
        -- vet:allow Q1: it only looks; the claim tests again that the activity is ready
        FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_ready_session))
        WHERE q.ready = 1
          AND q.session_id IS NOT NULL
          AND q.tag = t.id
          AND q.code_id = c.code_id
          AND q.id >= @from_id
          AND COALESCE(q.locked_until, 0) >= 0
        ORDER BY q.id
    ) AS n
    OPTION (KEEPFIXED PLAN);

SELECT @id = MIN(f.id)
FROM @first AS f
WHERE NOT EXISTS (
    SELECT 1
    FROM duroxide.sessions AS s WITH (READCOMMITTEDLOCK, FORCESEEK (pk_sessions (session_id)))
    WHERE s.session_id = f.session_id
      AND s.locked_until > @now
      AND s.worker_id <> @owner
)
OPTION (KEEPFIXED PLAN);
-- Beyond the first of a tag and code there can be something older than what was found, here or
-- by the caller, only if all of them are older than it.
IF NOT EXISTS (
    SELECT 1
    FROM @first AS f
    GROUP BY f.tag, f.code_id
    HAVING COUNT(*) >= 20 AND (@id IS NULL OR MAX(f.id) < @id) AND (@before IS NULL OR MAX(f.id) < @before)
)
    RETURN;

SELECT @session_id = MIN(q.session_id)
-- vet:allow Q1: it only looks, and takes nothing
FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_session))
WHERE q.ready = 1
  AND q.session_id IS NOT NULL
OPTION (KEEPFIXED PLAN);
WHILE @session_id IS NOT NULL
BEGIN
    SET @oldest = NULL;
    IF NOT EXISTS (
        SELECT 1
        FROM duroxide.sessions AS s WITH (READCOMMITTEDLOCK, FORCESEEK (pk_sessions (session_id)))
        WHERE s.session_id = @session_id
          AND s.locked_until > @now
          AND s.worker_id <> @owner
    )
        SELECT @oldest = MIN(q.id)
        -- vet:allow Q1: it only looks; the claim tests again that the activity is ready
        FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_session))
        WHERE q.session_id = @session_id
          AND q.session_id IS NOT NULL
          AND q.ready = 1
          AND q.code_id IN (SELECT c.code_id FROM @codes AS c)
          AND ((q.tag IS NULL AND @untagged = 1) OR q.tag IN (SELECT t.id FROM @tags AS t))
        OPTION (KEEPFIXED PLAN);
    IF @oldest IS NOT NULL AND (@id IS NULL OR @oldest < @id)
        SET @id = @oldest;
    SELECT @session_id = MIN(q.session_id)
    -- vet:allow Q1: it only looks, and takes nothing
    FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_session))
    WHERE q.ready = 1
      AND q.session_id IS NOT NULL
      AND q.session_id > @session_id
    OPTION (KEEPFIXED PLAN);
END;
