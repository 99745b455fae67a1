-- Locks the next turn, and activities for the rows of a list, and returns them. An error
-- does not reach the caller, which may have committed something before: it is returned as a result
-- set. Work that was locked before the error stays locked, and is returned.
--
-- Called by: Store.Claim, Store.AckTurnAndClaim, Store.AckWorkAndClaim, ack_turn_and_take,
--   ack_work_and_take.
-- Transaction: none. Each lock has its own, and the caller has begun none.
--
-- Parameters:
--   @turn_token     the token of the turn's lease, a new one; NULL takes no turn
--   @turn_ms        how long the turn's lease lasts, in milliseconds
--   @filtered, @min_major, @min_minor, @min_patch, @max_major, @max_minor, @max_patch, @known,
--   @unknown_ms, @history_limit, @from_head, @peek
--                   those of fetch_orchestration_item
--   @turn_due_from  makes ready only what has been due since this time, in milliseconds since 1970 UTC;
--                   0 for all
--   @work           one activity is taken for each row: those of a selection together by lock_ready_work,
--                   the rest one by one by lock_work_item
--   @hasty          1 does not wait for writers, and may miss their work; 0 waits
--
-- Result sets:
--   1 Dropped, 2 Item, 3 History, 4 Values, 5 Messages: those of fetch_orchestration_item, if a turn is
--     taken
--   6 Work: the locked activities, if there are any, with the rows that they were locked for; due_until,
--     looked_ms and waited_ms as in fetch_work_item
--   7 Failure: the last error, if there was one, and whether the turn met one, or the reading of the
--     activities: then their sets may end too soon, and the caller gives back what it did not get
--
-- Locks: inboxes, worker_queue (shared, by the indexes of ready and due work, while it looks);
--   those of fetch_orchestration_item, lock_ready_work and lock_work_item, one after the other,
--   with worker_queue between them (shared, by uq_worker_queue_token alone); then worker_queue
--   (shared, by pk_worker_queue).
--
-- Hints: READPAST and ROWLOCK look without waiting whether anything is ready, in general or of
--   sessions, and READCOMMITTEDLOCK takes locks under row versioning as well. INDEX and LOOP seek
--   each row. KEEPFIXED PLAN prevents a new plan when many rows have changed, see
--   0005_storage.sql.
--
-- Length: the turn and the activities, each with its own errors, share one answer.
CREATE OR ALTER PROCEDURE duroxide.take
    @turn_token    UNIQUEIDENTIFIER = NULL,
    @turn_ms       BIGINT = 0,
    @filtered      BIT = 0,
    @min_major     BIGINT = 0,
    @min_minor     BIGINT = 0,
    @min_patch     BIGINT = 0,
    @max_major     BIGINT = 0,
    @max_minor     BIGINT = 0,
    @max_patch     BIGINT = 0,
    @known         VARBINARY(32) = NULL,
    @unknown_ms    BIGINT = 0,
    @history_limit BIGINT = NULL,
    @peek          BIT = 0,
    @from_head     BIGINT = 0,
    @turn_due_from BIGINT = 0,
    @work          duroxide.take_list_v1 READONLY,
    @hasty         BIT = 1
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
DECLARE @taken TABLE (position INT NOT NULL PRIMARY KEY, id BIGINT NOT NULL, fresh BIT NOT NULL, due_until BIGINT NOT NULL, looked_ms BIGINT NOT NULL);
-- The selections of which nothing is ready.
DECLARE @empty TABLE (selection INT NOT NULL PRIMARY KEY);
DECLARE @position INT = -1, @last INT = COALESCE((SELECT MAX(w.position) FROM @work AS w), -1), @passed INT = -1, @together INT,
    @selection INT, @lock_token UNIQUEIDENTIFIER, @lock_ms BIGINT, @sessions BIT, @owner NVARCHAR(400), @session_ms BIGINT,
    @any_tag BIT, @untagged BIT, @tag1 NVARCHAR(400), @tag2 NVARCHAR(400), @tag3 NVARCHAR(400), @tag4 NVARCHAR(400), @tag5 NVARCHAR(400),
    @work_known VARBINARY(32), @work_unknown_ms BIGINT, @from_id BIGINT, @due_from BIGINT, @id BIGINT, @fresh BIT, @due_until BIGINT = 0,
    @looked_ms BIGINT;
