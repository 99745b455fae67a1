-- Commits one turn and releases the instance, all of it or nothing, and then claims the next turn and activities, as
-- take does. The claims have no effect on the commit; if the commit fails, nothing is claimed. The history is not
-- read, so that an instance with a damaged history can still fail. The number of statements does not depend on the
-- numbers of messages, activities and events. Activities are queued before any are cancelled, so that one that is
-- scheduled and cancelled in the same turn is gone in the end.
-- Called by: Store.AckOrchestrationItem, Store.AckTurnAndClaim.
-- Transaction: its own. Names of code and versions of the framework are added before it begins, so that others do not
--   wait for this transaction to read them. The claims follow its commit.
-- Parameters:
--   @execution_id        the execution that the turn belongs to, from 1
--   @name, @version      if both are given, the instance's row is added or renamed
--   @code_name, @code_version
--                        the code by which the execution's turns are selected, once @name and @version
--                        are given; NULL for any worker's
--   @parent_instance_id  of a new instance; NULL for a root
--   @major, @minor, @patch
--                        the version of the framework that the execution is bound to; NULL leaves it
--   @status, @output     those of the execution; NULL leaves both
--   @set_custom_status   1 stores @custom_status, of which NULL is a reset
--   @clear_values        1 clears all keys before the changes in @changes are made
--   @drop_timers         1 deletes hidden timers before the messages in @messages are added
--   @peeked              1 if the claim left queue messages where they were: then those that are
--                        not in @queues as read wait, and the instance awaits only queues of @queues
--   @turn, @work, @holder
--                        those of take
-- Result sets:
--   1 Turn: the instance, and in how many milliseconds it may be claimed again; NULL if it needs a new
--     message first
--   2 Dropped, 3 Item, 4 History, 5 Values, 6 Messages, 7 Work, 8 Failure: those of take
-- Locks: code_names, framework_versions (before the transaction); inboxes (of all instances concerned, in the order
--   of ids), orchestrator_queue, instances, executions, history, kv_store, kv_delta, worker_queue (each row by its
--   primary key); after the commit those of take. A wait for a lock ends after a second with error 1222
--   (LOCK_TIMEOUT, see README.md).
-- Errors:
--   50010 invalid_lock_token: nobody holds the token
--   50011 lock_expired: the token's lease has ended
--   50012 invalid_execution_id: the first execution is 1
--   50013 duplicate_event: the execution already has an event with one of the ids, or
--         @events has an id twice
-- gen:embed duroxide.take
CREATE OR ALTER PROCEDURE duroxide.ack_orchestration_item
    @instance_id        NVARCHAR(400),
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
    @queues             duroxide.queue_list_v1 READONLY,
    @turn               duroxide.turn_claim_v1 READONLY,
    @work               duroxide.take_list_v1 READONLY,
    @holder             NVARCHAR(200) = NULL
AS
SET NOCOUNT, XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
IF @@LOCK_TIMEOUT = -1
    SET LOCK_TIMEOUT 1000;
DECLARE @targets duroxide.id_list_v1;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()), @claimed_at BIGINT, @claimed_to BIGINT,
    @version_id INT = (SELECT f.id FROM duroxide.framework_versions AS f WHERE f.major = @major AND f.minor = @minor AND f.patch = @patch),
    @finished BIT = CASE WHEN @status IN (N'Completed', N'Failed', N'ContinuedAsNew') THEN 1 ELSE 0 END, @waiting BIT = 0, @queued BIT = 0,
    @others BIT = CASE WHEN EXISTS (SELECT 1 FROM @messages AS m WHERE m.instance_id <> @instance_id) THEN 1 ELSE 0 END,
    @all_queues BIT = CASE @peeked WHEN 1 THEN 0 ELSE 1 END;
