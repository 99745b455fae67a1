-- Marks the visible messages of an instance with the token of the turn that has locked it, and
-- counts the attempt. Messages are found by the time at which they became visible and written by
-- their key, so that hidden ones are not read, however many there are.
--
-- Helper of: fetch_orchestration_item.
-- Transaction: the caller's, which has locked the instance.
--
-- Parameters:
--   @instance_id  the instance
--   @lock_token   the turn's lease
--   @now          the present time, in milliseconds since 1970 UTC
--   @taken        how many messages were taken
--
-- Locks: orchestrator_queue (the visible messages, by ix_orchestrator_queue_kind and then
--   pk_orchestrator_queue).
--
-- Hints: FORCESEEK and LOOP seek what is visible of each kind, and then the rows of those. A
--   plan that was made for an empty table would read all of it. ROWLOCK keeps to rows, and
--   READCOMMITTEDLOCK makes row versions no exception. KEEPFIXED PLAN keeps the plan however
--   many rows change: see 0005_storage_sqlserver.sql.
CREATE OR ALTER PROCEDURE duroxide.take_messages
    @instance_id NVARCHAR(400),
    @lock_token  UNIQUEIDENTIFIER,
    @now         BIGINT,
    @taken       INT OUTPUT
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
DECLARE @visible TABLE (id BIGINT NOT NULL PRIMARY KEY);
INSERT INTO @visible (id)
SELECT q.id
FROM (VALUES (CAST(0 AS TINYINT)), (CAST(1 AS TINYINT)), (CAST(2 AS TINYINT)), (CAST(3 AS TINYINT))) AS k (kind)
INNER LOOP JOIN duroxide.orchestrator_queue AS q WITH (FORCESEEK (ix_orchestrator_queue_kind (instance_id, kind, visible_at))) ON q.kind = k.kind
WHERE q.instance_id = @instance_id
  AND q.visible_at <= @now
OPTION (KEEPFIXED PLAN);
-- The lease is exclusive, so whoever held a message before has lost it.
-- vet:allow Q3: the lease on the inbox covers its messages
UPDATE q
SET lock_token = @lock_token, attempt_count = q.attempt_count + 1
FROM @visible AS v
INNER LOOP JOIN duroxide.orchestrator_queue AS q WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK (pk_orchestrator_queue (instance_id, id))) ON q.id = v.id
WHERE q.instance_id = @instance_id
OPTION (KEEPFIXED PLAN);
SET @taken = @@ROWCOUNT;
