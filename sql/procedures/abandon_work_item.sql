-- Puts an activity back, visible @delay_ms milliseconds from now (§5.13). That the
-- lease may have ended by itself does not matter as long as nobody else took the
-- activity. Its session and its tag stay, and the owner keeps the session.
--
-- Parameters: @give_back = 1 takes the fetch's attempt back.
--
-- Locks: worker_queue, by the primary key.
-- Hints: INDEX finds a row by its key, whatever the statistics say: a write that came to
-- it by the token's index would lock that first and the row after it, and everybody else
-- comes the other way. ROWLOCK keeps the locks to rows.
--
-- Errors:
--   50010 invalid_lock_token: nobody holds the token
CREATE OR ALTER PROCEDURE duroxide.abandon_work_item
    @lock_token UNIQUEIDENTIFIER,
    @delay_ms   BIGINT,
    @give_back  BIT
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
DECLARE @id BIGINT;
BEGIN TRY
    BEGIN TRANSACTION;

    SELECT @id = q.id
    FROM duroxide.worker_queue AS q WITH (INDEX (uq_worker_queue_token))
    -- The second condition is the filter of the index.
    WHERE q.lock_token = @lock_token
      AND q.lock_token IS NOT NULL;
    -- vet:allow Q3: a lease that has ended by itself may be given up (§5.13)
    UPDATE q
    SET lock_token = NULL, locked_until = NULL, visible_at = @now + @delay_ms, wake_at = @now + @delay_ms,
        ready = CASE WHEN @delay_ms > 0 THEN 0 ELSE 1 END,
        attempt_count = CASE WHEN @give_back = 1 AND q.attempt_count > 0 THEN q.attempt_count - 1 ELSE q.attempt_count END
    FROM duroxide.worker_queue AS q WITH (ROWLOCK, INDEX (pk_worker_queue))
    WHERE q.id = @id
      AND q.lock_token = @lock_token;
    IF @@ROWCOUNT = 0
        THROW 50010, N'Invalid lock token.', 1;

    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;
