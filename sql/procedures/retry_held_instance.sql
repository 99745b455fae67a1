-- Makes the messages of a held instance visible at once, before the time of their next try. The instance's timers and
-- other hidden messages do not change.
-- Called by: Store.RetryHeldInstance.
-- Transaction: its own.
-- Result sets:
--   1 Retried: held is 0 if the instance is not held; then nothing was changed
-- Locks: inboxes (the instance's row, by pk_inboxes), orchestrator_queue (the instance's messages, by
--   ix_orchestrator_queue_held: whoever writes messages holds the inbox).
CREATE OR ALTER PROCEDURE duroxide.retry_held_instance
    @instance_id NVARCHAR(400)
AS
SET NOCOUNT, XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
DECLARE @held BIT = 0;
BEGIN TRY
    BEGIN TRANSACTION;

    -- What has messages has an inbox, so none needs to be added. The lock is a write that changes
    -- nothing, as in lock_inbox.
    UPDATE b
    SET locked_until = b.locked_until
    FROM duroxide.inboxes AS b WITH (ROWLOCK, INDEX (pk_inboxes))
    WHERE b.instance_id = @instance_id
    OPTION (KEEPFIXED PLAN);

    UPDATE q
    SET visible_at = CASE WHEN q.visible_at > @now THEN @now ELSE q.visible_at END
    FROM duroxide.orchestrator_queue AS q WITH (ROWLOCK, INDEX (ix_orchestrator_queue_held))
    WHERE q.instance_id = @instance_id
      -- The filter of the index.
      AND q.misfit_at IS NOT NULL
    OPTION (KEEPFIXED PLAN);
    IF @@ROWCOUNT > 0
    BEGIN
        SET @held = 1;
        -- A newer message may be the head.
        EXEC duroxide.refresh_inbox @instance_id = @instance_id, @now = @now, @keep_head = 0;
    END;

    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;

-- gen:result Retried
SELECT @held AS held;
GO
GRANT EXECUTE ON duroxide.retry_held_instance TO duroxide_runtime;
