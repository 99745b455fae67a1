-- Moves undecodable messages of a turn from the queue to dead_letters, where people can look at them. If no other
-- message of the turn is left, the turn is over and the instance is released. A lease that has ended is accepted as
-- long as no other worker has claimed the instance.
-- Called by: Store.FetchOrchestrationItem, Store.Claim, Store.AckTurnAndClaim, Store.AckWorkAndClaim.
-- Transaction: its own.
-- Parameters:
--   @letters  the messages, by their ids in orchestrator_queue, with the error of each
--   @release  1 if the turn has no other messages
-- Locks: inboxes (the instance's row), orchestrator_queue (the messages), each by the primary key, dead_letters (the
--   new rows).
-- Errors:
--   50010 invalid_lock_token: nobody holds the token
-- vet:allow Q3: as in an abandon, a lease that has ended by itself still counts
-- vet:allow Q6-order: whoever writes messages has locked the inbox before
CREATE OR ALTER PROCEDURE duroxide.set_messages_aside
    @instance_id NVARCHAR(400),
    @lock_token  UNIQUEIDENTIFIER,
    @letters     duroxide.letter_list_v1 READONLY,
    @release     BIT
AS
SET NOCOUNT, XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()), @claimed_at BIGINT, @claimed_to BIGINT;
BEGIN TRY
    BEGIN TRANSACTION;

    -- Without a head, which may be one of the messages if the lease has ended. A live lease has none, and
    -- wakes at its end.
    UPDATE b
    SET head_id = NULL, wake_at = CASE WHEN @release = 0 THEN b.locked_until END, @claimed_at = b.claimed_at, @claimed_to = b.claimed_to,
        lock_token = CASE WHEN @release = 0 THEN b.lock_token END, locked_until = CASE WHEN @release = 0 THEN b.locked_until END,
        claimed_at = CASE WHEN @release = 0 THEN b.claimed_at END, claimed_to = CASE WHEN @release = 0 THEN b.claimed_to END, holder = CASE WHEN @release = 0 THEN b.holder END,
        unnamed = CASE WHEN @release = 0 THEN b.unnamed ELSE 0 END
    FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_inboxes))
    WHERE instance_id = @instance_id AND lock_token = @lock_token
    OPTION (KEEPFIXED PLAN);
    IF @@ROWCOUNT = 0
        THROW 50010, N'Invalid lock token.', 1;

    INSERT INTO duroxide.dead_letters (queue, queue_id, instance_id, work_item, error, created_at)
    SELECT N'orchestrator', q.id, q.instance_id, q.work_item, l.error, @now
    FROM (VALUES (CAST(0 AS TINYINT)), (CAST(1 AS TINYINT)), (CAST(2 AS TINYINT)), (CAST(3 AS TINYINT)), (CAST(4 AS TINYINT))) AS k (kind)
    INNER LOOP JOIN duroxide.orchestrator_queue AS q WITH (FORCESEEK (pk_orchestrator_queue (instance_id, kind, visible_at))) ON q.kind = k.kind
    INNER LOOP JOIN @letters AS l ON l.queue_id = q.id
    WHERE q.instance_id = @instance_id AND q.visible_at <= @claimed_at AND q.id <= @claimed_to
    ORDER BY l.position
    OPTION (KEEPFIXED PLAN);
    DELETE q
    FROM (VALUES (CAST(0 AS TINYINT)), (CAST(1 AS TINYINT)), (CAST(2 AS TINYINT)), (CAST(3 AS TINYINT)), (CAST(4 AS TINYINT))) AS k (kind)
    INNER LOOP JOIN duroxide.orchestrator_queue AS q WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_orchestrator_queue)) ON q.kind = k.kind
    WHERE q.instance_id = @instance_id AND q.visible_at <= @claimed_at AND q.id <= @claimed_to
      AND q.id IN (SELECT l.queue_id FROM @letters AS l)
    OPTION (KEEPFIXED PLAN);
    EXEC duroxide.refresh_inbox @instance_id = @instance_id, @now = @now;

    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;
GO
GRANT EXECUTE ON duroxide.set_messages_aside TO duroxide_runtime;
