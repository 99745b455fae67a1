-- Claims the next turn, and activities for the rows of a list, and returns them. An error does not reach the caller,
-- which may have committed something before: it is returned as a result set. What was claimed before the error stays
-- claimed, and is returned. A call may miss what others are writing at that moment; the next one finds it.
-- Called by: Store.Claim, Store.AckTurnAndClaim, Store.AckWorkAndClaim, Store.FetchOrchestrationItem,
--   ack_orchestration_item, ack_work_item.
-- Transaction: none. Each claim has its own, and the caller has begun none. What is returned is read after the
--   commit, under the leases.
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
--   7 Failure: the last error, if there was one, and whether the turn or the activities met it: then their sets
--     may end too soon, and the caller gives back what it did not get
-- Locks: known_code, inboxes, worker_queue (shared, by the indexes of ready and due work, while it looks); those of
--   claim_turn and fetch_work_item, one after the other.
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
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()), @due BIT, @turns BIT, @activities BIT,
    @error_number INT, @error_severity INT, @error_message NVARCHAR(4000), @turn_failed BIT = 0, @work_failed BIT = 0;
-- In most calls of an idle worker nothing is ready or due, and its names have been seen in the last 20 seconds.
SELECT @due = CASE WHEN EXISTS (
        SELECT 1 FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_inboxes_wake))
        WHERE b.wake_at >= (SELECT MIN(t.due_from) FROM @turn AS t) AND b.wake_at <= @now AND b.wake_at IS NOT NULL
    ) THEN 1 ELSE 0 END,
    @turns = CASE WHEN NOT EXISTS (SELECT 1 FROM @turn AS t) THEN 0
        WHEN EXISTS (SELECT 1 FROM @turn AS t WHERE t.from_head > 0) THEN 1
        WHEN EXISTS (SELECT 1 FROM @turn AS t WHERE t.known IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM duroxide.known_code AS k WITH (INDEX (uq_known_code)) WHERE k.digest = t.known
              AND k.activity = 0 AND k.seen_at > @now - 20000
        )) OR EXISTS (
            SELECT 1 FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_inboxes_ready))
            WHERE b.head_id IS NOT NULL
        ) THEN 1 ELSE 0 END,
    @activities = CASE WHEN NOT EXISTS (SELECT 1 FROM @work AS w) THEN 0
        WHEN EXISTS (SELECT 1 FROM @work AS w WHERE w.from_id > 0) THEN 1
        WHEN EXISTS (SELECT 1 FROM @work AS w WHERE w.position = (SELECT MIN(o.position) FROM @work AS o WHERE o.selection = w.selection) AND w.known IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM duroxide.known_code AS k WITH (INDEX (uq_known_code)) WHERE k.digest = w.known
              AND k.activity = 1 AND k.seen_at > @now - 20000
        )) OR EXISTS (
            SELECT 1 FROM duroxide.work_state(@now, 0) AS a WHERE COALESCE(a.plain, a.bound, a.due) = 1
        ) THEN 1 ELSE 0 END
OPTION (KEEPFIXED PLAN);
IF @turns = 1 OR @due = 1
BEGIN TRY
    EXEC duroxide.claim_turn @claim = @turn, @due = @due, @holder = @holder;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    SELECT @error_number = ERROR_NUMBER(), @error_severity = ERROR_SEVERITY(), @error_message = ERROR_MESSAGE(), @turn_failed = 1, @activities = 0;
END CATCH;
IF @activities = 1
BEGIN TRY
    EXEC duroxide.fetch_work_item @work = @work, @holder = @holder;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    SELECT @error_number = ERROR_NUMBER(), @error_severity = ERROR_SEVERITY(), @error_message = ERROR_MESSAGE(), @work_failed = 1;
END CATCH;
IF @error_number IS NOT NULL
    /* gen:columns (error_number int not null, error_severity int not null, error_message nvarchar(4000) not null, turn_failed bit not null, work_failed bit not null) */
    -- gen:result Failure
    SELECT @error_number AS error_number, @error_severity AS error_severity, @error_message AS error_message, @turn_failed AS turn_failed, @work_failed AS work_failed;
GO
GRANT EXECUTE ON duroxide.take TO duroxide_runtime;
