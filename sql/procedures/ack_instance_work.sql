-- Ends several activities of one instance and sends their completions, all in one transaction: what
-- ack_work_item does for each, but all or none.
-- Helper of: ack_work_and_take.
-- Transaction: its own. An error does not reach the caller. The caller then ends the activities one
--   by one, and gets the error there if it occurs again.
-- Parameters:
--   @acks         activities with their completions; those of other instances are left out
--   @instance_id  the instance
--   @ended        1 if all are ended; 0 if none is, because of an error or because another worker has one
--                 of them by now
-- Locks: inboxes (the instance's row, shared by share_inbox, or exclusive by lock_inbox if the instance
--   is idle), instances (shared, by share_inbox), orchestrator_queue (the new rows), worker_queue (the
--   activities' rows, in the order of ids, by pk_worker_queue), sessions (by pk_sessions).
-- Hints: INDEX, LOOP, ROWLOCK, READCOMMITTEDLOCK and KEEPFIXED PLAN as in README.md.
--
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.ack_instance_work
    @acks        duroxide.completion_list_v1 READONLY,
    @instance_id NVARCHAR(400),
    @ended       BIT OUTPUT
AS
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
DECLARE @work TABLE (id BIGINT NOT NULL PRIMARY KEY, lock_token UNIQUEIDENTIFIER NOT NULL);
DECLARE @used TABLE (session_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NULL);
DECLARE @shared BIT, @visible_at BIGINT, @wanted INT;
SET @ended = 0;
BEGIN TRY
    -- A list that names an activity twice fails here.
    INSERT INTO @work (id, lock_token)
    SELECT a.id, a.lock_token
    FROM @acks AS a
    WHERE a.instance_id = @instance_id;
    SET @wanted = @@ROWCOUNT;
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
    OUTPUT deleted.session_id INTO @used (session_id)
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
    IF EXISTS (SELECT 1 FROM @used AS u WHERE u.session_id IS NOT NULL)
        UPDATE s
        SET last_activity_at = @now
        FROM (SELECT DISTINCT u.session_id FROM @used AS u) AS d
        INNER LOOP JOIN duroxide.sessions AS s WITH (ROWLOCK, INDEX (pk_sessions)) ON s.session_id = d.session_id
        WHERE s.locked_until > @now
        OPTION (KEEPFIXED PLAN);

    COMMIT TRANSACTION;
    SET @ended = 1;
END TRY
BEGIN CATCH
    -- vet:allow P5-swallow: the caller ends them one by one, and tells the error that comes again
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
END CATCH;
