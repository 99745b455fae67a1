-- Claims the next turn, and activities for the rows of a list, and returns them. An error does not reach
-- the caller, which may have committed something before: it is returned as a result set. What was
-- claimed before the error stays claimed, and is returned. A call may miss what others are writing at
-- that moment; the next one finds it.
--
-- Called by: Store.Claim, Store.FetchOrchestrationItem, Store.FetchWorkItem, ack_orchestration_item, ack_work_item.
-- Transaction: none. Each claim has its own, and the caller has begun none. What is returned is read after
--   the commit, under the leases.
-- Parameters:
--   @turn    one row claims a turn, none claims none
--   @work    one activity is claimed for each row
--   @holder  who claims, for people: the worker and its host
-- Result sets:
--   1 Dropped: instances whose messages were deleted, because they never began and had only queue
--     messages; if there are any
--   2 Item: the claimed instance, and the sets that follow, if there is one. The name is NULL for an
--     instance without a row: it is in the history or in the message that starts it. due_until: what was
--     due by this time, in milliseconds since 1970 UTC, is ready. looked_ms: how long choosing took
--   3 History: the events of the execution, or the last one
--   4 Values: the key-value map as of the start of the execution, unless it is empty
--   5 Messages: those of the turn, in the order of their arrival; none if another call has taken the
--     instance meanwhile
--   6 Work: the claimed activities, if there are any, with the rows that they were claimed for
--   7 Failure: the last error, if there was one, and whether the turn met one, or the reading of the
--     activities: then their sets may end too soon, and the caller gives back what it did not get
-- Locks: known_code, inboxes, worker_queue (shared, by the indexes of ready and due work, while it looks); those
--   of claim_turn, lock_ready_work and lock_work_item, one after the other.
-- vet:allow Q1: these looks take nothing
-- vet:allow Q2-exists: what others are writing, the next call finds
-- vet:allow Q9-pinned: each look ends at its first row
-- vet:allow P5-swallow: the error is in a result set
CREATE OR ALTER PROCEDURE duroxide.take
    @turn   duroxide.turn_claim_v1 READONLY,
    @work   duroxide.take_list_v1 READONLY,
    @holder NVARCHAR(200) = NULL
AS
SET NOCOUNT, XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @taken TABLE (position INT NOT NULL PRIMARY KEY, id BIGINT NOT NULL, fresh BIT NOT NULL, due_until BIGINT NOT NULL, looked_ms BIGINT NOT NULL);
DECLARE @empty TABLE (selection INT NOT NULL PRIMARY KEY);
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()), @due BIT, @turns BIT, @activities BIT,
    @error_number INT, @error_severity INT, @error_message NVARCHAR(4000), @turn_failed BIT = 0, @work_failed BIT = 0;
-- In most calls of an idle worker nothing is ready or due, and its names have been seen in the last 20 seconds.
SELECT @due = CASE WHEN EXISTS (
        SELECT 1
        FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_inboxes_wake))
        WHERE b.wake_at <= @now
          AND b.wake_at IS NOT NULL
    ) THEN 1 ELSE 0 END,
    @turns = CASE WHEN EXISTS (SELECT 1 FROM @turn AS t WHERE t.known IS NOT NULL AND NOT EXISTS (
        SELECT 1
        FROM duroxide.known_code AS k WITH (INDEX (uq_known_code))
        WHERE k.digest = t.known
          AND k.activity = 0
          AND k.seen_at > @now - 20000
    )) OR EXISTS (
        SELECT 1
        FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_inboxes_ready))
        WHERE b.head_id IS NOT NULL
    ) THEN 1 ELSE 0 END,
    @activities = CASE WHEN EXISTS (SELECT 1 FROM @work AS w WHERE w.position = (SELECT MIN(o.position) FROM @work AS o WHERE o.selection = w.selection) AND w.known IS NOT NULL AND NOT EXISTS (
        SELECT 1
        FROM duroxide.known_code AS k WITH (INDEX (uq_known_code))
        WHERE k.digest = w.known
          AND k.activity = 1
          AND k.seen_at > @now - 20000
    )) OR EXISTS (
        SELECT 1
        FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_ready))
        WHERE q.ready = 1
          AND q.session_id IS NULL
    ) OR EXISTS (
        SELECT 1
        FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_ready_session))
        WHERE q.ready = 1
          AND q.session_id IS NOT NULL
    ) OR EXISTS (
        SELECT 1
        FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_wake))
        WHERE q.ready = 0
          AND q.wake_at <= @now
    ) THEN 1 ELSE 0 END
OPTION (KEEPFIXED PLAN);
IF (@turns = 1 OR @due = 1) AND EXISTS (SELECT 1 FROM @turn AS t)
BEGIN TRY
    EXEC duroxide.claim_turn @claim = @turn, @due = @due, @holder = @holder;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    SELECT @error_number = ERROR_NUMBER(), @error_severity = ERROR_SEVERITY(), @error_message = ERROR_MESSAGE(), @turn_failed = 1, @activities = 0;
END CATCH;
-- WORK
DECLARE @position INT = -1, @last INT = CASE @activities WHEN 1 THEN (SELECT MAX(w.position) FROM @work AS w) ELSE -1 END, @passed INT = -1, @together INT,
    @selection INT, @lock_token UNIQUEIDENTIFIER, @lock_ms BIGINT, @sessions BIT, @owner NVARCHAR(400), @session_ms BIGINT,
    @any_tag BIT, @untagged BIT, @tag1 NVARCHAR(400), @tag2 NVARCHAR(400), @tag3 NVARCHAR(400), @tag4 NVARCHAR(400), @tag5 NVARCHAR(400),
    @work_known VARBINARY(32), @work_unknown_ms BIGINT, @from_id BIGINT, @due_from BIGINT, @id BIGINT, @fresh BIT, @due_until BIGINT = 0,
    @looked_ms BIGINT;
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
            @tag4 = @tag4, @tag5 = @tag5, @known = @work_known, @unknown_ms = @work_unknown_ms, @hasty = 1,
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
