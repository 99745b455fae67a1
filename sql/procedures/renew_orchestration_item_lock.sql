-- Moves the end of a turn's lease to a time from now. A lease that has ended cannot be
-- renewed, even if nobody has taken the instance.
--
-- Called by: Store.RenewOrchestrationItemLock, renew_locks.
-- Transaction: its own.
--
-- Parameters:
--   @lock_token  the turn's lease
--   @extend_ms   how long it lasts from now on, in milliseconds
--
-- Locks: inboxes (the instance's row, exclusive, by pk_inboxes; it is found by uq_inboxes_token
--   without a lock). A wait for a lock ends after a second with error 1222 (LOCK_TIMEOUT, see
--   README.md).
--
-- Hints: INDEX seeks the token. FORCESEEK locks the row before its keys in the indexes, as all
--   others do; READCOMMITTEDLOCK takes locks under row versioning as well, and ROWLOCK keeps to
--   rows. KEEPFIXED PLAN prevents a new plan when many rows have changed, see
--   0005_storage.sql.
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
IF @@LOCK_TIMEOUT = -1
    SET LOCK_TIMEOUT 1000;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
DECLARE @instance_id NVARCHAR(400);
BEGIN TRY
    BEGIN TRANSACTION;

    -- Found by the token, written by the id: whoever writes the row locks it first and
    -- its keys in the indexes after it, so nobody may come the other way.
    SELECT @instance_id = b.instance_id
    FROM duroxide.inboxes AS b WITH (INDEX (uq_inboxes_token))
    -- The second condition is the filter of the index.
    WHERE b.lock_token = @lock_token
      AND b.lock_token IS NOT NULL
    OPTION (KEEPFIXED PLAN);
    -- Without a head, as under any lease: there would be one if the clock was set back
    -- after the lease had seemed to end.
    UPDATE b
    SET locked_until = @now + @extend_ms, wake_at = @now + @extend_ms, head_id = NULL
    FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_inboxes))
    WHERE instance_id = @instance_id
      AND lock_token = @lock_token
      AND locked_until > @now
    OPTION (KEEPFIXED PLAN);
    IF @@ROWCOUNT = 0
    BEGIN
        IF EXISTS (SELECT 1 FROM duroxide.inboxes AS b WITH (INDEX (uq_inboxes_token)) WHERE b.lock_token = @lock_token AND b.lock_token IS NOT NULL)
            THROW 50011, N'Instance lock expired.', 1;
        THROW 50010, N'Invalid lock token.', 1;
    END;

    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;
GO
GRANT EXECUTE ON duroxide.renew_orchestration_item_lock TO duroxide_runtime;
