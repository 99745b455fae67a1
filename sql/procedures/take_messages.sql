-- Marks the messages of an instance that are visible at @now with the token of the turn
-- that has locked it, and counts the attempt. @taken is how many they are.
--
-- Found by the time at which they became visible and written by the key, so that what is
-- hidden, however much, is not read.
--
-- Locks: orchestrator_queue.
-- Hints: FORCESEEK and LOOP seek what is visible of each kind, and then the rows of those,
-- also by a plan that was made for an empty table (rule Q9). ROWLOCK keeps to rows,
-- and READCOMMITTEDLOCK makes row versions no exception.
-- KEEPFIXED PLAN keeps the plan however many rows change: see 0005_storage_sqlserver.sql.
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
