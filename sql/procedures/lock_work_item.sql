-- Locks the oldest activity that the worker may take. Nothing is locked if there is none. If
-- another call takes a candidate first, the next candidate is tried. The clock is read again just
-- before the update that takes the activity, because the lease begins at that time. Of two claims
-- that add the same session at the same time, one gets error 2627; the whole call is safe to repeat.
--
-- Helper of: fetch_work_item, take.
-- Transaction: its own, one for each try, so that the next try does not hold locks of this one. The
--   caller has begun none.
--
-- Parameters:
--   @lock_token  the lease's token: a new one
--   @lock_ms     how long the lease lasts, in milliseconds
--   @sessions    1 also takes activities of sessions that @owner has or nobody has
--   @owner       who then has the session; NULL without sessions
--   @session_ms  how long the owner has the session, in milliseconds
--   @any_tag     1 takes activities with any tag
--   @untagged    1 takes activities without a tag
--   @tag1, @tag2, @tag3, @tag4, @tag5
--                takes activities with one of these tags; NULL for none
--   @known       the digest of the activities that the worker knows; NULL for a worker that names
--                none: it takes all but what others have named in the last 75 seconds
--   @unknown_ms  if positive, takes only activities that have been ready for so many milliseconds and
--                whose code no worker has known for as long, in sessions of any owner; @known then
--                restricts nothing. 0 for the usual fetch
--   @hasty       1 does not wait for writers, and may miss their work
--   @from_id     the first look skips lower ids: deleted ones stay in the index while a reader needs old
--                row versions; 0 for all
--   @due_from    the first look makes ready only what has been due since this time, in milliseconds since
--                1970 UTC; 0 for all. A look that finds nothing is repeated without these two limits
--   @locked      the activity's id; NULL for none
--   @fresh       1 if the owner did not have the session before
--   @due_until   what was due by this time, in milliseconds since 1970 UTC, is ready
--   @looked_ms   how long choosing took, in milliseconds
--
-- Locks: known_code, known_code_names (shared, before the claim); worker_queue (the activity's
--   row, by the index of find_work and then pk_worker_queue), sessions (by claim_session).
--
-- Hints: find_work and find_session_work choose the activity. The last look waits for others
--   instead of skipping them, so an empty answer means that nothing is ready. LOCK_TIMEOUT limits
--   that wait and the wait for the row; error 1222 then means that there is nothing to fetch now.
--   FORCESEEK locks the row before its keys in the indexes, so that two fetches cannot lock them in
--   opposite orders. READCOMMITTEDLOCK takes locks under row versioning as well, ROWLOCK keeps to
--   rows, and UPDLOCK waits for rows that are about to become fetchable. READPAST looks without
--   waiting whether there is anything of sessions. INDEX reads what is due or ready and nothing
--   else. No hint is needed for correctness: the update that takes the activity repeats the
--   condition. KEEPFIXED PLAN prevents a new plan when many rows have changed, see
--   0005_storage.sql.
--
-- Errors:
--   50014 unregistered_code: the set of names has to be registered first
--
-- Length: choosing, taking and claiming the session share one loop and its variables; helpers do
--   what can be cut out of it.
--
-- gen:internal
-- gen:null @known @owner @tag1 @tag2 @tag3 @tag4 @tag5
CREATE OR ALTER PROCEDURE duroxide.lock_work_item
    @lock_token UNIQUEIDENTIFIER,
    @lock_ms    BIGINT,
    @sessions   BIT,
    @owner      NVARCHAR(400),
    @session_ms BIGINT,
    @any_tag    BIT,
    @untagged   BIT,
    @tag1       NVARCHAR(400),
    @tag2       NVARCHAR(400),
    @tag3       NVARCHAR(400),
    @tag4       NVARCHAR(400),
    @tag5       NVARCHAR(400),
    @known      VARBINARY(32),
    @unknown_ms BIGINT,
    @hasty      BIT,
    @from_id    BIGINT,
    @due_from   BIGINT,
    @locked     BIGINT OUTPUT,
    @fresh      BIT OUTPUT,
    @due_until  BIGINT OUTPUT,
    @looked_ms  BIGINT OUTPUT
