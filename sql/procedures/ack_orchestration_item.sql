-- Commits one turn and releases the instance (§5.2): all of it or nothing.
--
-- The order of the statements is that of the locks, except that activities are
-- queued before any are cancelled: one that is scheduled and cancelled in the same
-- turn must be gone in the end (pitfall P11). History is only ever added to, never
-- read, so that an instance whose history is damaged can still be failed (pitfall
-- P10).
--
-- Parameters: the instance's row is made or renamed if both @name and @version are
-- given; NULL leaves a fact as it is. @output counts with @status only. @custom_status
-- is stored if @set_custom_status = 1, NULL being a reset. @clear_values = 1 clears
-- all keys before the changes in @changes are made. @drop_timers = 1 deletes what is
-- hidden and starts nothing, before the messages in @messages are added.
--
-- Result sets:
--   1 Turn: the instance, and in how many milliseconds it may be fetchable again; NULL
--     for not before something arrives
--
-- @code_name and @code_version are the code by which the execution's turns are selected,
-- once @name and @version are given; NULL for any worker's.
--
-- gen:null @name @version @code_name @code_version @parent_instance_id @major @minor @patch @status @output @custom_status
--
-- Locks: code_names, framework_versions, inboxes (of all instances concerned, in the order of
-- their ids, so that instances that write to each other do not deadlock),
-- orchestrator_queue, instances, executions, history, kv_store, kv_delta, worker_queue.
-- Names of code are added before the transaction begins.
-- Hints: LOOP and INDEX keep the cancellation from reading the whole queue, and waiting
-- for each row that somebody holds, when the plan was made for an empty one (rule Q9).
-- LOOP seeks each new event in the history, instead of reading all of the history in
-- each turn.
--
-- Errors:
--   50001 wrong_isolation_level: the session is not under READ COMMITTED; do not set
--         an isolation level on the connections that the store uses
--   50010 invalid_lock_token: nobody holds the token
--   50011 lock_expired: the token's lease has ended
--   50012 invalid_execution_id: the first execution is 1
--   50013 duplicate_event: the execution already has an event with one of the ids, or
--         @events has an id twice
CREATE OR ALTER PROCEDURE duroxide.ack_orchestration_item
    @lock_token         UNIQUEIDENTIFIER,
    @execution_id       BIGINT,
    @name               NVARCHAR(MAX),
    @version            NVARCHAR(MAX),
    @code_name          NVARCHAR(401),
    @code_version       NVARCHAR(401),
    @parent_instance_id NVARCHAR(400),
    @major              BIGINT,
    @minor              BIGINT,
    @patch              BIGINT,
    @status             NVARCHAR(32),
    @output             NVARCHAR(MAX),
    @set_custom_status  BIT,
    @custom_status      NVARCHAR(MAX),
    @clear_values       BIT,
    @drop_timers        BIT,
    @events             duroxide.event_list_v1 READONLY,
    @changes            duroxide.kv_list_v1 READONLY,
    @messages           duroxide.message_list_v1 READONLY,
    @activities         duroxide.work_list_v1 READONLY,
    @cancelled          duroxide.activity_list_v1 READONLY
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
DECLARE @instance_id NVARCHAR(400), @next NVARCHAR(400), @version_id INT, @code_id INT;
DECLARE @finished BIT = CASE WHEN @status IN (N'Completed', N'Failed', N'ContinuedAsNew') THEN 1 ELSE 0 END;
DECLARE @targets TABLE (instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY);
DECLARE @codes duroxide.code_list_v1;
DECLARE @work TABLE (id BIGINT NOT NULL PRIMARY KEY);
BEGIN TRY
    EXEC duroxide.require_read_committed;
    EXEC duroxide.get_code @name = @code_name, @version = @code_version, @code_id = @code_id OUTPUT;
    INSERT INTO @codes (position, name, version)
    SELECT ROW_NUMBER() OVER (ORDER BY n.name, n.version), n.name, n.version
    FROM (
        SELECT m.name, m.version
        FROM @messages AS m
        WHERE m.name IS NOT NULL
        UNION
        SELECT a.name, N'' AS version
        FROM @activities AS a
        WHERE a.name IS NOT NULL
    ) AS n
    WHERE NOT EXISTS (
        SELECT 1
        FROM duroxide.code_names AS c WITH (INDEX (uq_code_names))
        WHERE c.name = n.name
          AND c.version = n.version
    );
    IF @@ROWCOUNT > 0
        EXEC duroxide.add_codes @codes = @codes;
    BEGIN TRANSACTION;

    IF @major IS NOT NULL
        EXEC duroxide.get_framework_version @major = @major, @minor = @minor, @patch = @patch, @version_id = @version_id OUTPUT;

    -- Found without a lock, and tested again under it.
    SELECT @instance_id = b.instance_id
    FROM duroxide.inboxes AS b
    WHERE b.lock_token = @lock_token;
    IF @instance_id IS NULL
        THROW 50010, N'Invalid lock token.', 1;

    INSERT INTO @targets (instance_id)
    SELECT @instance_id
    UNION
    SELECT m.instance_id
    FROM @messages AS m;
    SELECT @next = MIN(t.instance_id) FROM @targets AS t;
    WHILE @next IS NOT NULL
    BEGIN
        EXEC duroxide.lock_inbox @instance_id = @next;
        SELECT @next = MIN(t.instance_id) FROM @targets AS t WHERE t.instance_id > @next;
    END;

    UPDATE duroxide.inboxes
    SET lock_token = NULL, locked_until = NULL, head_id = NULL, wake_at = NULL
    WHERE instance_id = @instance_id
      AND lock_token = @lock_token
      AND locked_until > @now;
    IF @@ROWCOUNT = 0
    BEGIN
        IF EXISTS (SELECT 1 FROM duroxide.inboxes AS b WHERE b.lock_token = @lock_token)
            THROW 50011, N'Instance lock expired.', 1;
        THROW 50010, N'Invalid lock token.', 1;
    END;
    -- Here, since a lost lock is what the caller must hear of first.
    IF @execution_id < 1
        THROW 50012, N'The execution id must be set: the first is 1.', 1;

    -- vet:allow Q3: the lease has just been ended under the same token
    DELETE FROM duroxide.orchestrator_queue
    WHERE instance_id = @instance_id
      AND lock_token = @lock_token;
    IF @drop_timers = 1
        DELETE FROM duroxide.orchestrator_queue
        WHERE instance_id = @instance_id
          AND kind = 3
          AND visible_at > @now;
    INSERT INTO duroxide.orchestrator_queue (instance_id, kind, code_id, work_item, visible_at, created_at)
    SELECT m.instance_id, m.kind, COALESCE(c.id, 0), m.work_item, @now + m.delay_ms, @now
    FROM @messages AS m
    LEFT LOOP JOIN duroxide.code_names AS c WITH (INDEX (uq_code_names)) ON c.name = m.name AND c.version = m.version
    ORDER BY m.position;

    -- vet:allow Q10: the inbox is locked, so nobody else makes the row
    UPDATE duroxide.instances
    SET current_execution_id = CASE WHEN current_execution_id < @execution_id THEN @execution_id ELSE current_execution_id END,
        updated_at = @now
    WHERE instance_id = @instance_id;
    IF @@ROWCOUNT = 0 AND @name IS NOT NULL AND @version IS NOT NULL
        INSERT INTO duroxide.instances
            (instance_id, orchestration_name, orchestration_version, current_execution_id, parent_instance_id, created_at, updated_at)
        VALUES (@instance_id, @name, @version, @execution_id, @parent_instance_id, @now, @now);
    ELSE IF @name IS NOT NULL AND @version IS NOT NULL
        -- On its own, since only the first turn of an execution says it.
        UPDATE duroxide.instances
        SET orchestration_name = @name, orchestration_version = @version
        WHERE instance_id = @instance_id;
    IF @set_custom_status = 1
        UPDATE duroxide.instances
        SET custom_status = @custom_status, custom_status_version = custom_status_version + 1
        WHERE instance_id = @instance_id;

    IF NOT EXISTS (
        SELECT 1
        -- vet:allow Q10: the inbox is locked, so nobody else makes the row
        FROM duroxide.executions AS e
        WHERE e.instance_id = @instance_id
          AND e.execution_id = @execution_id
    )
        INSERT INTO duroxide.executions (instance_id, execution_id, status, output, version_id, code_id, started_at, completed_at)
        VALUES (
            @instance_id, @execution_id, COALESCE(@status, N'Running'), CASE WHEN @status IS NULL THEN NULL ELSE @output END,
            COALESCE(@version_id, 0), CASE WHEN @name IS NOT NULL AND @version IS NOT NULL THEN @code_id ELSE 0 END, @now, CASE WHEN @finished = 1 THEN @now END
        );
    ELSE
    BEGIN
        IF @version_id IS NOT NULL
            UPDATE duroxide.executions
            SET version_id = @version_id
            WHERE instance_id = @instance_id
              AND execution_id = @execution_id;
        IF @name IS NOT NULL AND @version IS NOT NULL
            UPDATE duroxide.executions
            SET code_id = @code_id
            WHERE instance_id = @instance_id
              AND execution_id = @execution_id;
        IF @status IS NOT NULL
            UPDATE duroxide.executions
            SET status = @status, output = @output, completed_at = CASE WHEN @finished = 1 THEN @now END
            WHERE instance_id = @instance_id
              AND execution_id = @execution_id;
    END;

    IF EXISTS (
        SELECT 1
        FROM @events AS e
        -- vet:allow Q10: the inbox is locked, so nobody else adds events
        INNER LOOP JOIN duroxide.history AS h
            ON h.instance_id = @instance_id AND h.execution_id = @execution_id AND h.event_id = e.event_id
    )
        THROW 50013, N'The execution already has an event with one of the ids.', 1;
    IF EXISTS (SELECT 1 FROM @events AS e GROUP BY e.event_id HAVING COUNT(*) > 1)
        THROW 50013, N'Two of the events have the same id.', 1;
    INSERT INTO duroxide.history (instance_id, execution_id, event_id, event_type, event_data, data_bytes, created_at)
    SELECT @instance_id, @execution_id, e.event_id, e.event_type, e.event_data, e.data_bytes, @now
    FROM @events AS e;

    IF @clear_values = 1 OR EXISTS (SELECT 1 FROM @changes AS c)
        EXEC duroxide.change_values @instance_id = @instance_id, @now = @now, @clear = @clear_values, @changes = @changes;
    IF @finished = 1
        EXEC duroxide.merge_values @instance_id = @instance_id;

    INSERT INTO duroxide.worker_queue
        (instance_id, execution_id, activity_id, session_id, tag, code_id, work_item, visible_at, wake_at, created_at)
    SELECT a.instance_id, a.execution_id, a.activity_id, a.session_id, a.tag, COALESCE(c.id, 0), a.work_item, @now, @now, @now
    FROM @activities AS a
    LEFT LOOP JOIN duroxide.code_names AS c WITH (INDEX (uq_code_names)) ON c.name = a.name AND c.version = N''
    ORDER BY a.position;
    -- Found by the activity, deleted by the id and in the order of ids: whoever writes the
    -- row locks it first and its keys in the indexes after it, so nobody may come the
    -- other way.
    IF EXISTS (SELECT 1 FROM @cancelled AS c)
    BEGIN
        INSERT INTO @work (id)
        SELECT DISTINCT q.id
        FROM @cancelled AS c
        INNER LOOP JOIN duroxide.worker_queue AS q WITH (INDEX (ix_worker_queue_activity))
            ON q.instance_id = c.instance_id AND q.execution_id = c.execution_id AND q.activity_id = c.activity_id;
        DELETE w
        FROM @work AS k
        INNER LOOP JOIN duroxide.worker_queue AS w ON w.id = k.id;
    END;

    SELECT @next = MIN(t.instance_id) FROM @targets AS t;
    WHILE @next IS NOT NULL
    BEGIN
        EXEC duroxide.refresh_inbox @instance_id = @next, @now = @now;
        SELECT @next = MIN(t.instance_id) FROM @targets AS t WHERE t.instance_id > @next;
    END;

    -- gen:result Turn :one
    SELECT b.instance_id, CASE WHEN b.head_id IS NULL THEN b.wake_at - @now ELSE 0 END AS ready_in_ms
    FROM duroxide.inboxes AS b
    WHERE b.instance_id = @instance_id;

    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;
