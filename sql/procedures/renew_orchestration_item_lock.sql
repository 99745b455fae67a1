-- Moves the end of an instance's lease to @extend_ms milliseconds from now (§5.4). A
-- lease that has ended is never revived, even if nobody took the instance.
--
-- Locks: inboxes.
-- Hints: INDEX finds the token by a seek (rule Q9). FORCESEEK locks the row by its key, and
-- its keys in the indexes after it, as everybody does; READCOMMITTEDLOCK makes row versions
-- no exception, and ROWLOCK keeps to rows.
-- KEEPFIXED PLAN keeps the plan however many rows change: see 0005_storage_sqlserver.sql.
--
-- Errors:
--   50010 invalid_lock_token: nobody holds the token
--   50011 lock_expired: the token's lease has ended
CREATE OR ALTER PROCEDURE duroxide.renew_orchestration_item_lock
    @lock_token UNIQUEIDENTIFIER,
    @extend_ms  BIGINT
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
DECLARE @instance_id NVARCHAR(400);
BEGIN TRY
    BEGIN TRANSACTION;

    -- Found by the token, written by the id: whoever writes the row locks it first and
    -- its keys in the indexes after it, so nobody may come the other way.
    SELECT @instance_id = b.instance_id
    FROM duroxide.inboxes AS b WITH (INDEX (uq_inboxes_token))
    WHERE b.lock_token = @lock_token
    OPTION (KEEPFIXED PLAN);
    -- Without a head, as under any lease: there would be one if the clock was set back
    -- after the lease had seemed to end.
    UPDATE b
    SET locked_until = @now + @extend_ms, wake_at = @now + @extend_ms, head_id = NULL
    FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK (pk_inboxes (instance_id)))
    WHERE instance_id = @instance_id
      AND lock_token = @lock_token
      AND locked_until > @now
    OPTION (KEEPFIXED PLAN);
    IF @@ROWCOUNT = 0
    BEGIN
        IF EXISTS (SELECT 1 FROM duroxide.inboxes AS b WITH (INDEX (uq_inboxes_token)) WHERE b.lock_token = @lock_token)
            THROW 50011, N'Instance lock expired.', 1;
        THROW 50010, N'Invalid lock token.', 1;
    END;

    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;
