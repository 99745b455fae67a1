-- Finds out what uses an instance id: an instance, or a start that waits for its first turn. It reads the queue
-- before the instances: the first turn moves an id from the one to the other, so none is missed between the two.
-- Helper of: find_instance, start_instance.
-- Transaction: none. A caller that acts on the answer holds the inbox (lock_inbox) until it has.
-- Parameters:
--   @used           1 if it is used; otherwise what the caller set, as for the others
--   @name, @status  those of the instance
--   @start          the message of a start that waits
-- Locks: orchestrator_queue, instances, executions (shared, by the primary key, while it reads); none under row
--   versioning.
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.id_use
    @instance_id NVARCHAR(400),
    @used        BIT OUTPUT,
    @name        NVARCHAR(MAX) OUTPUT,
    @status      NVARCHAR(32) OUTPUT,
    @start       NVARCHAR(MAX) OUTPUT
AS
SELECT TOP (1) @used = 1, @start = q.work_item
FROM duroxide.orchestrator_queue AS q WITH (FORCESEEK (pk_orchestrator_queue (instance_id, kind)))
WHERE q.instance_id = @instance_id AND q.kind IN (1, 2)
ORDER BY q.id
OPTION (KEEPFIXED PLAN);
SELECT @used = 1, @name = i.orchestration_name, @status = e.status
FROM duroxide.instances AS i
LEFT OUTER LOOP JOIN duroxide.executions AS e ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
WHERE i.instance_id = @instance_id;
