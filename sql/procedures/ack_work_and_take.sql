-- Ends an activity, and then takes a turn and the next activities: the call of ack_work_item and that
-- of take in one (§5.23). Whether something is taken changes nothing about the end, and nothing is
-- taken if that fails.
--
-- The parameters are those of the two procedures; @turn_token and what follows belong to take, which
-- waits for nobody who writes.
--
-- gen:null @instance_id @work_item @turn_token @turn_known @history_limit
--
-- Result sets: those of take.
--
-- Locks: those of ack_work_item, and after its commit those of take.
--
-- Errors:
--   50010 invalid_lock_token: nobody holds the token
--   50011 lock_expired: the token's lease has ended
CREATE OR ALTER PROCEDURE duroxide.ack_work_and_take
    @lock_token    UNIQUEIDENTIFIER,
    @instance_id   NVARCHAR(400),
    @work_item     NVARCHAR(MAX),
    @turn_token    UNIQUEIDENTIFIER,
    @turn_ms       BIGINT,
    @filtered      BIT,
    @min_major     BIGINT,
    @min_minor     BIGINT,
    @min_patch     BIGINT,
    @max_major     BIGINT,
    @max_minor     BIGINT,
    @max_patch     BIGINT,
    @turn_known    VARBINARY(32),
    @unknown_ms    BIGINT,
    @history_limit BIGINT,
    @from_head     BIGINT,
    @turn_due_from BIGINT,
    @work          duroxide.take_list_v1 READONLY
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
EXEC duroxide.ack_work_item @lock_token = @lock_token, @instance_id = @instance_id, @work_item = @work_item;
EXEC duroxide.take @turn_token = @turn_token, @turn_ms = @turn_ms, @filtered = @filtered, @min_major = @min_major,
    @min_minor = @min_minor, @min_patch = @min_patch, @max_major = @max_major, @max_minor = @max_minor,
    @max_patch = @max_patch, @known = @turn_known, @unknown_ms = @unknown_ms, @history_limit = @history_limit,
    @from_head = @from_head, @turn_due_from = @turn_due_from, @work = @work, @hasty = 1;
GO
GRANT EXECUTE ON duroxide.ack_work_and_take TO duroxide_runtime;
