-- Locks the oldest activities without a session that a worker may take, one for each row of a
-- selection, in one pass. It may lock fewer than there are: it skips activities that others are
-- writing, or have taken since it looked. The caller takes the rest one by one (lock_work_item). It
-- locks nothing if an activity of a session may come first, if the worker takes any tag or names no code,
-- if it looks for code that no worker knows, or if its set of names has to be recorded or
-- registered.
--
-- Helper of: take.
-- Transaction: none. The write that locks the activities commits by itself.
--
-- Parameters:
--   @work       the rows that take an activity each, the first of them the oldest
--   @selection  the selection; its first row says what may be taken
--   @due_from   makes ready only what has been due since this time, in milliseconds since 1970 UTC; 0
--               for all
--   @locked     how many are locked
--   @due_until  what was due by this time, in milliseconds since 1970 UTC, is ready
--   @looked_ms  how long choosing took, in milliseconds
--
-- Locks: known_code, known_code_names (shared, before the claim); worker_queue (the activities'
--   rows, in the order of ids, by pk_worker_queue).
--
-- Hints: READPAST with ROWLOCK passes over activities that others are writing, in the look and in
--   the write, and READCOMMITTEDLOCK takes locks under row versioning as well. INDEX seeks the
--   oldest of each tag and code, and the set of names. UPDLOCK and FORCESEEK lock each row before
--   its keys in the indexes, and LOOP seeks each row that was found. The condition on locked_until
--   is explained in find_work. No hint is needed for correctness: the update that takes the
--   activities repeats the condition. KEEPFIXED PLAN prevents a new plan when many rows have
--   changed, see 0005_storage.sql.
--
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.lock_ready_work
    @work      duroxide.take_list_v1 READONLY,
    @selection INT,
    @due_from  BIGINT,
    @locked    INT OUTPUT,
    @due_until BIGINT OUTPUT,
    @looked_ms BIGINT OUTPUT
AS
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
DECLARE @found TABLE (id BIGINT NOT NULL PRIMARY KEY, lock_token UNIQUEIDENTIFIER NOT NULL);
DECLARE @known_id INT, @lock_token UNIQUEIDENTIFIER, @lock_ms BIGINT, @sessions BIT, @from_id BIGINT, @untagged BIT, @tag1 NVARCHAR(400), @tag2 NVARCHAR(400),
    @tag3 NVARCHAR(400), @tag4 NVARCHAR(400), @tag5 NVARCHAR(400), @wanted INT, @began BIGINT = @now, @more BIT = 0;
SELECT @locked = 0, @due_until = 0, @looked_ms = 0;
SELECT TOP (1) @known_id = k.id, @lock_token = w.lock_token, @lock_ms = w.lock_ms, @sessions = w.sessions, @from_id = w.from_id, @untagged = w.untagged,
    @tag1 = w.tag1, @tag2 = w.tag2, @tag3 = w.tag3, @tag4 = w.tag4, @tag5 = w.tag5,
    @wanted = (SELECT COUNT(*) FROM @work AS a WHERE a.selection = @selection)
FROM @work AS w
INNER LOOP JOIN duroxide.known_code AS k WITH (INDEX (uq_known_code)) ON k.digest = w.known AND k.activity = 1
WHERE w.selection = @selection
  AND w.any_tag = 0
  AND w.unknown_ms = 0
  AND k.seen_at > @now - 20000
ORDER BY w.position;
IF @known_id IS NULL OR (@sessions = 1 AND (@from_id > 0 OR EXISTS (
    SELECT 1
    -- vet:allow Q2-exists: a row that is being written is being taken, or is not ready yet
    FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_ready_session))
    WHERE q.ready = 1
      AND q.session_id IS NOT NULL
)))
    RETURN;
IF EXISTS (
    SELECT 1
    -- vet:allow Q2-exists: the transaction that writes the row also stores whether it is ready
    FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_wake))
    WHERE q.ready = 0
      AND q.wake_at >= @due_from
      AND q.wake_at <= @now
)
    EXEC duroxide.ready_due_work @now = @now, @due_from = @due_from, @more = @more OUTPUT;
SET @due_until = CASE @more WHEN 0 THEN @now ELSE @due_from END;

-- Choose.
INSERT INTO @found (id, lock_token)
SELECT o.id, w.lock_token
FROM (
    SELECT n.id, ROW_NUMBER() OVER (ORDER BY n.id) AS place
    FROM (
        SELECT 0 AS code_id
        UNION ALL
        SELECT k.code_id
        FROM duroxide.known_code_names AS k
        WHERE k.known_id = @known_id
    ) AS c
    CROSS APPLY (
        SELECT u.id
        FROM (
            SELECT TOP (@wanted) q.id
            -- vet:allow Q1: it only looks; the update tests again that the activity is ready
            FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_ready))
            WHERE q.ready = 1
              AND q.session_id IS NULL
              AND q.tag IS NULL
              AND q.code_id = c.code_id
              AND @untagged = 1
              AND q.id >= @from_id
              AND COALESCE(q.locked_until, 0) >= 0
            ORDER BY q.id
        ) AS u
        UNION ALL
        SELECT v.id
        FROM (
            SELECT DISTINCT t.tag COLLATE Latin1_General_100_BIN2 AS tag
            FROM (VALUES (@tag1), (@tag2), (@tag3), (@tag4), (@tag5)) AS t (tag)
            WHERE t.tag IS NOT NULL
        ) AS d
        CROSS APPLY (
            SELECT TOP (@wanted) q.id
            -- vet:allow Q1: it only looks; the update tests again that the activity is ready
            FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_ready))
            WHERE q.ready = 1
              AND q.session_id IS NULL
              AND q.tag = d.tag
              AND q.code_id = c.code_id
              AND q.id >= @from_id
              AND COALESCE(q.locked_until, 0) >= 0
            ORDER BY q.id
        ) AS v
    ) AS n
) AS o
INNER LOOP JOIN (
    SELECT w.lock_token, ROW_NUMBER() OVER (ORDER BY w.position) AS place
    FROM @work AS w
    WHERE w.selection = @selection
) AS w ON w.place = o.place
OPTION (KEEPFIXED PLAN);

-- As in lock_work_item: this fails if the index is missing or disabled.
SELECT @locked = COUNT(*)
FROM duroxide.worker_queue AS q WITH (FORCESEEK (uq_worker_queue_token (lock_token)))
WHERE q.lock_token = @lock_token
  AND q.lock_token IS NOT NULL
OPTION (KEEPFIXED PLAN);

-- Claim.
-- vet:allow T2-once: the leases begin with the update
SET @now = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
SET @looked_ms = @now - @began;
-- vet:allow Q3: an activity is ready only as long as nobody holds it
UPDATE q
SET lock_token = f.lock_token, locked_until = @now + @lock_ms, ready = 0, wake_at = @now + @lock_ms,
    attempt_count = q.attempt_count + 1 - q.unnamed_count, unnamed_count = 0
FROM @found AS f
-- vet:allow Q3-wait: the caller takes what this passes over one by one
INNER LOOP JOIN duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, UPDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_worker_queue)) ON q.id = f.id
WHERE q.ready = 1
OPTION (KEEPFIXED PLAN);
SET @locked = @@ROWCOUNT;
