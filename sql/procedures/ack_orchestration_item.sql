-- Commits one turn and releases the instance: all of it or nothing.
--
-- The statements follow the order of locks, with one exception: activities are queued before any are
-- cancelled, so that an activity that is scheduled and cancelled in the same turn is gone in the
-- end. The history is not read, so that an instance with a damaged history can still fail. The
-- number of statements does not depend on the numbers of messages, activities and events.
--
-- Called by: Store.AckOrchestrationItem, ack_turn_and_take.
-- Transaction: its own. Names of code and versions of the framework are added before it begins, so
--   that others do not wait for this transaction to read them.
--
-- Parameters:
--   @lock_token          the turn's lease
--   @execution_id        the execution that the turn belongs to, from 1
--   @name, @version      if both are given, the instance's row is added or renamed; NULL leaves them
--                        unchanged
--   @code_name, @code_version
--                        the code by which the execution's turns are selected, once @name and @version
--                        are given; NULL for any worker's
--   @parent_instance_id  of a new instance; NULL for a root
--   @major, @minor, @patch
--                        the version of the framework that the execution is bound to; NULL leaves it
--                        unchanged
--   @status, @output     those of the execution; NULL leaves both unchanged
--   @set_custom_status   1 stores @custom_status
--   @custom_status       the custom status; NULL is a reset
--   @clear_values        1 clears all keys before the changes in @changes are made
--   @drop_timers         1 deletes hidden timers before the messages in @messages are added
--   @events              new events of the history
--   @changes             changes of the key-value map
--   @messages            messages to instances, with delays in milliseconds
--   @activities          activities to queue
--   @cancelled           activities to delete
--   @peeked              1 if the fetch left queue messages where they were: then those that are
--                        not in @queues as read wait, and the instance awaits only queues of @queues
--   @queues              how many messages of each queue the turn has read, and which it awaits
--
-- Result sets:
--   1 Turn: the instance, and in how many milliseconds it may be fetched again; NULL if it needs a new
--     message first
--
-- Locks: code_names, framework_versions (before the transaction); inboxes (of all instances
--   concerned, in the order of ids, by lock_inboxes, so that instances that write to each other do
--   not deadlock), orchestrator_queue (the turn's messages by ix_orchestrator_queue_token, those of
--   queues by leave_messages, line_up_messages and await_queues, timers by
--   ix_orchestrator_queue_kind: whoever writes messages holds the inbox), instances, executions,
--   history, kv_store, kv_delta, worker_queue (each row by its primary key). A wait for a lock ends
--   after a second with error 1222 (LOCK_TIMEOUT, see README.md).
--
-- Hints: INDEX finds the row by its primary key, whatever the statistics say. A write through the
--   token's index would lock the key in that index before the row. All others lock the row first,
--   so the two would deadlock. READCOMMITTEDLOCK waits for a renewal that is not committed yet,
--   even where writes look at the last committed version first (optimized locking). ROWLOCK keeps
--   the locks to rows. FORCESEEK finds a message that waits, however many others there are. LOOP
--   seeks each new event and each cancelled activity. A plan that was made for an empty table would
--   read all of the history or the queue, and wait for each row that somebody holds. KEEPFIXED PLAN
--   prevents a new plan when many rows have changed, see 0005_storage.sql.
--
-- Errors:
--   50010 invalid_lock_token: nobody holds the token
--   50011 lock_expired: the token's lease has ended
--   50012 invalid_execution_id: the first execution is 1
--   50013 duplicate_event: the execution already has an event with one of the ids, or
--         @events has an id twice
--
-- Length: it is one transaction from the lease to the answer, a few statements for each table in
--   the order of locks; helpers would hide that order.
CREATE OR ALTER PROCEDURE duroxide.ack_orchestration_item
    @lock_token         UNIQUEIDENTIFIER,
    @execution_id       BIGINT,
    @name               NVARCHAR(MAX) = NULL,
    @version            NVARCHAR(MAX) = NULL,
    @code_name          NVARCHAR(401) = NULL,
    @code_version       NVARCHAR(401) = NULL,
    @parent_instance_id NVARCHAR(400) = NULL,
    @major              BIGINT = NULL,
    @minor              BIGINT = NULL,
    @patch              BIGINT = NULL,
    @status             NVARCHAR(32) = NULL,
    @output             NVARCHAR(MAX) = NULL,
    @set_custom_status  BIT = 0,
    @custom_status      NVARCHAR(MAX) = NULL,
    @clear_values       BIT = 0,
    @drop_timers        BIT = 0,
    @events             duroxide.event_list_v1 READONLY,
    @changes            duroxide.kv_list_v1 READONLY,
    @messages           duroxide.message_list_v1 READONLY,
    @activities         duroxide.work_list_v1 READONLY,
    @cancelled          duroxide.activity_list_v1 READONLY,
    @peeked             BIT = 0,
    @queues             duroxide.queue_list_v1 READONLY
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
IF @@LOCK_TIMEOUT = -1
    SET LOCK_TIMEOUT 1000;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
