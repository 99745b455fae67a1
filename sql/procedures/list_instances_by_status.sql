-- Lists the instances whose current execution has a status, newest first. Instances whose current execution has no
-- row are not listed.
-- Called by: Store.ListInstancesByStatus.
-- Transaction: none.
-- Parameters:
--   @status  the status: Running, Completed, Failed or ContinuedAsNew
-- Result sets:
--   1 Instances: their ids
-- Locks: instances, executions (read, by the primary key).
CREATE OR ALTER PROCEDURE duroxide.list_instances_by_status
    @status NVARCHAR(32)
AS
SET NOCOUNT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
-- gen:result Instances
SELECT i.instance_id
FROM duroxide.instances AS i WITH (INDEX (pk_instances))
INNER LOOP JOIN duroxide.executions AS e WITH (INDEX (pk_executions))
    ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
WHERE e.status = @status
ORDER BY i.created_at DESC, i.sequence DESC;
GO
GRANT EXECUTE ON duroxide.list_instances_by_status TO duroxide_reader;
