-- Puts an activity back into the queue. A lease that has ended is accepted as long as no other worker has taken the
-- activity. Session and tag of the activity stay, and the owner keeps the session.
-- Called by: Store.AbandonWorkItem, Store.FetchOrchestrationItem, Store.FetchWorkItem, Store.Claim,
--   Store.AckTurnAndClaim, Store.AckWorkAndClaim.
-- Transaction: its own.
-- Parameters:
--   @id, @lock_token  the activity and its lease
--   @delay_ms         hides the activity for so many milliseconds; 0 makes it ready at once
--   @give_back        1 takes back the attempt that the fetch has counted. The attempt of a fetch that
--                     named no code is taken back in any case if a worker has named the code in the last
--                     week
-- Locks: those of known_codes; worker_queue (the activity's row, by pk_worker_queue). A wait for a lock ends after a
--   second with error 1222 (LOCK_TIMEOUT, see README.md).
-- Errors:
--   50010 invalid_lock_token: nobody holds the token
CREATE OR ALTER PROCEDURE duroxide.abandon_work_item
    @id         BIGINT,
    @lock_token UNIQUEIDENTIFIER,
    @delay_ms   BIGINT,
    @give_back  BIT
AS
SET NOCOUNT, XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
IF @@LOCK_TIMEOUT = -1
    SET LOCK_TIMEOUT 1000;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
DECLARE @code_id INT, @unnamed_back BIT = @give_back;
BEGIN TRY
    BEGIN TRANSACTION;

    IF @give_back = 0
    BEGIN
        SELECT @code_id = q.code_id
        FROM duroxide.worker_queue AS q WITH (INDEX (pk_worker_queue))
        WHERE q.id = @id AND q.lock_token = @lock_token AND q.unnamed_count > 0
        OPTION (KEEPFIXED PLAN);
        IF EXISTS (SELECT 1 FROM duroxide.known_codes(1, @now - 604800000) AS k WHERE k.code_id = @code_id)
            SET @unnamed_back = 1;
    END;

    -- vet:allow Q3: a lease that has ended by itself may be given up
    UPDATE q
    SET lock_token = NULL, locked_until = NULL, visible_at = @now + @delay_ms, wake_at = @now + @delay_ms,
        ready = CASE WHEN @delay_ms > 0 THEN 0 ELSE 1 END,
        attempt_count = q.attempt_count - CASE
            WHEN @give_back = 1 AND q.attempt_count > 0 OR @unnamed_back = 1 AND q.unnamed_count > 0 THEN 1
            ELSE 0
        END,
        unnamed_count = q.unnamed_count - CASE WHEN @unnamed_back = 1 AND q.unnamed_count > 0 THEN 1 ELSE 0 END
    FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, ROWLOCK, INDEX (pk_worker_queue))
    WHERE q.id = @id AND q.lock_token = @lock_token
    OPTION (KEEPFIXED PLAN);
    IF @@ROWCOUNT = 0
        THROW 50010, N'Invalid lock token.', 1;

    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;
GO
GRANT EXECUTE ON duroxide.abandon_work_item TO duroxide_runtime;