DECLARE @error_number INT, @error_severity INT, @error_message NVARCHAR(4000), @turn_failed BIT = 0, @work_failed BIT = 0;
BEGIN TRY
    -- Who is in haste and looks from the beginning stops when nothing is ready or due.
    IF @turn_token IS NOT NULL AND (@hasty = 0 OR @from_head > 0 OR EXISTS (
        SELECT 1
        -- vet:allow Q2-exists: who is in haste may miss what others are writing
        FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_inboxes_ready))
        WHERE b.head_id IS NOT NULL
    ) OR EXISTS (
        SELECT 1
        -- vet:allow Q2-exists: who is in haste may miss what others are writing
        FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_inboxes_wake))
        WHERE b.wake_at <= @now
          AND b.wake_at IS NOT NULL
    ))
        EXEC duroxide.fetch_orchestration_item @lock_token = @turn_token, @lock_ms = @turn_ms, @filtered = @filtered,
            @min_major = @min_major, @min_minor = @min_minor, @min_patch = @min_patch,
            @max_major = @max_major, @max_minor = @max_minor, @max_patch = @max_patch,
            @known = @known, @unknown_ms = @unknown_ms, @history_limit = @history_limit, @peek = @peek, @hasty = @hasty,
            @from_head = @from_head, @due_from = @turn_due_from;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    SELECT @error_number = ERROR_NUMBER(), @error_severity = ERROR_SEVERITY(), @error_message = ERROR_MESSAGE(), @turn_failed = 1;
    -- Who holds the only turn is no reason to take no activities.
    IF @error_number <> 1222
        SET @last = -1;
END CATCH;
BEGIN TRY
    WHILE @position < @last
    BEGIN
        SELECT TOP (1) @position = w.position, @selection = w.selection, @lock_token = w.lock_token, @lock_ms = w.lock_ms,
            @sessions = w.sessions, @owner = w.owner, @session_ms = w.session_ms, @any_tag = w.any_tag, @untagged = w.untagged,
            @tag1 = w.tag1, @tag2 = w.tag2, @tag3 = w.tag3, @tag4 = w.tag4, @tag5 = w.tag5, @work_known = w.known,
            @work_unknown_ms = w.unknown_ms, @from_id = w.from_id,
            -- What was due when a row before this one was taken is ready.
            @due_from = CASE WHEN w.due_from > @due_until THEN w.due_from ELSE @due_until END
        FROM @work AS w
        WHERE w.position > @position
          AND w.selection NOT IN (SELECT e.selection FROM @empty AS e)
          AND w.position NOT IN (SELECT t.position FROM @taken AS t)
        ORDER BY w.position;
        IF @@ROWCOUNT = 0
            BREAK;
        IF @hasty = 1 AND @from_id = 0 AND NOT EXISTS (
            SELECT 1
            -- vet:allow Q2-exists: who is in haste may miss what others are writing
            FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_ready))
            WHERE q.ready = 1
              AND q.session_id IS NULL
        ) AND NOT EXISTS (
            SELECT 1
            -- vet:allow Q2-exists: who is in haste may miss what others are writing
            FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_ready_session))
            WHERE q.ready = 1
              AND q.session_id IS NOT NULL
        ) AND NOT EXISTS (
            SELECT 1
            -- vet:allow Q2-exists: who is in haste may miss what others are writing
            FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_wake))
            WHERE q.ready = 0
              AND q.wake_at <= @now
        )
            BREAK;
        IF @selection > @passed
        BEGIN
            SET @passed = @selection;
            EXEC duroxide.lock_ready_work @work = @work, @selection = @selection, @due_from = @due_from, @locked = @together OUTPUT,
                @due_until = @due_until OUTPUT, @looked_ms = @looked_ms OUTPUT;
            IF @together > 0
            BEGIN
                INSERT INTO @taken (position, id, fresh, due_until, looked_ms)
                SELECT w.position, q.id, 0, @due_until, @looked_ms
                FROM @work AS w
                INNER LOOP JOIN duroxide.worker_queue AS q WITH (INDEX (uq_worker_queue_token)) ON q.lock_token = w.lock_token
                WHERE w.selection = @selection
                  AND q.lock_token IS NOT NULL
                OPTION (KEEPFIXED PLAN);
                SET @position = @position - 1;
                CONTINUE;
            END;
        END;
        EXEC duroxide.lock_work_item @lock_token = @lock_token, @lock_ms = @lock_ms, @sessions = @sessions, @owner = @owner,
            @session_ms = @session_ms, @any_tag = @any_tag, @untagged = @untagged, @tag1 = @tag1, @tag2 = @tag2, @tag3 = @tag3,
            @tag4 = @tag4, @tag5 = @tag5, @known = @work_known, @unknown_ms = @work_unknown_ms, @hasty = @hasty,
            @from_id = @from_id, @due_from = @due_from, @locked = @id OUTPUT, @fresh = @fresh OUTPUT,
            @due_until = @due_until OUTPUT, @looked_ms = @looked_ms OUTPUT;
        IF @id IS NOT NULL
            INSERT INTO @taken (position, id, fresh, due_until, looked_ms)
            VALUES (@position, @id, @fresh, @due_until, @looked_ms);
        -- Another owner could take what belongs to a session of his, and nothing else.
        ELSE IF @sessions = 0 OR NOT EXISTS (
            SELECT 1
            -- vet:allow Q2-exists: what others are writing, the next call finds
            FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_ready_session))
            WHERE q.ready = 1
              AND q.session_id IS NOT NULL
        )
            INSERT INTO @empty (selection)
            VALUES (@selection);
    END;
