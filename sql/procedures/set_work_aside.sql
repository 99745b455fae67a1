-- Moves a locked activity that could not be decoded out of the queue, whose head it
-- would block for ever (§5.10), for somebody to look at.
--
-- Locks: worker_queue, dead_letters.
--
-- Errors:
--   50001 wrong_isolation_level: the session is not under READ COMMITTED; do not set
--         an isolation level on the connections that the store uses
--   50010 invalid_lock_token: nobody holds the token
CREATE OR ALTER PROCEDURE duroxide.set_work_aside
    @lock_token UNIQUEIDENTIFIER,
    @error      NVARCHAR(MAX)
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
DECLARE @id BIGINT;
BEGIN TRY
    EXEC duroxide.require_read_committed;
    BEGIN TRANSACTION;

    -- Found by the token, written by the id: whoever writes the row locks it first and
    -- its keys in the indexes after it, so nobody may come the other way.
    SELECT @id = q.id
    FROM duroxide.worker_queue AS q
    WHERE q.lock_token = @lock_token;
    INSERT INTO duroxide.dead_letters (queue, queue_id, instance_id, work_item, error, created_at)
    SELECT N'worker', q.id, q.instance_id, q.work_item, @error, @now
    FROM duroxide.worker_queue AS q
    WHERE q.id = @id
      AND q.lock_token = @lock_token;
    -- vet:allow Q3: as in an abandon, a lease that has ended by itself still counts
    -- vet:allow Q6-order: nobody else locks dead letters before anything
    DELETE FROM duroxide.worker_queue
    WHERE id = @id
      AND lock_token = @lock_token;
    IF @@ROWCOUNT = 0
        THROW 50010, N'Invalid lock token.', 1;

    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;
