-- Commits one turn, and then takes the next one and activities: ack_orchestration_item and take in
-- one call. The taking has no effect on the commit. If the commit fails, nothing is taken.
--
-- Called by: Store.AckTurnAndClaim.
-- Transaction: none. Each of the two procedures has its own.
--
-- Parameters:
--   @lock_token, @execution_id, @name, @version, @code_name, @code_version, @parent_instance_id,
--   @major, @minor, @patch, @status, @output, @set_custom_status, @custom_status, @clear_values,
--   @drop_timers, @events, @changes, @messages, @activities, @cancelled,
--   @peeked, @queues
--                 those of ack_orchestration_item
--   @turn_token, @turn_ms, @filtered, @min_major, @min_minor, @min_patch, @max_major,
--   @max_minor, @max_patch, @known, @unknown_ms, @history_limit, @peek, @from_head, @turn_due_from, @work,
--   @hasty        those of take
--
-- Result sets:
--   1 Turn: that of ack_orchestration_item
--   2 Dropped, 3 Item, 4 History, 5 Values, 6 Messages, 7 Work, 8 Failure: those of take
--
-- Locks: those of ack_orchestration_item, and after its commit those of take.
--
-- Errors:
--   50010 invalid_lock_token: nobody holds the token
--   50011 lock_expired: the token's lease has ended
--   50012 invalid_execution_id: the first execution is 1
--   50013 duplicate_event: the execution already has an event with one of the ids, or
--         @events has an id twice
--
-- gen:embed duroxide.ack_orchestration_item duroxide.take
CREATE OR ALTER PROCEDURE duroxide.ack_turn_and_take
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
    @turn_token         UNIQUEIDENTIFIER = NULL,
    @turn_ms            BIGINT = 0,
    @filtered           BIT = 0,
    @min_major          BIGINT = 0,
    @min_minor          BIGINT = 0,
    @min_patch          BIGINT = 0,
    @max_major          BIGINT = 0,
    @max_minor          BIGINT = 0,
    @max_patch          BIGINT = 0,
    @known              VARBINARY(32) = NULL,
    @unknown_ms         BIGINT = 0,
    @history_limit      BIGINT = NULL,
    @peek               BIT = 0,
    @from_head          BIGINT = 0,
    @turn_due_from      BIGINT = 0,
    @work               duroxide.take_list_v1 READONLY,
    @hasty              BIT = 1
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
EXEC duroxide.ack_orchestration_item @lock_token = @lock_token, @execution_id = @execution_id, @name = @name,
    @version = @version, @code_name = @code_name, @code_version = @code_version, @parent_instance_id = @parent_instance_id,
    @major = @major, @minor = @minor, @patch = @patch, @status = @status, @output = @output,
    @set_custom_status = @set_custom_status, @custom_status = @custom_status, @clear_values = @clear_values,
    @drop_timers = @drop_timers, @events = @events, @changes = @changes, @messages = @messages, @activities = @activities,
    @cancelled = @cancelled, @peeked = @peeked, @queues = @queues;
EXEC duroxide.take @turn_token = @turn_token, @turn_ms = @turn_ms, @filtered = @filtered, @min_major = @min_major,
    @min_minor = @min_minor, @min_patch = @min_patch, @max_major = @max_major, @max_minor = @max_minor,
    @max_patch = @max_patch, @known = @known, @unknown_ms = @unknown_ms, @history_limit = @history_limit, @peek = @peek,
    @from_head = @from_head, @turn_due_from = @turn_due_from, @work = @work, @hasty = @hasty;
GO
GRANT EXECUTE ON duroxide.ack_turn_and_take TO duroxide_runtime;
