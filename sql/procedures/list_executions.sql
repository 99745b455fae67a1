-- Lists the executions of an instance, oldest first.
-- Called by: Store.ListExecutions.
-- Transaction: none.
-- Result sets:
--   1 Executions: their ids
-- Locks: executions (read, by pk_executions).
CREATE OR ALTER PROCEDURE duroxide.list_executions
    @instance_id NVARCHAR(400)
AS
SET NOCOUNT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
-- gen:result Executions
SELECT e.execution_id
FROM duroxide.executions AS e
WHERE e.instance_id = @instance_id
ORDER BY e.execution_id;
GO
GRANT EXECUTE ON duroxide.list_executions TO duroxide_reader;
