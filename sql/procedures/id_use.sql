-- Finds out what uses an instance id: an instance, or a start that waits for its first turn. It
-- reads the queue before the instances: the first turn moves an id from the one to the other, so
-- none is missed between the two.
--
-- Helper of: find_instance, start_instance.
-- Transaction: none. A caller that acts on the answer holds the inbox (lock_inbox) until it has.
--
-- Parameters:
--   @instance_id  the id
--   @used         1 if somebody uses it, 0 if nobody does
--   @name         the instance's name; NULL without an instance
--   @status       the status of its current execution; NULL without an instance
--   @start        the message of a start that waits; NULL without one
--
-- Locks: orchestrator_queue (shared, by ix_orchestrator_queue_kind alone, and then the start's row
--   by pk_orchestrator_queue, while it reads), instances, executions (shared, by the primary key,
--   while it reads); none under row versioning.
--
-- Hints: FORCESEEK finds the start without its row, and reads the row without its key in the other
--   index: a deletion locks the row before the key, so no reader may lock them in the other order.
--   LOOP reads an instance before its execution, in the order in which a deletion locks them. In
--   another order the two could deadlock. KEEPFIXED PLAN prevents a new plan when many rows have
--   changed, see 0005_storage.sql.
--
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.id_use
    @instance_id NVARCHAR(400),
    @used        BIT OUTPUT,
    @name        NVARCHAR(MAX) OUTPUT,
    @status      NVARCHAR(32) OUTPUT,
    @start       NVARCHAR(MAX) OUTPUT
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
DECLARE @id BIGINT;
SET @used = 0;
SET @name = NULL;
SET @status = NULL;
SET @start = NULL;
SELECT @id = MIN(q.id)
FROM duroxide.orchestrator_queue AS q WITH (FORCESEEK (ix_orchestrator_queue_kind (instance_id, kind)))
WHERE q.instance_id = @instance_id
  AND q.kind IN (1, 2)
OPTION (KEEPFIXED PLAN);
SELECT @used = 1, @start = q.work_item
FROM duroxide.orchestrator_queue AS q WITH (FORCESEEK (pk_orchestrator_queue (instance_id, id)))
WHERE q.instance_id = @instance_id
  AND q.id = @id
OPTION (KEEPFIXED PLAN);
SELECT @used = 1, @name = i.orchestration_name, @status = e.status
FROM duroxide.instances AS i
LEFT OUTER LOOP JOIN duroxide.executions AS e ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
WHERE i.instance_id = @instance_id;
