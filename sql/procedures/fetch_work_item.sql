-- Claims the oldest activities that a worker may take, at most one for each row of a list, and returns them. A look
-- locks nothing and passes over what others are writing; one update takes what is still ready. Who loses an activity
-- to another call looks again, and only an empty look ends the search. Of two claims that add the same session at the
-- same time, one gets error 2627; the call is safe to repeat.
-- Called by: Store.FetchWorkItem, take.
-- Transaction: its own, one for each claim. The caller has begun none. A claim that is lost in a crash is a lease
--   that nobody has, so its durability is delayed where the database allows it.
-- Parameters:
--   @work  what may be claimed, see take_list_v1
-- Result sets:
--   1 Work: the activities, with the rows that they were claimed for, and whether the owner did not have
--     the session before. due_until: what was due by this time, in milliseconds since 1970 UTC, is ready.
--     looked_ms: how long choosing took, and waited_ms: how long ago it was queued, in milliseconds
-- Locks: known_code, known_code_names (shared, before the claim); worker_queue (the activities' rows, in the order of
--   ids, by pk_worker_queue), sessions (by claim_session).
-- Errors:
--   50014 unregistered_code: the set of names has to be registered first
CREATE OR ALTER PROCEDURE duroxide.fetch_work_item
    @work   duroxide.take_list_v1 READONLY,
    @holder NVARCHAR(200) = NULL
AS
SET NOCOUNT, XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @codes duroxide.work_code_list_v1;
DECLARE @found TABLE (position INT NOT NULL PRIMARY KEY, id BIGINT NOT NULL, lock_token UNIQUEIDENTIFIER NOT NULL, lock_ms BIGINT NOT NULL);
DECLARE @taken TABLE (position INT NOT NULL PRIMARY KEY, id BIGINT NOT NULL, fresh BIT NOT NULL, due_until BIGINT NOT NULL, looked_ms BIGINT NOT NULL);
DECLARE @now BIGINT, @began BIGINT, @position INT, @selection INT, @owner NVARCHAR(400), @session_ms BIGINT, @known VARBINARY(32), @known_id INT,
    @unknown_ms BIGINT, @ready_by BIGINT, @from_id BIGINT, @due_from BIGINT, @due BIT, @more BIT, @bound BIT, @bound_id BIGINT,
    @session_id NVARCHAR(400), @claimed BIT, @fresh BIT, @chosen INT, @got INT, @wanted INT = (SELECT COUNT(*) FROM @work AS w),
    -- The selection, and its owner, of which nothing is left; and whether looks are at all there is.
    @after INT = -1, @after_owner NVARCHAR(400), @whole BIT = 0, @tries INT = 0;