END TRY
BEGIN CATCH
    -- vet:allow P5-swallow: the error is in a result set
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    SELECT @error_number = ERROR_NUMBER(), @error_severity = ERROR_SEVERITY(), @error_message = ERROR_MESSAGE();
END CATCH;
SET LOCK_TIMEOUT -1;

BEGIN TRY
    IF @error_number IS NOT NULL
        -- What was locked when the error came.
        INSERT INTO @taken (position, id, fresh, due_until, looked_ms)
        SELECT w.position, q.id, 0, 0, 0
        FROM @work AS w
        INNER LOOP JOIN duroxide.worker_queue AS q WITH (INDEX (uq_worker_queue_token)) ON q.lock_token = w.lock_token
        WHERE q.lock_token IS NOT NULL
          AND w.position NOT IN (SELECT t.position FROM @taken AS t)
        OPTION (KEEPFIXED PLAN);
    IF EXISTS (SELECT 1 FROM @taken AS t)
        -- An activity that was cancelled meanwhile is missing.
        -- gen:result Work
        SELECT t.position, q.id, q.instance_id, q.work_item, q.attempt_count, t.fresh AS fresh_session, t.due_until, t.looked_ms,
            q.heartbeat, COALESCE(@now - q.created_at, 0) AS waited_ms
        FROM @taken AS t
        INNER JOIN @work AS w ON w.position = t.position
        INNER LOOP JOIN duroxide.worker_queue AS q WITH (INDEX (pk_worker_queue)) ON q.id = t.id AND q.lock_token = w.lock_token
        ORDER BY t.position
        OPTION (KEEPFIXED PLAN);
END TRY
BEGIN CATCH
    -- vet:allow P5-swallow: the error is in a result set
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    SELECT @error_number = ERROR_NUMBER(), @error_severity = ERROR_SEVERITY(), @error_message = ERROR_MESSAGE(), @work_failed = 1;
END CATCH;

IF @error_number IS NOT NULL
    /* gen:columns (error_number int not null, error_severity int not null, error_message nvarchar(4000) not null, turn_failed bit not null, work_failed bit not null) */
    -- gen:result Failure
    SELECT @error_number AS error_number, @error_severity AS error_severity, @error_message AS error_message, @turn_failed AS turn_failed, @work_failed AS work_failed;
GO
GRANT EXECUTE ON duroxide.take TO duroxide_runtime;
