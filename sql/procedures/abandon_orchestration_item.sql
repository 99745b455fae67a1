-- Gives a turn's messages back before it is finished. A lease that has ended by itself can still be given up, until
-- somebody else has the instance.
-- Called by: Store.AbandonOrchestrationItem, Store.FetchOrchestrationItem, Store.Claim, Store.AckTurnAndClaim,
--   Store.AckWorkAndClaim, give_back.
-- Transaction: its own.
-- Parameters:
--   @delay_ms   hides the turn's messages for so many milliseconds; 0 leaves them visible
--   @give_back  1 does not count the attempt. An attempt of a claim that named no code does not count
--               either if another worker has known the code within a week
--   @misfit     why the turn's code does not fit its history; NULL if it does. It holds the instance
-- Locks: inboxes, orchestrator_queue (the instance's rows, by the primary key), what function inbox_state reads. A
--   wait for a lock ends after a second with error 1222 (LOCK_TIMEOUT, see README.md).
-- Errors:
--   50010 invalid_lock_token: nobody holds the token
-- vet:allow Q3: a lease that has ended by itself may be given up
CREATE OR ALTER PROCEDURE duroxide.abandon_orchestration_item
    @instance_id NVARCHAR(400),
    @lock_token  UNIQUEIDENTIFIER,
    @delay_ms    BIGINT,
    @give_back   BIT,
    @misfit      NVARCHAR(MAX) = NULL
AS
SET NOCOUNT, XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
IF @@LOCK_TIMEOUT = -1
    SET LOCK_TIMEOUT 1000;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()), @code_id INT, @claimed_at BIGINT, @claimed_to BIGINT, @unnamed BIT;
BEGIN TRY
    BEGIN TRANSACTION;

    UPDATE b
    SET lock_token = NULL, locked_until = NULL, claimed_at = NULL, claimed_to = NULL, unnamed = 0, holder = NULL, head_id = NULL, wake_at = NULL,
        @claimed_at = b.claimed_at, @claimed_to = b.claimed_to, @unnamed = b.unnamed, @code_id = b.code_id
    FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, ROWLOCK, INDEX (pk_inboxes))
    WHERE b.instance_id = @instance_id AND b.lock_token = @lock_token
    OPTION (KEEPFIXED PLAN);
    IF @@ROWCOUNT = 0
        THROW 50010, N'Invalid lock token.', 1;
    IF @unnamed = 1 AND EXISTS (SELECT 1 FROM duroxide.known_codes(0, @now - 604800000) AS k WHERE k.code_id = @code_id)
        SET @give_back = 1;
    IF @give_back = 0
        EXEC duroxide.count_attempt @instance_id = @instance_id, @claimed_at = @claimed_at, @claimed_to = @claimed_to, @unnamed = @unnamed;
    IF @delay_ms > 0 OR @misfit IS NOT NULL
        UPDATE q
        SET visible_at = CASE WHEN @delay_ms > 0 THEN @now + @delay_ms ELSE q.visible_at END,
            misfit = COALESCE(@misfit, q.misfit),
            misfit_at = CASE WHEN @misfit IS NULL THEN q.misfit_at ELSE COALESCE(q.misfit_at, @now) END
        FROM (VALUES (CAST(0 AS TINYINT)), (CAST(1 AS TINYINT)), (CAST(2 AS TINYINT)), (CAST(3 AS TINYINT)), (CAST(4 AS TINYINT))) AS k (kind)
        INNER LOOP JOIN duroxide.orchestrator_queue AS q WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_orchestrator_queue)) ON q.kind = k.kind
        WHERE q.instance_id = @instance_id AND q.visible_at <= @claimed_at AND q.id <= @claimed_to
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
