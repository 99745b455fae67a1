-- Ends several activities of one instance and sends their completions, all in one transaction: what
-- ack_work_item does for each, but all or none.
--
-- Helper of: ack_work_and_take.
-- Transaction: its own. An error does not reach the caller. The caller then ends the activities one
--   by one, and gets the error there if it occurs again.
--
-- Parameters:
--   @acks         activities with their completions; those of other instances are left out
--   @instance_id  the instance
--   @ended        1 if all are ended; 0 if none is, because of an error, because another worker has one
--                 of them by now, or because one belongs to a session
--
-- Locks: worker_queue (shared, by uq_worker_queue_token, before the transaction); inboxes (the
--   instance's row, shared by share_inbox, or exclusive by lock_inbox if the instance is idle),
--   instances (shared, by share_inbox), orchestrator_queue (the new rows), worker_queue (the
--   activities' rows, in the order of ids, by pk_worker_queue).
--
-- Hints: INDEX and LOOP come to each row by its key, whatever the statistics say, ROWLOCK keeps the
--   locks to rows, and READCOMMITTEDLOCK waits for renewals: see ack_work_item. KEEPFIXED PLAN
--   prevents a new plan when many rows have changed, see 0005_storage.sql.
--
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.ack_instance_work
    @acks        duroxide.completion_list_v1 READONLY,
    @instance_id NVARCHAR(400),
    @ended       BIT OUTPUT
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
DECLARE @work TABLE (id BIGINT NOT NULL PRIMARY KEY, lock_token UNIQUEIDENTIFIER NOT NULL);
DECLARE @shared BIT, @visible_at BIGINT, @wanted INT = (SELECT COUNT(*) FROM @acks AS a WHERE a.instance_id = @instance_id);
SET @ended = 0;
BEGIN TRY
    -- Found without a lock that stays, and tested again under one.
    INSERT INTO @work (id, lock_token)
    SELECT DISTINCT q.id, q.lock_token
    FROM @acks AS a
    INNER LOOP JOIN duroxide.worker_queue AS q WITH (INDEX (uq_worker_queue_token)) ON q.lock_token = a.lock_token
    WHERE a.instance_id = @instance_id
      AND q.lock_token IS NOT NULL
      AND q.session_id IS NULL
    OPTION (KEEPFIXED PLAN);
    IF @@ROWCOUNT <> @wanted
        RETURN;
    BEGIN TRANSACTION;

    EXEC duroxide.join_inbox @instance_id = @instance_id, @now = @now, @shared = @shared OUTPUT, @visible_at = @visible_at OUTPUT;
    INSERT INTO duroxide.orchestrator_queue (instance_id, kind, work_item, visible_at, created_at)
    SELECT @instance_id, 3, a.work_item, @visible_at, @now
    FROM @acks AS a
    WHERE a.instance_id = @instance_id
    ORDER BY a.position;
    IF @shared = 0
        EXEC duroxide.refresh_inbox @instance_id = @instance_id, @now = @now;

    DELETE q
    FROM @work AS w
    INNER LOOP JOIN duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, ROWLOCK, INDEX (pk_worker_queue)) ON q.id = w.id
    WHERE q.lock_token = w.lock_token
      AND q.locked_until > @now
    OPTION (KEEPFIXED PLAN);
    IF @@ROWCOUNT <> @wanted
    BEGIN
        ROLLBACK TRANSACTION;
        RETURN;
    END;

    COMMIT TRANSACTION;
    SET @ended = 1;
END TRY
BEGIN CATCH
    -- vet:allow P5-swallow: the caller ends them one by one, and tells the error that comes again
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
END CATCH;
