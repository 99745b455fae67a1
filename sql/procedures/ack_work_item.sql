-- Ends an activity and sends its completion, if there is one, to its instance: both, or neither, take
-- effect. Completions for one instance can be committed at the same time, except one that finds the
-- instance idle.
-- Called by: Store.AckWorkItem, ack_work_and_take.
-- Transaction: its own.
-- Parameters:
--   @id, @lock_token          the activity and its lease
--   @instance_id, @work_item  the completion; NULL for none
-- Locks: inboxes (the instance's row, shared by share_inbox, or exclusive by lock_inbox if the
--   instance is idle), instances (shared, by share_inbox), orchestrator_queue (the new row),
--   worker_queue (the activity's row, by pk_worker_queue), sessions (by stamp_session). A wait for a
--   lock ends after a second with error 1222 (LOCK_TIMEOUT, see README.md).
-- Hints: INDEX, READCOMMITTEDLOCK, ROWLOCK and KEEPFIXED PLAN as in README.md.
-- Errors:
--   50010 invalid_lock_token: nobody holds the token
--   50011 lock_expired: the token's lease has ended
--
-- gen:null @instance_id @work_item
CREATE OR ALTER PROCEDURE duroxide.ack_work_item
    @id          BIGINT,
    @lock_token  UNIQUEIDENTIFIER,
    @instance_id NVARCHAR(400),
    @work_item   NVARCHAR(MAX)
AS
SET NOCOUNT, XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
IF @@LOCK_TIMEOUT = -1
    SET LOCK_TIMEOUT 1000;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
DECLARE @ended TABLE (session_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NULL);
DECLARE @session_id NVARCHAR(400), @shared BIT, @visible_at BIGINT;
BEGIN TRY
    BEGIN TRANSACTION;

    IF @instance_id IS NOT NULL
    BEGIN
        EXEC duroxide.join_inbox @instance_id = @instance_id, @now = @now, @shared = @shared OUTPUT, @visible_at = @visible_at OUTPUT;
        INSERT INTO duroxide.orchestrator_queue (instance_id, kind, work_item, visible_at, created_at)
        VALUES (@instance_id, 3, @work_item, @visible_at, @now);
        IF @shared = 0
            EXEC duroxide.refresh_inbox @instance_id = @instance_id, @now = @now;
    END;

    DELETE q
    OUTPUT deleted.session_id INTO @ended (session_id)
    FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, ROWLOCK, INDEX (pk_worker_queue))
    WHERE q.id = @id
      AND q.lock_token = @lock_token
      AND q.locked_until > @now
    OPTION (KEEPFIXED PLAN);
    IF @@ROWCOUNT = 0
    BEGIN
        IF EXISTS (SELECT 1 FROM duroxide.worker_queue AS q WITH (INDEX (pk_worker_queue)) WHERE q.id = @id AND q.lock_token = @lock_token)
            THROW 50011, N'Activity lock expired.', 1;
        THROW 50010, N'Invalid lock token.', 1;
    END;
    SELECT @session_id = e.session_id FROM @ended AS e;
    IF @session_id IS NOT NULL
        EXEC duroxide.stamp_session @session_id = @session_id, @now = @now;

    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;
GO
GRANT EXECUTE ON duroxide.ack_work_item TO duroxide_runtime;