BEGIN TRY
    WHILE @wanted > (SELECT COUNT(*) FROM @taken AS t) AND @tries < 100
    BEGIN
        SELECT @now = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()), @tries = @tries + 1, @more = 0, @bound_id = NULL, @session_id = NULL;
        -- What the next row may take; and whether anything is due, or ready of sessions.
        SELECT TOP (1) @position = w.position, @selection = w.selection, @owner = w.owner, @session_ms = w.session_ms, @known = w.known,
            @unknown_ms = w.unknown_ms, @ready_by = CASE w.unknown_ms WHEN 0 THEN 9223372036854775807 ELSE @now - w.unknown_ms END,
            @from_id = CASE @whole WHEN 0 THEN w.from_id ELSE 0 END, @due_from = CASE @whole WHEN 0 THEN w.due_from ELSE 0 END, @known_id = (
                SELECT k.id
                FROM duroxide.known_code AS k WITH (INDEX (uq_known_code))
                WHERE k.digest = w.known AND k.activity = 1 AND k.seen_at > @now - 20000 AND w.unknown_ms = 0
            ), @due = a.due, @bound = a.bound
        FROM @work AS w
        CROSS APPLY duroxide.work_state(@now, CASE @whole WHEN 0 THEN w.due_from ELSE 0 END) AS a
        WHERE (w.selection > @after OR w.selection = @after AND w.owner > @after_owner)
          AND w.position NOT IN (SELECT t.position FROM @taken AS t)
        ORDER BY w.selection, w.owner, w.position
        OPTION (LOOP JOIN, KEEPFIXED PLAN);
        IF @@ROWCOUNT = 0
            BREAK;
        IF @known IS NOT NULL AND @known_id IS NULL
            EXEC duroxide.get_known_code @digest = @known, @activity = 1, @always = @unknown_ms, @now = @now, @known_id = @known_id OUTPUT;
        IF @due = 1
            EXEC duroxide.ready_due_work @now = @now, @due_from = @due_from, @more = @more OUTPUT;

        -- Choose.
        DELETE FROM @codes;
        INSERT INTO @codes (tag, code_id)
        SELECT c.tag, c.code_id
        FROM @work AS w
        CROSS APPLY duroxide.work_codes(@known_id, @now, w.unknown_ms, w.any_tag, w.tag1, w.tag2, w.tag3, w.tag4, w.tag5, w.tag6) AS c
        WHERE w.position = @position
        OPTION (LOOP JOIN, KEEPFIXED PLAN);
        IF (@bound = 1 OR @due = 1) AND (@owner IS NOT NULL OR @unknown_ms > 0)
            EXEC duroxide.find_session_work @owner = @owner, @now = @now, @codes = @codes, @from_id = @from_id, @ready_by = @ready_by,
                @id = @bound_id OUTPUT, @session_id = @session_id OUTPUT;
        DELETE FROM @found;
        INSERT INTO @found (position, id, lock_token, lock_ms)
        SELECT w.position, o.id, w.lock_token, w.lock_ms
        FROM (
            SELECT TOP (@wanted) n.id, ROW_NUMBER() OVER (ORDER BY n.id) AS place
            FROM (
                SELECT f.id
                FROM @codes AS c
                CROSS APPLY (
                    SELECT TOP (@wanted) q.id
                    -- vet:allow Q1: it only looks; the update tests again that the activity is ready
                    FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_ready))
                    WHERE q.ready = 1 AND q.session_id IS NULL AND q.tag = c.tag AND q.code_id = c.code_id
                      AND q.id >= @from_id
                      -- Columns of the row, so that READPAST passes over a locked row, not only over a locked key.
                      AND q.visible_at <= @ready_by AND COALESCE(q.locked_until, 0) <= @ready_by
                    ORDER BY q.id
                ) AS f
                UNION ALL
                SELECT @bound_id
            ) AS n
            -- Nothing younger than the activity of a session: the next look may find another one of sessions.
            WHERE n.id <= COALESCE(@bound_id, 9223372036854775807)
            ORDER BY n.id
        ) AS o
        INNER JOIN (
            SELECT w.position, w.lock_token, w.lock_ms, ROW_NUMBER() OVER (ORDER BY w.position) AS place
            FROM @work AS w
            WHERE w.selection = @selection AND (@session_id IS NULL OR w.owner = @owner)
              AND w.position NOT IN (SELECT t.position FROM @taken AS t)
        ) AS w ON w.place = o.place
        OPTION (LOOP JOIN, KEEPFIXED PLAN);
        SET @chosen = @@ROWCOUNT;

        -- Claim. The leases begin with the update.
        BEGIN TRANSACTION;
        SELECT @began = @now, @now = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
        -- vet:allow Q3: an activity is ready only as long as nobody holds it
        UPDATE q
        SET lock_token = f.lock_token, locked_until = @now + f.lock_ms, holder = @holder, ready = 0, wake_at = @now + f.lock_ms,
            attempt_count = q.attempt_count + 1 - CASE WHEN @known IS NULL THEN 0 ELSE q.unnamed_count END,
            unnamed_count = CASE WHEN @known IS NULL THEN q.unnamed_count + 1 ELSE 0 END
        OUTPUT f.position, f.id, 0, CASE @more WHEN 0 THEN @began ELSE @due_from END, @now - @began INTO @taken (position, id, fresh, due_until, looked_ms)
        FROM @found AS f
        -- vet:allow Q3-wait: who loses an activity looks again
        INNER LOOP JOIN duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, UPDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_worker_queue)) ON q.id = f.id
        WHERE q.ready = 1
        OPTION (KEEPFIXED PLAN);
        SET @got = @@ROWCOUNT;
        IF @session_id IS NOT NULL AND EXISTS (SELECT 1 FROM @taken AS t WHERE t.id = @bound_id)
        BEGIN
            EXEC duroxide.claim_session @session_id = @session_id, @owner = @owner, @now = @now, @session_ms = @session_ms,
                @claimed = @claimed OUTPUT, @fresh = @fresh OUTPUT;
            -- Somebody else has the session now: as if nothing had been taken.
            IF @claimed = 0
            BEGIN
                ROLLBACK TRANSACTION;
                DELETE FROM @taken WHERE position IN (SELECT f.position FROM @found AS f);
                CONTINUE;
            END;
            UPDATE @taken SET fresh = @fresh WHERE id = @bound_id;
        END;
        COMMIT TRANSACTION WITH (DELAYED_DURABILITY = ON);

        -- An empty look at a part is followed by one at all there is.
        IF @chosen = 0 AND (@from_id > 0 OR @due_from > 0 OR @more = 1)
            SET @whole = 1;
        ELSE IF @got = @chosen AND @bound_id IS NULL
            SELECT @after = @selection, @after_owner = CASE WHEN @bound = 1 OR @due = 1 THEN @owner END;
    END;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;

-- From here on the leases protect the activities. One that was cancelled meanwhile is missing.
-- gen:result Work
SELECT t.position, q.id, q.instance_id, q.work_item, q.attempt_count, t.fresh AS fresh_session, t.due_until, t.looked_ms,
    q.heartbeat, COALESCE(@now - q.created_at, 0) AS waited_ms
FROM @taken AS t
INNER JOIN @work AS w ON w.position = t.position
INNER LOOP JOIN duroxide.worker_queue AS q WITH (INDEX (pk_worker_queue)) ON q.id = t.id AND q.lock_token = w.lock_token
ORDER BY t.position
OPTION (KEEPFIXED PLAN);
GO
GRANT EXECUTE ON duroxide.fetch_work_item TO duroxide_runtime;
