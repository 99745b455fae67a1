-- Finds the oldest ready activity of a session that the owner holds or may claim.
-- Usually it is among the first few of each tag, which are looked at one by one. If
-- those of a tag all belong to sessions of others, of which one may have a very long
-- queue, each session is looked at once instead: a few seeks for each that has ready
-- work. Nothing is looked for that is not older than what the caller has found without
-- sessions (@before, NULL for nothing).
--
-- With @patient = 1 it waits for activities that somebody is taking, to see whether they
-- are really taken.
--
-- Locks: worker_queue, sessions.
-- Hints: READPAST passes over activities that another call is writing,
-- READCOMMITTEDLOCK makes it mean that under row versioning too, and ROWLOCK keeps it
-- to rows; none is kept locked, since the first few are more than will be taken. INDEX
-- and the end of the lease are there for the reasons that find_work gives.
-- vet:allow Q12-guard: fetch_work_item has asked
CREATE OR ALTER PROCEDURE duroxide.find_session_work
    @owner    NVARCHAR(400),
    @now      BIGINT,
    @untagged BIT,
    @tags     duroxide.id_list_v1 READONLY,
    @patient  BIT,
    @before   BIGINT,
    @id       BIGINT OUTPUT
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
DECLARE @first TABLE (
    id         BIGINT        NOT NULL PRIMARY KEY,
    session_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    tag        NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NULL
);
DECLARE @session_id NVARCHAR(400), @oldest BIGINT;

IF @patient = 1
    INSERT INTO @first (id, session_id, tag)
    SELECT u.id, u.session_id, CAST(NULL AS NVARCHAR(400))
    FROM (
        SELECT TOP (20) q.id, q.session_id
        FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, INDEX (ix_worker_queue_ready_session))
        WHERE q.ready = 1
          AND q.session_id IS NOT NULL
          AND q.tag IS NULL
          AND @untagged = 1
        ORDER BY q.id
    ) AS u
    UNION ALL
    SELECT n.id, n.session_id, t.id
    FROM @tags AS t
    CROSS APPLY (
        SELECT TOP (20) q.id, q.session_id
        FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, INDEX (ix_worker_queue_ready_session))
        WHERE q.ready = 1
          AND q.session_id IS NOT NULL
          AND q.tag = t.id
        ORDER BY q.id
    ) AS n;
ELSE
    INSERT INTO @first (id, session_id, tag)
    SELECT u.id, u.session_id, CAST(NULL AS NVARCHAR(400))
    FROM (
        SELECT TOP (20) q.id, q.session_id
        -- vet:allow Q1: a look; the claim repeats its condition
        FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_ready_session))
        WHERE q.ready = 1
          AND q.session_id IS NOT NULL
          AND q.tag IS NULL
          AND @untagged = 1
          AND COALESCE(q.locked_until, 0) >= 0
        ORDER BY q.id
    ) AS u
    UNION ALL
    SELECT n.id, n.session_id, t.id
    FROM @tags AS t
    CROSS APPLY (
        SELECT TOP (20) q.id, q.session_id
        -- vet:allow Q1: a look; the claim repeats its condition
        FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_ready_session))
        WHERE q.ready = 1
          AND q.session_id IS NOT NULL
          AND q.tag = t.id
          AND COALESCE(q.locked_until, 0) >= 0
        ORDER BY q.id
    ) AS n;

SELECT @id = MIN(f.id)
FROM @first AS f
WHERE NOT EXISTS (
    SELECT 1
    FROM duroxide.sessions AS s WITH (READCOMMITTEDLOCK)
    WHERE s.session_id = f.session_id
      AND s.locked_until > @now
      AND s.worker_id <> @owner
);
-- Beyond the first of a tag there can be something older than what was found, here or
-- by the caller, only if all of them are older than it.
IF NOT EXISTS (
    SELECT 1
    FROM @first AS f
    GROUP BY f.tag
    HAVING COUNT(*) >= 20 AND (@id IS NULL OR MAX(f.id) < @id) AND (@before IS NULL OR MAX(f.id) < @before)
)
    RETURN;

SELECT @session_id = MIN(q.session_id)
-- vet:allow Q1: a look; the claim repeats its condition
FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, INDEX (ix_worker_queue_session))
WHERE q.ready = 1
  AND q.session_id IS NOT NULL;
WHILE @session_id IS NOT NULL
BEGIN
    SET @oldest = NULL;
    IF NOT EXISTS (
        SELECT 1
        FROM duroxide.sessions AS s WITH (READCOMMITTEDLOCK)
        WHERE s.session_id = @session_id
          AND s.locked_until > @now
          AND s.worker_id <> @owner
    )
        SELECT @oldest = MIN(q.id)
        -- vet:allow Q1: a look; the claim repeats its condition
        FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, INDEX (ix_worker_queue_session))
        WHERE q.session_id = @session_id
          AND q.session_id IS NOT NULL
          AND q.ready = 1
          AND ((q.tag IS NULL AND @untagged = 1) OR q.tag IN (SELECT t.id FROM @tags AS t));
    IF @oldest IS NOT NULL AND (@id IS NULL OR @oldest < @id)
        SET @id = @oldest;
    SELECT @session_id = MIN(q.session_id)
    -- vet:allow Q1: a look; the claim repeats its condition
    FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, INDEX (ix_worker_queue_session))
    WHERE q.ready = 1
      AND q.session_id IS NOT NULL
      AND q.session_id > @session_id;
END;
