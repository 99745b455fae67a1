-- Makes the oldest message of each queue that an instance awaits one that makes it fetchable
-- (kind 0).
--
-- Helper of: ack_orchestration_item, delete_orphan_messages.
-- Transaction: the caller's, which has locked the inbox of the instance and computes its state
--   afterwards.
--
-- Parameters:
--   @instance_id  the instance
--   @all          1 for all of its queues
--   @queues       otherwise the queues, with awaited = 1
--
-- Locks: orchestrator_queue (the messages, by the primary key).
--
-- Hints: FORCESEEK, LOOP and LOOP JOIN seek the oldest message of each queue, however many others
--   wait. INDEX comes to it by its key. READCOMMITTEDLOCK takes the locks under optimized locking as
--   well, and ROWLOCK keeps them to rows. KEEPFIXED PLAN prevents a new plan when many rows have changed, see
--   0005_storage.sql.
--
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.await_queues
    @instance_id NVARCHAR(400),
    @all         BIT,
    @queues      duroxide.queue_list_v1 READONLY
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
DECLARE @heads TABLE (id BIGINT NOT NULL PRIMARY KEY);
IF @all = 1
    INSERT INTO @heads (id)
    SELECT MIN(q.id)
    FROM duroxide.orchestrator_queue AS q WITH (FORCESEEK (ix_orchestrator_queue_queue (instance_id)))
    WHERE q.instance_id = @instance_id
      AND q.queue IS NOT NULL
    GROUP BY q.queue
    OPTION (KEEPFIXED PLAN);
ELSE
    INSERT INTO @heads (id)
    SELECT m.id
    FROM @queues AS k
    CROSS APPLY (
        SELECT TOP (1) q.id
        FROM duroxide.orchestrator_queue AS q WITH (FORCESEEK (ix_orchestrator_queue_queue (instance_id, queue)))
        -- The last condition is the filter of the index.
        WHERE q.instance_id = @instance_id
          AND q.queue = k.queue
          AND q.queue IS NOT NULL
        ORDER BY q.id
    ) AS m
    WHERE k.awaited = 1
    OPTION (LOOP JOIN, KEEPFIXED PLAN);
UPDATE q
SET kind = 0
FROM @heads AS h
INNER LOOP JOIN duroxide.orchestrator_queue AS q WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_orchestrator_queue)) ON q.id = h.id
WHERE q.instance_id = @instance_id
  AND q.kind = 4
OPTION (KEEPFIXED PLAN);