BEGIN TRY
    EXEC duroxide.add_turn_codes @name = @code_name, @version = @code_version, @messages = @messages, @activities = @activities;
    IF @major IS NOT NULL AND @version_id IS NULL
        EXEC duroxide.get_framework_version @major = @major, @minor = @minor, @patch = @patch, @version_id = @version_id OUTPUT;

    BEGIN TRANSACTION;

    -- Its own inbox is locked by the end of the lease, if that is the only one.
    IF @others = 1
    BEGIN
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
    SET lock_token = NULL, locked_until = NULL, claimed_at = NULL, claimed_to = NULL, unnamed = 0, holder = NULL, head_id = NULL, wake_at = NULL,
        @claimed_at = b.claimed_at, @claimed_to = b.claimed_to
    FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, ROWLOCK, INDEX (pk_inboxes))
    WHERE b.instance_id = @instance_id AND b.lock_token = @lock_token AND b.locked_until > @now AND @execution_id >= 1
    OPTION (KEEPFIXED PLAN);
    IF @@ROWCOUNT = 0
        EXEC duroxide.refuse_turn @instance_id = @instance_id, @lock_token = @lock_token, @now = @now;
    -- Messages: those of the turn go, new ones come.
    SELECT TOP (1) @queued = 1
    FROM duroxide.orchestrator_queue AS q WITH (FORCESEEK (pk_orchestrator_queue (instance_id, kind)))
    WHERE q.instance_id = @instance_id AND q.kind IN (0, 4)
    OPTION (KEEPFIXED PLAN);
    IF @peeked = 1 AND @queued = 1
        EXEC duroxide.leave_messages @instance_id = @instance_id, @claimed_at = @claimed_at, @claimed_to = @claimed_to, @queues = @queues;
    DELETE q
    FROM (VALUES (CAST(0 AS TINYINT)), (CAST(1 AS TINYINT)), (CAST(2 AS TINYINT)), (CAST(3 AS TINYINT)), (CAST(4 AS TINYINT))) AS k (kind)
    INNER LOOP JOIN duroxide.orchestrator_queue AS q WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_orchestrator_queue)) ON q.kind = k.kind
    WHERE q.instance_id = @instance_id AND q.visible_at <= @claimed_at AND q.id <= @claimed_to
      AND (@peeked = 0 OR k.kind < 4)
    OPTION (KEEPFIXED PLAN);
    IF @drop_timers = 1
        DELETE q
        FROM duroxide.orchestrator_queue AS q WITH (ROWLOCK, INDEX (pk_orchestrator_queue))
        WHERE q.instance_id = @instance_id AND q.kind = 3 AND q.visible_at > @now
        OPTION (KEEPFIXED PLAN);
    IF EXISTS (SELECT 1 FROM @messages AS m)
        EXEC duroxide.send_messages @messages = @messages, @now = @now;
    SET @queued = 0;
    SELECT TOP (1) @queued = 1, @waiting = CASE q.kind WHEN 4 THEN 1 ELSE 0 END
    FROM duroxide.orchestrator_queue AS q WITH (FORCESEEK (pk_orchestrator_queue (instance_id)))
    WHERE q.instance_id = @instance_id
    ORDER BY q.kind DESC
    OPTION (KEEPFIXED PLAN);
    IF @waiting = 1
        EXEC duroxide.await_queues @instance_id = @instance_id, @all = @all_queues, @queues = @queues;

    EXEC duroxide.write_execution @instance_id = @instance_id, @execution_id = @execution_id, @now = @now, @name = @name, @version = @version,
        @code_name = @code_name, @code_version = @code_version, @parent_instance_id = @parent_instance_id, @version_id = @version_id,
        @status = @status, @output = @output, @finished = @finished, @set_custom_status = @set_custom_status, @custom_status = @custom_status;
    INSERT INTO duroxide.history WITH (ROWLOCK) (instance_id, execution_id, event_id, event_type, event_data, data_bytes, created_at)
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
    LEFT OUTER LOOP JOIN duroxide.code_names AS c WITH (INDEX (uq_code_names)) ON c.name = a.name AND c.version = N''
    ORDER BY a.position;
    IF EXISTS (SELECT 1 FROM @cancelled AS c)
        EXEC duroxide.cancel_activities @cancelled = @cancelled;

    IF @others = 1
        EXEC duroxide.refresh_inboxes @instances = @targets, @now = @now;
    -- Without messages the instance is not ready, as the end of the lease has left it.
    ELSE IF @queued = 1
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
    IF ERROR_NUMBER() = 2627 AND ERROR_MESSAGE() LIKE N'%pk[_]history%'
        THROW 50013, N'The execution already has an event with one of the ids, or two events have the same id.', 1;
    THROW;
END CATCH;

EXEC duroxide.take @turn = @turn, @work = @work, @holder = @holder;
GO
GRANT EXECUTE ON duroxide.ack_orchestration_item TO duroxide_runtime;
