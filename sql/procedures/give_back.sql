-- Gives back what a call has claimed whose answer was lost: a turn and activities, each as its abandon does with the
-- attempt. The caller does not know the rows. A lease of theirs ends between the begin of the call and now, plus the
-- length of the lease, and the indexes of wake_at have the tokens. What has ended, is ready, or was never claimed is
-- not found.
-- Called by: Store.FetchOrchestrationItem, Store.FetchWorkItem, Store.Claim, Store.AckTurnAndClaim,
--   Store.AckWorkAndClaim.
-- Transaction: none. The turn has that of its abandon, and the activities are given back by one statement.
-- Parameters:
--   @turn_token   the turn's lease; NULL for none
--   @work_tokens  leases of activities, without ids
--   @called_ms    how long ago the call began, in milliseconds
--   @least_ms     how long the shortest of the leases lasts, in milliseconds
--   @most_ms      how long the longest lasts
-- Result sets:
--   1 GivenBack: how many turns and activities were given back
-- Locks: inboxes (the turn is found by ix_inboxes_wake alone), those of abandon_orchestration_item, then worker_queue
--   (the activities' rows, by pk_worker_queue; they are found by ix_worker_queue_wake alone). A wait for a lock ends
--   after a second with error 1222 (LOCK_TIMEOUT, see README.md).
-- Errors:
--   50010 invalid_lock_token: nobody holds the token
CREATE OR ALTER PROCEDURE duroxide.give_back
    @turn_token  UNIQUEIDENTIFIER = NULL,
    @work_tokens duroxide.token_list_v1 READONLY,
    @called_ms   BIGINT,
    @least_ms    BIGINT,
    @most_ms     BIGINT
AS
SET NOCOUNT, XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
IF @@LOCK_TIMEOUT = -1
    SET LOCK_TIMEOUT 1000;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
-- The two clocks do not run alike, and the server's may be set: a second is to spare.
DECLARE @ends_from BIGINT = @now - @called_ms - 1000 + @least_ms, @ends_until BIGINT = @now + 1000 + @most_ms;
DECLARE @mine TABLE (id BIGINT NOT NULL PRIMARY KEY, lock_token UNIQUEIDENTIFIER NOT NULL);
DECLARE @instance_id NVARCHAR(400), @turns INT = 0, @activities INT = 0;

IF @turn_token IS NOT NULL
    SELECT @instance_id = b.instance_id
    FROM duroxide.inboxes AS b WITH (INDEX (ix_inboxes_wake))
    WHERE b.wake_at BETWEEN @ends_from AND @ends_until AND b.wake_at IS NOT NULL AND b.lock_token = @turn_token
    OPTION (KEEPFIXED PLAN);
IF @instance_id IS NOT NULL
BEGIN
    EXEC duroxide.abandon_orchestration_item @instance_id = @instance_id, @lock_token = @turn_token, @delay_ms = 0, @give_back = 1;
    SET @turns = 1;
END;

INSERT INTO @mine (id, lock_token)
SELECT q.id, q.lock_token
FROM duroxide.worker_queue AS q WITH (INDEX (ix_worker_queue_wake))
WHERE q.ready = 0 AND q.wake_at BETWEEN @ends_from AND @ends_until
  AND q.lock_token IN (SELECT t.lock_token FROM @work_tokens AS t)
OPTION (KEEPFIXED PLAN);
IF @@ROWCOUNT > 0
BEGIN
    -- vet:allow Q3: a lease that has ended by itself may be given up
    UPDATE q
    SET lock_token = NULL, locked_until = NULL, visible_at = @now, wake_at = @now, ready = 1,
        attempt_count = q.attempt_count - CASE WHEN q.attempt_count > 0 THEN 1 ELSE 0 END,
        unnamed_count = q.unnamed_count - CASE WHEN q.unnamed_count > 0 THEN 1 ELSE 0 END
    FROM @mine AS m
    INNER LOOP JOIN duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_worker_queue)) ON q.id = m.id
    WHERE q.lock_token = m.lock_token
    OPTION (KEEPFIXED PLAN);
    SET @activities = @@ROWCOUNT;
END;

-- gen:result GivenBack
SELECT @turns AS turns, @activities AS activities;
GO
GRANT EXECUTE ON duroxide.give_back TO duroxide_runtime;