AS
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
DECLARE @tags duroxide.id_list_v1;
-- The codes of which something may be taken, as far as this call knows.
DECLARE @codes duroxide.code_id_list_v1;
DECLARE @known_id INT, @code_id INT, @seeking BIT = CASE WHEN @unknown_ms > 0 THEN 1 ELSE 0 END, @unknown_since BIGINT = @now - @unknown_ms,
    @id BIGINT, @session_work BIGINT, @session_id NVARCHAR(400), @tag NVARCHAR(400), @position INT,
    @tries INT = 0, @found BIT = 0, @patient BIT = 0, @more BIT = 0, @began BIGINT = @now,
    @unnamed BIT = CASE WHEN @known IS NULL THEN 1 ELSE 0 END;
SELECT @locked = NULL, @fresh = 0, @due_until = 0, @looked_ms = 0;
BEGIN TRY
    -- Who has named its set a moment ago need not say so.
    SELECT @known_id = k.id
    FROM duroxide.known_code AS k WITH (INDEX (uq_known_code))
    WHERE k.digest = @known
      AND k.activity = 1
      AND k.seen_at > @now - 20000
      AND @seeking = 0;
    IF @known IS NOT NULL AND @known_id IS NULL
        EXEC duroxide.get_known_code @digest = @known, @activity = 1, @always = @seeking, @now = @now, @known_id = @known_id OUTPUT;
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

    IF @any_tag = 0 AND COALESCE(@tag1, @tag2, @tag3, @tag4, @tag5) IS NOT NULL
        INSERT INTO @tags (position, id)
        SELECT MIN(t.position), t.tag COLLATE Latin1_General_100_BIN2
        FROM (VALUES (1, @tag1), (2, @tag2), (3, @tag3), (4, @tag4), (5, @tag5)) AS t (position, tag)
        WHERE t.tag IS NOT NULL
        GROUP BY t.tag COLLATE Latin1_General_100_BIN2;

    IF @known_id IS NOT NULL AND @seeking = 0
        INSERT INTO @codes (code_id)
        SELECT 0
        UNION ALL
        SELECT k.code_id
        FROM duroxide.known_code_names AS k
        WHERE k.known_id = @known_id;

    WHILE @found = 0 AND @tries < 1000
    BEGIN
        SELECT @tries = @tries + 1, @session_work = NULL, @session_id = NULL;

        -- What may be taken: tags and codes of which something is ready, if any will do.
        IF @any_tag = 1
        BEGIN
            DELETE FROM @tags;
            SET @position = 0;
            SET @tag = NULL;
            EXEC duroxide.next_ready_tag @patient = @patient, @tag = @tag OUTPUT;
            WHILE @tag IS NOT NULL
            BEGIN
                SET @position = @position + 1;
                INSERT INTO @tags (position, id)
                VALUES (@position, @tag);
                EXEC duroxide.next_ready_tag @patient = @patient, @tag = @tag OUTPUT;
            END;
        END;
        IF @known_id IS NULL OR @seeking = 1
        BEGIN
            DELETE FROM @codes;
            SET @code_id = -1;
            EXEC duroxide.next_ready_work_code @untagged = @untagged, @tags = @tags, @patient = @patient, @code = @code_id OUTPUT;
            WHILE @code_id IS NOT NULL
            BEGIN
                INSERT INTO @codes (code_id)
                VALUES (@code_id);
                EXEC duroxide.next_ready_work_code @untagged = @untagged, @tags = @tags, @patient = @patient, @code = @code_id OUTPUT;
            END;
            IF @seeking = 0
                DELETE c
                FROM @codes AS c
                WHERE EXISTS (SELECT 1 FROM duroxide.known_codes(1, @now - 75000) AS k WHERE k.code_id = c.code_id);
        END;

        -- Choose.
        BEGIN TRANSACTION;
        IF @seeking = 1
        BEGIN
            DELETE FROM @codes
            WHERE code_id NOT IN (SELECT k.code_id FROM duroxide.unknown_codes(1, @unknown_since) AS k);
            EXEC duroxide.find_unknown_work @tags = @tags, @codes = @codes, @since = @unknown_since, @id = @id OUTPUT;
        END;
        ELSE
            EXEC duroxide.find_work @untagged = @untagged, @tags = @tags, @codes = @codes, @from_id = @from_id, @patient = @patient, @id = @id OUTPUT;
        -- Not for who seeks: what has been ready for long is found, that of sessions too.
        IF @sessions = 1 AND @seeking = 0 AND (@patient = 1 OR @from_id > 0 OR EXISTS (
            SELECT 1
            -- vet:allow Q2-exists: the last look comes without this test, and waits
            FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_ready_session))
            WHERE q.ready = 1
              AND q.session_id IS NOT NULL
        ))
            EXEC duroxide.find_session_work @owner = @owner, @now = @now, @untagged = @untagged, @tags = @tags, @codes = @codes,
                @from_id = @from_id, @patient = @patient, @before = @id, @id = @session_work OUTPUT;
        IF @session_work IS NOT NULL AND (@id IS NULL OR @session_work < @id)
            SET @id = @session_work;
        IF @id IS NULL
        BEGIN
            COMMIT TRANSACTION;
            IF @from_id > 0
            BEGIN
                SET @from_id = 0;
                CONTINUE;
            END;
            IF @more = 1
            BEGIN
                EXEC duroxide.ready_due_work @now = @now, @due_from = 0, @more = @more OUTPUT;
                CONTINUE;
            END;
            IF @patient = 1 OR @seeking = 1 OR @hasty = 1
                BREAK;
            SET @patient = 1;
            SET LOCK_TIMEOUT 150;
            -- Others may be about to make fetchable what is due.
            WHILE @tries < 1000 AND EXISTS (
                SELECT 1
                FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, UPDLOCK, ROWLOCK, INDEX (ix_worker_queue_wake))
                WHERE q.ready = 0
                  AND q.wake_at <= @now
                  AND COALESCE(q.locked_until, 0) >= 0
            )
            BEGIN
                SET @tries = @tries + 1;
                EXEC duroxide.ready_due_work @now = @now, @due_from = 0, @more = @more OUTPUT;
            END;
            CONTINUE;
        END;

        -- Without this index nobody could acknowledge or give back what is taken here. If it is missing or disabled,
        -- this statement fails (error 308 or 315), before an attempt is counted. A scan of it would wait for the
        -- holders of other tokens, who may wait for the activity.
        SELECT @found = COUNT(*)
        FROM duroxide.worker_queue AS q WITH (FORCESEEK (uq_worker_queue_token (lock_token)))
        WHERE q.lock_token = @lock_token
          AND q.lock_token IS NOT NULL
        OPTION (KEEPFIXED PLAN);

        -- Take it.
        IF @seeking = 1
            SET LOCK_TIMEOUT 150;
        SET @now = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
        SET @looked_ms = CASE @patient WHEN 1 THEN 0 ELSE @now - @began END;
        -- vet:allow Q3: an activity is ready only as long as nobody holds it
        UPDATE q
        SET lock_token = @lock_token, locked_until = @now + @lock_ms, ready = 0, wake_at = @now + @lock_ms,
            attempt_count = attempt_count + 1 - CASE @unnamed WHEN 1 THEN 0 ELSE unnamed_count END,
            unnamed_count = CASE @unnamed WHEN 1 THEN unnamed_count + 1 ELSE 0 END
        FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_worker_queue))
        WHERE id = @id
          AND ready = 1
        OPTION (KEEPFIXED PLAN);
        SET @found = @@ROWCOUNT;
        SET LOCK_TIMEOUT -1;
        SET @patient = 0;

        -- Take its session. Who only seeks what nobody knows has found none.
        IF @found = 1 AND @id = @session_work
            SELECT @session_id = q.session_id
            FROM duroxide.worker_queue AS q WITH (FORCESEEK (pk_worker_queue (id)))
            WHERE q.id = @id
            OPTION (KEEPFIXED PLAN);
        IF @session_id IS NOT NULL
            EXEC duroxide.claim_session @session_id = @session_id, @owner = @owner, @now = @now, @session_ms = @session_ms,
                @claimed = @found OUTPUT, @fresh = @fresh OUTPUT;
        -- Somebody else has the session now: as if the activity had not been taken.
        IF @session_id IS NOT NULL AND @found = 0
            -- vet:allow Q3: this transaction has taken the activity
            UPDATE q
            SET lock_token = NULL, locked_until = NULL, ready = 1, wake_at = visible_at,
                attempt_count = attempt_count - 1, unnamed_count = CASE @unnamed WHEN 1 THEN unnamed_count - 1 ELSE 0 END
            FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_worker_queue))
            WHERE id = @id
              AND lock_token = @lock_token
            OPTION (KEEPFIXED PLAN);
        COMMIT TRANSACTION;
    END;
    SET LOCK_TIMEOUT -1;
    SET @locked = CASE WHEN @found = 1 THEN @id END;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;
