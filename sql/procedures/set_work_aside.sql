-- Moves a locked, undecodable activity from the queue to dead_letters, where people can look at it. It would block
-- the head of the queue for ever. A lease that has ended is accepted as long as no other worker has taken the
-- activity.
-- Called by: Store.FetchOrchestrationItem, Store.FetchWorkItem, Store.Claim, Store.AckTurnAndClaim,
--   Store.AckWorkAndClaim.
-- Transaction: its own.
-- Parameters:
--   @id, @lock_token  the activity and its lease
--   @error            why it could not be decoded
--   @free_session     1 also deletes the session, which was claimed for this activity only, unless another
--                     worker has claimed it meanwhile or another of its activities is running
-- Locks: worker_queue (the activity's row, by pk_worker_queue), sessions (the session's row, by pk_sessions),
--   dead_letters (the new row).
-- Errors:
--   50010 invalid_lock_token: nobody holds the token
CREATE OR ALTER PROCEDURE duroxide.set_work_aside
    @id           BIGINT,
    @lock_token   UNIQUEIDENTIFIER,
    @error        NVARCHAR(MAX),
    @free_session BIT
AS
SET NOCOUNT, XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
DECLARE @session_id NVARCHAR(400), @item NVARCHAR(MAX), @instance_id NVARCHAR(400), @claims BIGINT;
BEGIN TRY
    BEGIN TRANSACTION;

    SELECT @session_id = q.session_id, @instance_id = q.instance_id, @item = q.work_item
    FROM duroxide.worker_queue AS q WITH (INDEX (pk_worker_queue))
    WHERE q.id = @id
    OPTION (KEEPFIXED PLAN);
    -- The number of claims is read before anything is locked, since a claim locks the
    -- activity first and the session after it. A later claim changes the number, so that
    -- the session stays. An earlier claim holds another activity of the session, which
    -- the EXISTS finds. A renewal leaves the number as it is.
    SELECT @claims = s.claims
    FROM duroxide.sessions AS s WITH (INDEX (pk_sessions))
    WHERE s.session_id = @session_id;
    IF @free_session = 0 OR EXISTS (
        SELECT 1 FROM duroxide.worker_queue AS q WITH (INDEX (ix_worker_queue_session)) WHERE q.ready = 0
          AND q.session_id = @session_id AND q.session_id IS NOT NULL AND q.id <> @id AND q.locked_until > @now
    )
        SET @claims = NULL;
    -- vet:allow Q3: as in an abandon, a lease that has ended by itself still counts
    DELETE q
    FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_worker_queue))
    WHERE id = @id AND lock_token = @lock_token
    OPTION (KEEPFIXED PLAN);
    IF @@ROWCOUNT = 0
        THROW 50010, N'Invalid lock token.', 1;
    DELETE s
    FROM duroxide.sessions AS s WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_sessions))
    WHERE session_id = @session_id AND claims = @claims;
    INSERT INTO duroxide.dead_letters (queue, queue_id, instance_id, work_item, error, created_at)
    VALUES (N'worker', @id, @instance_id, @item, @error, @now);

    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;
GO
GRANT EXECUTE ON duroxide.set_work_aside TO duroxide_runtime;
