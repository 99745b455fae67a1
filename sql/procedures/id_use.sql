-- Finds out who uses an instance id: an instance, or a start that waits for its first
-- turn. @used = 0 if nobody does.
--
-- The queue is read before the instances: the first turn moves an id from the one to the
-- other, so in this order none is missed between the two. A caller that acts on the
-- answer holds the inbox's lock (lock_inbox), and then nothing changes any more.
--
-- Parameters: @name and @status are those of the instance and NULL without one, @start is
-- the waiting start's work item.
CREATE OR ALTER PROCEDURE duroxide.id_use
    @instance_id NVARCHAR(400),
    @used        BIT OUTPUT,
    @name        NVARCHAR(MAX) OUTPUT,
    @status      NVARCHAR(32) OUTPUT,
    @start       NVARCHAR(MAX) OUTPUT
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
SET @used = 0;
SET @name = NULL;
SET @status = NULL;
SET @start = NULL;
SELECT TOP (1) @used = 1, @start = q.work_item
FROM duroxide.orchestrator_queue AS q
WHERE q.instance_id = @instance_id
  AND q.kind IN (1, 2)
ORDER BY q.id;
SELECT @used = 1, @name = i.orchestration_name, @status = e.status
FROM duroxide.instances AS i
LEFT JOIN duroxide.executions AS e ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
WHERE i.instance_id = @instance_id;
