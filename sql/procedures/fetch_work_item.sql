-- Locks the oldest activity that the worker may take, and returns it. Nothing is locked if
-- there is none. If another call takes a candidate first, the next candidate is tried.
--
-- Called by: Store.FetchWorkItem.
-- Transaction: none. lock_work_item has its own.
--
-- Parameters:
--   @lock_token, @lock_ms, @sessions, @owner, @session_ms, @any_tag, @untagged, @tag1, @tag2, @tag3,
--   @tag4, @tag5, @known, @unknown_ms, @from_id, @due_from
--               those of lock_work_item
--
-- Result sets:
--   1 Item: the locked activity, and whether the owner did not have its session before. due_until: what
--     was due by this time, in milliseconds since 1970 UTC, is ready. looked_ms: how long choosing took,
--     in milliseconds. waited_ms: how long ago it was queued
--
-- Locks: those of lock_work_item; then worker_queue (the activity's row, shared, by
--   pk_worker_queue).
--
-- Hints: FORCESEEK reads the activity by its key, and waits for nobody who writes another one.
--   KEEPFIXED PLAN prevents a new plan when many rows have changed, see 0005_storage.sql.
--
-- Errors:
--   50014 unregistered_code: the set of names has to be registered first
--
-- gen:null @known @owner @tag1 @tag2 @tag3 @tag4 @tag5
CREATE OR ALTER PROCEDURE duroxide.fetch_work_item
    @lock_token UNIQUEIDENTIFIER,
    @lock_ms    BIGINT,
    @sessions   BIT,
    @owner      NVARCHAR(400),
    @session_ms BIGINT,
    @any_tag    BIT,
    @untagged   BIT,
    @tag1       NVARCHAR(400),
    @tag2       NVARCHAR(400),
    @tag3       NVARCHAR(400),
    @tag4       NVARCHAR(400),
    @tag5       NVARCHAR(400),
    @known      VARBINARY(32),
    @unknown_ms BIGINT,
    @from_id    BIGINT = 0,
    @due_from   BIGINT = 0
AS
SET NOCOUNT, XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @id BIGINT, @fresh BIT, @due_until BIGINT, @looked_ms BIGINT;
EXEC duroxide.lock_work_item @lock_token = @lock_token, @lock_ms = @lock_ms, @sessions = @sessions, @owner = @owner,
    @session_ms = @session_ms, @any_tag = @any_tag, @untagged = @untagged, @tag1 = @tag1, @tag2 = @tag2, @tag3 = @tag3,
    @tag4 = @tag4, @tag5 = @tag5, @known = @known, @unknown_ms = @unknown_ms, @hasty = 0,
    @from_id = @from_id, @due_from = @due_from, @locked = @id OUTPUT, @fresh = @fresh OUTPUT,
    @due_until = @due_until OUTPUT, @looked_ms = @looked_ms OUTPUT;

-- From here on the lease protects the activity. It is missing if it was cancelled
-- meanwhile.
-- gen:result Item
SELECT q.id, q.instance_id, q.work_item, q.attempt_count, CAST(COALESCE(@fresh, 0) AS BIT) AS fresh_session,
    COALESCE(@due_until, 0) AS due_until, COALESCE(@looked_ms, 0) AS looked_ms, q.heartbeat,
    DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) - q.created_at AS waited_ms
FROM duroxide.worker_queue AS q WITH (FORCESEEK (pk_worker_queue (id)))
WHERE q.id = @id
  AND q.lock_token = @lock_token
OPTION (KEEPFIXED PLAN);
GO
GRANT EXECUTE ON duroxide.fetch_work_item TO duroxide_runtime;