DECLARE @instance_id NVARCHAR(400), @version_id INT, @code_id INT,
    @finished BIT = CASE WHEN @status IN (N'Completed', N'Failed', N'ContinuedAsNew') THEN 1 ELSE 0 END,
    @named BIT = CASE WHEN @name IS NOT NULL AND @version IS NOT NULL THEN 1 ELSE 0 END,
    @others BIT, @all BIT;
DECLARE @targets duroxide.id_list_v1;
DECLARE @codes duroxide.code_list_v1;
DECLARE @work TABLE (id BIGINT NOT NULL PRIMARY KEY);
BEGIN TRY
    IF @named = 1
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
    IF @major IS NOT NULL
        EXEC duroxide.get_framework_version @major = @major, @minor = @minor, @patch = @patch, @version_id = @version_id OUTPUT;

    BEGIN TRANSACTION;

    -- The lease. It is found without a lock, and tested again under it.
    SELECT @instance_id = b.instance_id
    FROM duroxide.inboxes AS b WITH (INDEX (uq_inboxes_token))
    -- The second condition is the filter of the index.
    WHERE b.lock_token = @lock_token
      AND b.lock_token IS NOT NULL
    OPTION (KEEPFIXED PLAN);
    IF @instance_id IS NULL
        THROW 50010, N'Invalid lock token.', 1;

    -- Its own inbox is locked by the end of the lease, if that is the only one.
    IF EXISTS (SELECT 1 FROM @messages AS m WHERE m.instance_id <> @instance_id)
    BEGIN
        SET @others = 1;
        INSERT INTO @targets (position, id)
        SELECT ROW_NUMBER() OVER (ORDER BY n.instance_id), n.instance_id
        FROM (
            SELECT @instance_id AS instance_id
            UNION
            SELECT m.instance_id
            FROM @messages AS m
        ) AS n;
        EXEC duroxide.lock_inboxes @instances = @targets;
    END;
    UPDATE b
    SET lock_token = NULL, locked_until = NULL, head_id = NULL, wake_at = NULL
    FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, ROWLOCK, INDEX (pk_inboxes))
    WHERE b.instance_id = @instance_id
      AND b.lock_token = @lock_token
      AND b.locked_until > @now
    OPTION (KEEPFIXED PLAN);
    IF @@ROWCOUNT = 0
    BEGIN
        IF EXISTS (SELECT 1 FROM duroxide.inboxes AS b WITH (INDEX (pk_inboxes)) WHERE b.instance_id = @instance_id AND b.lock_token = @lock_token)
            THROW 50011, N'Instance lock expired.', 1;
        THROW 50010, N'Invalid lock token.', 1;
    END;
    -- Here, since a lost lock is what the caller must hear of first.
    IF @execution_id < 1
        THROW 50012, N'The execution id must be set: the first is 1.', 1;

    -- Messages: those of the turn go, new ones come.
    IF @peeked = 1
        EXEC duroxide.leave_messages @instance_id = @instance_id, @lock_token = @lock_token, @queues = @queues;
    -- vet:allow Q3: the update above has tested the lease and ended it
    DELETE q
    FROM duroxide.orchestrator_queue AS q WITH (ROWLOCK, INDEX (ix_orchestrator_queue_token))
    WHERE q.instance_id = @instance_id
      AND q.lock_token = @lock_token
      AND q.lock_token IS NOT NULL
    OPTION (KEEPFIXED PLAN);
    IF @drop_timers = 1
        DELETE q
        FROM duroxide.orchestrator_queue AS q WITH (ROWLOCK, INDEX (ix_orchestrator_queue_kind))
        WHERE q.instance_id = @instance_id
          AND q.kind = 3
          AND q.visible_at > @now
        OPTION (KEEPFIXED PLAN);
    INSERT INTO duroxide.orchestrator_queue (instance_id, kind, queue, code_id, work_item, visible_at, created_at)
    SELECT m.instance_id, m.kind, m.queue, COALESCE(c.id, 0), m.work_item, @now + m.delay_ms, @now
    FROM @messages AS m
    LEFT OUTER LOOP JOIN duroxide.code_names AS c WITH (INDEX (uq_code_names)) ON c.name = m.name AND c.version = m.version
    ORDER BY m.position;

    IF EXISTS (SELECT 1 FROM @messages AS m WHERE m.queue IS NOT NULL)
        EXEC duroxide.line_up_messages @messages = @messages;
    IF EXISTS (
        SELECT 1
        FROM duroxide.orchestrator_queue AS q WITH (FORCESEEK (ix_orchestrator_queue_kind (instance_id, kind)))
        WHERE q.instance_id = @instance_id
          AND q.kind = 4
    )
    BEGIN
        SET @all = CASE @peeked WHEN 1 THEN 0 ELSE 1 END;
        EXEC duroxide.await_queues @instance_id = @instance_id, @all = @all, @queues = @queues;
    END;

    -- The instance.
    -- vet:allow Q10: the inbox is locked, so nobody else adds the instance
    UPDATE i
    SET current_execution_id = CASE WHEN i.current_execution_id < @execution_id THEN @execution_id ELSE i.current_execution_id END,
        updated_at = @now
    FROM duroxide.instances AS i WITH (ROWLOCK, INDEX (pk_instances))
    WHERE i.instance_id = @instance_id;
    IF @@ROWCOUNT = 0 AND @named = 1
        INSERT INTO duroxide.instances
            (instance_id, orchestration_name, orchestration_version, current_execution_id, parent_instance_id, created_at, updated_at)
        VALUES (@instance_id, @name, @version, @execution_id, @parent_instance_id, @now, @now);
    ELSE IF @named = 1
        -- On its own, since only the first turn of an execution says it.
        UPDATE i
        SET orchestration_name = @name, orchestration_version = @version
        FROM duroxide.instances AS i WITH (ROWLOCK, INDEX (pk_instances))
        WHERE i.instance_id = @instance_id;
    IF @set_custom_status = 1
        UPDATE i
        SET custom_status = @custom_status, custom_status_version = i.custom_status_version + 1
        FROM duroxide.instances AS i WITH (ROWLOCK, INDEX (pk_instances))
        WHERE i.instance_id = @instance_id;

    -- The execution.
    -- vet:allow Q10: the inbox is locked, so nobody else adds the execution
    UPDATE e
    SET status = COALESCE(@status, e.status),
        output = CASE WHEN @status IS NULL THEN e.output ELSE @output END,
        version_id = COALESCE(@version_id, e.version_id),
        code_id = CASE WHEN @named = 1 THEN @code_id ELSE e.code_id END,
        completed_at = CASE WHEN @status IS NULL THEN e.completed_at WHEN @finished = 1 THEN @now END
    FROM duroxide.executions AS e WITH (ROWLOCK, INDEX (pk_executions))
    WHERE e.instance_id = @instance_id
      AND e.execution_id = @execution_id;
    IF @@ROWCOUNT = 0
        INSERT INTO duroxide.executions (instance_id, execution_id, status, output, version_id, code_id, started_at, completed_at)
        VALUES (
            @instance_id, @execution_id, COALESCE(@status, N'Running'), CASE WHEN @status IS NULL THEN NULL ELSE @output END,
            COALESCE(@version_id, 0), CASE WHEN @named = 1 THEN @code_id ELSE 0 END, @now, CASE WHEN @finished = 1 THEN @now END
        );

    -- History.
    IF EXISTS (
        SELECT 1
        FROM @events AS e
        -- vet:allow Q10: the inbox is locked, so nobody else adds events
        INNER LOOP JOIN duroxide.history AS h WITH (INDEX (pk_history))
            ON h.instance_id = @instance_id AND h.execution_id = @execution_id AND h.event_id = e.event_id
    )
        THROW 50013, N'The execution already has an event with one of the ids.', 1;
    IF EXISTS (SELECT 1 FROM @events AS e GROUP BY e.event_id HAVING COUNT(*) > 1)
        THROW 50013, N'Two of the events have the same id.', 1;
    INSERT INTO duroxide.history WITH (ROWLOCK) (instance_id, execution_id, event_id, event_type, event_data, data_bytes, created_at)
    SELECT @instance_id, @execution_id, e.event_id, e.event_type, e.event_data, e.data_bytes, @now
    FROM @events AS e;

    -- Values.
    IF @clear_values = 1 OR EXISTS (SELECT 1 FROM @changes AS c)
        EXEC duroxide.change_values @instance_id = @instance_id, @now = @now, @clear = @clear_values, @changes = @changes;
    IF @finished = 1
        EXEC duroxide.merge_values @instance_id = @instance_id;

    -- Activities.
    INSERT INTO duroxide.worker_queue
        (instance_id, execution_id, activity_id, session_id, tag, code_id, work_item, visible_at, wake_at, created_at)
    SELECT a.instance_id, a.execution_id, a.activity_id, a.session_id, a.tag, COALESCE(c.id, 0), a.work_item, @now, @now, @now
    FROM @activities AS a
    LEFT OUTER LOOP JOIN duroxide.code_names AS c WITH (INDEX (uq_code_names)) ON c.name = a.name AND c.version = N''
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
            ON q.instance_id = c.instance_id AND q.execution_id = c.execution_id AND q.activity_id = c.activity_id
        OPTION (KEEPFIXED PLAN);
        DELETE w
        FROM @work AS k
        INNER LOOP JOIN duroxide.worker_queue AS w WITH (ROWLOCK, INDEX (pk_worker_queue)) ON w.id = k.id
        OPTION (KEEPFIXED PLAN);
    END;

    IF @others = 1
        EXEC duroxide.refresh_inboxes @instances = @targets, @now = @now;
    -- Without messages there is nothing to fetch, as the end of the lease has left it.
    ELSE IF EXISTS (SELECT 1 FROM duroxide.orchestrator_queue AS q WITH (INDEX (pk_orchestrator_queue)) WHERE q.instance_id = @instance_id)
        EXEC duroxide.refresh_inbox @instance_id = @instance_id, @now = @now;

    -- gen:result Turn :one
    SELECT b.instance_id, CASE WHEN b.head_id IS NULL THEN b.wake_at - @now ELSE 0 END AS ready_in_ms
    FROM duroxide.inboxes AS b WITH (INDEX (pk_inboxes))
    WHERE b.instance_id = @instance_id
    OPTION (KEEPFIXED PLAN);

    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;
GO
GRANT EXECUTE ON duroxide.ack_orchestration_item TO duroxide_runtime;
