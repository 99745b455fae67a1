-- Moves undecodable messages of a turn from the queue to dead_letters, where people can look at them.
-- If none is left, the turn is over and the instance is released. A lease that has ended is
-- accepted as long as no other worker has taken the instance.
--
-- Called by: Store.FetchOrchestrationItem, Store.Claim, Store.AckTurnAndClaim,
--   Store.AckWorkAndClaim.
-- Transaction: its own.
--
-- Parameters:
--   @lock_token  the turn's lease
--   @letters     the messages, by their ids in orchestrator_queue, with the error of each
--
-- Result sets:
--   1 Rest: how many messages the turn still has
--
-- Locks: inboxes (the instance's row, by pk_inboxes), orchestrator_queue (the messages, by
--   pk_orchestrator_queue), dead_letters (the new rows).
--
-- Hints: INDEX seeks the token, and the messages of the turn without hidden ones. FORCESEEK locks
--   rows before their keys in the indexes, as all others do, and LOOP seeks each message;
--   READCOMMITTEDLOCK takes locks under row versioning as well, and ROWLOCK keeps to rows.
--   KEEPFIXED PLAN prevents a new plan when many rows have changed, see 0005_storage.sql.
--
-- Errors:
--   50010 invalid_lock_token: nobody holds the token
CREATE OR ALTER PROCEDURE duroxide.set_messages_aside
    @lock_token UNIQUEIDENTIFIER,
    @letters    duroxide.letter_list_v1 READONLY
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
DECLARE @instance_id NVARCHAR(400);
BEGIN TRY
    BEGIN TRANSACTION;

    SELECT @instance_id = b.instance_id
    FROM duroxide.inboxes AS b WITH (INDEX (uq_inboxes_token))
    -- The second condition is the filter of the index, here and below.
    WHERE b.lock_token = @lock_token
      AND b.lock_token IS NOT NULL
    OPTION (KEEPFIXED PLAN);
    -- Without a head, which may be one of the messages if the lease has ended. A live lease
    -- has none, and wakes at its end.
    -- vet:allow Q3: as in an abandon, a lease that has ended by itself still counts
    UPDATE b
    SET head_id = NULL, wake_at = b.locked_until
    FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_inboxes))
    WHERE instance_id = @instance_id
      AND lock_token = @lock_token
    OPTION (KEEPFIXED PLAN);
    IF @@ROWCOUNT = 0
        THROW 50010, N'Invalid lock token.', 1;

    INSERT INTO duroxide.dead_letters (queue, queue_id, instance_id, work_item, error, created_at)
    SELECT N'orchestrator', q.id, q.instance_id, q.work_item, l.error, @now
    FROM @letters AS l
    INNER LOOP JOIN duroxide.orchestrator_queue AS q WITH (INDEX (pk_orchestrator_queue))
        ON q.instance_id = @instance_id AND q.id = l.queue_id AND q.lock_token = @lock_token
    ORDER BY l.position
    OPTION (KEEPFIXED PLAN);
    -- vet:allow Q3: the inbox is locked above, and has the token
    -- vet:allow Q6-order: whoever writes these rows has locked the inbox before
    DELETE q
    FROM @letters AS l
    INNER LOOP JOIN duroxide.orchestrator_queue AS q WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_orchestrator_queue)) ON q.id = l.queue_id
    WHERE q.instance_id = @instance_id
      AND q.lock_token = @lock_token
    OPTION (KEEPFIXED PLAN);

    IF NOT EXISTS (
        SELECT 1
        FROM duroxide.orchestrator_queue AS q WITH (INDEX (ix_orchestrator_queue_token))
        WHERE q.instance_id = @instance_id
          AND q.lock_token = @lock_token
          AND q.lock_token IS NOT NULL
    )
        -- vet:allow Q3: the inbox is locked above, and has the token
        UPDATE b
        SET lock_token = NULL, locked_until = NULL, head_id = NULL, wake_at = NULL
        FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_inboxes))
        WHERE instance_id = @instance_id
          AND lock_token = @lock_token
        OPTION (KEEPFIXED PLAN);
    EXEC duroxide.refresh_inbox @instance_id = @instance_id, @now = @now;

    -- gen:result Rest
    SELECT COUNT_BIG(*) AS messages
    FROM duroxide.orchestrator_queue AS q WITH (INDEX (ix_orchestrator_queue_token))
    WHERE q.instance_id = @instance_id
      AND q.lock_token = @lock_token
      AND q.lock_token IS NOT NULL
    OPTION (KEEPFIXED PLAN);

    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;
GO
GRANT EXECUTE ON duroxide.set_messages_aside TO duroxide_runtime;
