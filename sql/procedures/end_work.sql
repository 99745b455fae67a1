-- Ends an activity, or all activities of a list that belong to its instance, and sends their completions: all of it
-- or nothing.
-- Helper of: ack_work_item.
-- Transaction: its own. The caller rolls it back after an error.
-- Parameters:
--   @position     the activity's place in @acks
--   @instance_id  the instance that gets the completion; NULL for none
--   @alone        0 ends the others of the instance as well
-- Locks: those of join_inbox, orchestrator_queue (the new rows), worker_queue (the activities' rows, by
--   pk_worker_queue in the order of ids), sessions (by pk_sessions).
-- Errors:
--   50010 invalid_lock_token: nobody holds the token
--   50011 lock_expired: the token's lease has ended
-- gen:internal
-- vet:allow P1-try: the caller rolls back
-- vet:allow Q5-locks: one row for each activity of the list
CREATE OR ALTER PROCEDURE duroxide.end_work
    @acks        duroxide.completion_list_v1 READONLY,
    @position    INT,
    @instance_id NVARCHAR(400),
    @alone       BIT
AS
DECLARE @work TABLE (id BIGINT NOT NULL PRIMARY KEY, position INT NOT NULL, lock_token UNIQUEIDENTIFIER NOT NULL, work_item NVARCHAR(MAX) NULL);
DECLARE @used TABLE (session_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NULL);
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()), @shared BIT = 0;
-- A list that names an activity twice fails here.
INSERT INTO @work (id, position, lock_token, work_item)
SELECT a.id, a.position, a.lock_token, a.work_item
FROM @acks AS a
WHERE a.position = @position
   OR (@alone = 0 AND a.instance_id = @instance_id);
BEGIN TRANSACTION;
IF @instance_id IS NOT NULL
BEGIN
    EXEC duroxide.join_inbox @instance_id = @instance_id, @now = @now, @shared = @shared OUTPUT;
    INSERT INTO duroxide.orchestrator_queue (instance_id, kind, work_item, visible_at, created_at)
    SELECT @instance_id, 3, w.work_item, @now, @now
    FROM @work AS w
    ORDER BY w.position;
    IF @shared = 0
        EXEC duroxide.refresh_inbox @instance_id = @instance_id, @now = @now;
END;
DELETE q
OUTPUT deleted.session_id INTO @used (session_id)
FROM @work AS w
INNER LOOP JOIN duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, ROWLOCK, INDEX (pk_worker_queue)) ON q.id = w.id
WHERE q.lock_token = w.lock_token AND q.locked_until > @now
OPTION (KEEPFIXED PLAN);
IF @@ROWCOUNT <> (SELECT COUNT(*) FROM @work AS w)
BEGIN
    IF EXISTS (
        SELECT 1 FROM @work AS w
        INNER LOOP JOIN duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, INDEX (pk_worker_queue)) ON q.id = w.id AND q.lock_token = w.lock_token
    )
        THROW 50011, N'Activity lock expired.', 1;
    THROW 50010, N'Invalid lock token.', 1;
END;
IF EXISTS (SELECT 1 FROM @used AS u WHERE u.session_id IS NOT NULL)
    UPDATE s
    SET last_activity_at = @now
    FROM (SELECT DISTINCT u.session_id FROM @used AS u) AS d
    INNER LOOP JOIN duroxide.sessions AS s WITH (ROWLOCK, INDEX (pk_sessions)) ON s.session_id = d.session_id
    WHERE s.locked_until > @now
    OPTION (KEEPFIXED PLAN);
COMMIT TRANSACTION;
