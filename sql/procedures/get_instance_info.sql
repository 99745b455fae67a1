-- Reads the facts about an instance and its current execution.
-- Called by: Store.GetInstanceInfo.
-- Transaction: none.
-- Parameters:
--   @instance_id  the instance
-- Result sets:
--   1 Instance: no row if there is no such instance; the status is NULL if its current execution has no
--     row
-- Locks: instances, executions (read, by the primary key).
CREATE OR ALTER PROCEDURE duroxide.get_instance_info
    @instance_id NVARCHAR(400)
AS
SET NOCOUNT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
-- gen:result Instance
SELECT i.instance_id, i.orchestration_name, i.orchestration_version, i.current_execution_id, e.status, e.output,
    i.created_at, i.updated_at, i.parent_instance_id
FROM duroxide.instances AS i
LEFT OUTER LOOP JOIN duroxide.executions AS e ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
WHERE i.instance_id = @instance_id;
GO
GRANT EXECUTE ON duroxide.get_instance_info TO duroxide_reader;
