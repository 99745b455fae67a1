-- Finds the oldest ready activity without a session that has one of the codes. It first finds
-- the tag and the code with the oldest activity, by one seek for each pair, and then locks an
-- activity of those. If others are taking all there is of them, it goes on with the next tag and
-- code.
--
-- Helper of: lock_work_item.
-- Transaction: the caller's, which keeps the activity locked.
--
-- Parameters:
--   @untagged  1 also looks at activities without a tag
--   @tags      tags to look at
--   @codes     codes to look at, as code_names.id; 0 is what any worker may take
--   @from_id   leaves out lower ids
--   @patient   1 skips nothing, and waits for activities that others are taking, to see whether they are
--              really taken; then it locks nothing
--   @id        the activity; NULL for none
--
-- Locks: worker_queue (the found row for update, by ix_worker_queue_ready and then
--   pk_worker_queue).
--
-- Hints: READPAST with UPDLOCK and ROWLOCK passes over activities that others are writing, and
--   READCOMMITTEDLOCK takes locks under row versioning as well. INDEX seeks the oldest activity. A
--   plan that was made for an empty table would read all of it. The condition on locked_until is
--   always true, as what is ready has no lease that counts. The column is not in the index, so the
--   hints are applied to the row and not only to its key in the index: an activity that another
--   call is writing is passed over instead of waited for. No CHECK or NOT NULL may say that the
--   condition is true: the server would drop it, and look at the index only. LOOP JOIN looks at one
--   tag and code after the other, whatever the first call had. KEEPFIXED PLAN prevents a new plan
--   when many rows have changed, see 0005_storage.sql.
--
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.find_work
    @untagged BIT,
    @tags     duroxide.id_list_v1 READONLY,
    @codes    duroxide.code_id_list_v1 READONLY,
    @from_id  BIGINT,
    @patient  BIT,
    @id       BIGINT OUTPUT
AS
DECLARE @busy TABLE (tag NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NULL, code_id INT NOT NULL);
DECLARE @code_id INT = -1, @tag NVARCHAR(400);
SET @id = NULL;
IF @patient = 1
BEGIN
    SELECT @id = MIN(n.id)
    FROM (
        SELECT (
            SELECT TOP (1) q.id
            FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, ROWLOCK, INDEX (ix_worker_queue_ready))
            WHERE q.ready = 1
              AND q.session_id IS NULL
              AND q.tag IS NULL
              AND q.code_id = c.code_id
              AND @untagged = 1
            ORDER BY q.id
        ) AS id
        FROM @codes AS c
        UNION ALL
        SELECT (
            SELECT TOP (1) q.id
            FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, ROWLOCK, INDEX (ix_worker_queue_ready))
            WHERE q.ready = 1
              AND q.session_id IS NULL
              AND q.tag = t.id
              AND q.code_id = c.code_id
            ORDER BY q.id
        ) AS id
        FROM @tags AS t
        CROSS JOIN @codes AS c
    ) AS n
    OPTION (LOOP JOIN, KEEPFIXED PLAN);
    RETURN;
END;
WHILE @id IS NULL AND @code_id IS NOT NULL
BEGIN
    SET @code_id = NULL;
    SELECT TOP (1) @tag = n.tag, @code_id = n.code_id
    FROM (
        SELECT CAST(NULL AS NVARCHAR(400)) AS tag, c.code_id, u.id
        FROM @codes AS c
        CROSS APPLY (
            SELECT TOP (1) q.id
            -- vet:allow Q1: it only looks, and takes nothing
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
        SELECT t.id, c.code_id, u.id
        FROM @tags AS t
        CROSS JOIN @codes AS c
        CROSS APPLY (
            SELECT TOP (1) q.id
            -- vet:allow Q1: it only looks, and takes nothing
            FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_ready))
            WHERE q.ready = 1
              AND q.session_id IS NULL
              AND q.tag = t.id
              AND q.code_id = c.code_id
              AND q.id >= @from_id
              AND COALESCE(q.locked_until, 0) >= 0
            ORDER BY q.id
        ) AS u
    ) AS n
    WHERE NOT EXISTS (
        SELECT 1
        FROM @busy AS y
        WHERE y.code_id = n.code_id
          AND (y.tag = n.tag OR (y.tag IS NULL AND n.tag IS NULL))
    )
    ORDER BY n.id
    OPTION (KEEPFIXED PLAN);
    IF @code_id IS NOT NULL AND @tag IS NULL
        SELECT TOP (1) @id = q.id
        FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, UPDLOCK, ROWLOCK, INDEX (ix_worker_queue_ready))
        WHERE q.ready = 1
          AND q.session_id IS NULL
          AND q.tag IS NULL
          AND q.code_id = @code_id
          AND q.id >= @from_id
          AND COALESCE(q.locked_until, 0) >= 0
        ORDER BY q.id
        OPTION (KEEPFIXED PLAN);
    ELSE IF @code_id IS NOT NULL
        SELECT TOP (1) @id = q.id
        FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, UPDLOCK, ROWLOCK, INDEX (ix_worker_queue_ready))
        WHERE q.ready = 1
          AND q.session_id IS NULL
          AND q.tag = @tag
          AND q.code_id = @code_id
          AND q.id >= @from_id
          AND COALESCE(q.locked_until, 0) >= 0
        ORDER BY q.id
        OPTION (KEEPFIXED PLAN);
    IF @code_id IS NOT NULL AND @id IS NULL
        INSERT INTO @busy (tag, code_id)
        VALUES (@tag, @code_id);
END;
