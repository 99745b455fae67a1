-- Gives a turn up without effects: releases the instance and the messages that the turn
-- holds. A lease that has ended is accepted as long as no other worker has taken the instance.
--
-- Called by: Store.AbandonOrchestrationItem, Store.FetchOrchestrationItem, Store.Claim,
--   Store.AckTurnAndClaim, Store.AckWorkAndClaim.
-- Transaction: its own.
--
-- Parameters:
--   @lock_token  the turn's lease
--   @delay_ms    hides the messages for so many milliseconds; 0 leaves them as visible as they are
--   @give_back   1 takes back the attempt that the fetch has counted. The attempt of a fetch that named
--                no code is taken back in any case if a worker has named the code in the last week
--   @misfit      why the turn's code does not fit the history, which is kept with the messages;
--                NULL leaves what is kept
--
-- Locks: those of known_codes; inboxes (the instance's row, by pk_inboxes), orchestrator_queue (the
--   turn's messages, by ix_orchestrator_queue_token: whoever writes messages holds the inbox). A wait
--   for a lock ends after a second with error 1222 (LOCK_TIMEOUT, see README.md).
--
-- Hints: INDEX finds the row by its primary key, whatever the statistics say. A write through the
--   token's index would lock the key in that index before the row. All others lock the row first,
--   so the two would deadlock. READCOMMITTEDLOCK waits for a renewal that is not committed yet,
--   even where writes look at the last committed version first (optimized locking). ROWLOCK keeps
--   the locks to rows. KEEPFIXED PLAN prevents a new plan when many rows have changed, see
--   0005_storage.sql.
--
-- Errors:
--   50010 invalid_lock_token: nobody holds the token
CREATE OR ALTER PROCEDURE duroxide.abandon_orchestration_item
    @lock_token UNIQUEIDENTIFIER,
    @delay_ms   BIGINT,
    @give_back  BIT,
    @misfit     NVARCHAR(MAX) = NULL
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
IF @@LOCK_TIMEOUT = -1
    SET LOCK_TIMEOUT 1000;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
DECLARE @instance_id NVARCHAR(400), @code_id INT, @unnamed_back BIT = @give_back;
BEGIN TRY
    BEGIN TRANSACTION;

    SELECT @instance_id = b.instance_id, @code_id = b.code_id
    FROM duroxide.inboxes AS b WITH (INDEX (uq_inboxes_token))
    -- The second condition is the filter of the index.
    WHERE b.lock_token = @lock_token
      AND b.lock_token IS NOT NULL
    OPTION (KEEPFIXED PLAN);
    IF @give_back = 0 AND EXISTS (SELECT 1 FROM duroxide.known_codes(0, @now - 604800000) AS k WHERE k.code_id = @code_id)
        SET @unnamed_back = 1;

    -- vet:allow Q3: a lease that has ended by itself may be given up
    UPDATE b
    SET lock_token = NULL, locked_until = NULL, head_id = NULL, wake_at = NULL
    FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, ROWLOCK, INDEX (pk_inboxes))
    WHERE b.instance_id = @instance_id
      AND b.lock_token = @lock_token
    OPTION (KEEPFIXED PLAN);
    IF @@ROWCOUNT = 0
        THROW 50010, N'Invalid lock token.', 1;

    -- vet:allow Q3: the update above has taken the instance from this token
    UPDATE q
    SET lock_token = NULL,
        visible_at = CASE WHEN @delay_ms > 0 THEN @now + @delay_ms ELSE q.visible_at END,
        attempt_count = q.attempt_count - CASE
            WHEN @give_back = 1 AND q.attempt_count > 0 OR @unnamed_back = 1 AND q.unnamed_count > 0 THEN 1
            ELSE 0
        END,
        unnamed_count = q.unnamed_count - CASE WHEN @unnamed_back = 1 AND q.unnamed_count > 0 THEN 1 ELSE 0 END,
        misfit = COALESCE(@misfit, q.misfit),
        misfit_at = CASE WHEN @misfit IS NULL THEN q.misfit_at ELSE COALESCE(q.misfit_at, @now) END
    FROM duroxide.orchestrator_queue AS q WITH (ROWLOCK, INDEX (ix_orchestrator_queue_token))
    WHERE q.instance_id = @instance_id
      AND q.lock_token = @lock_token
      AND q.lock_token IS NOT NULL
    OPTION (KEEPFIXED PLAN);
    EXEC duroxide.refresh_inbox @instance_id = @instance_id, @now = @now;

    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;
GO
GRANT EXECUTE ON duroxide.abandon_orchestration_item TO duroxide_runtime;
