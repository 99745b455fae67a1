-- Reads the facts about one execution.
-- Called by: Store.GetExecutionInfo.
-- Transaction: none.
-- Parameters:
--   @instance_id   the instance
--   @execution_id  the execution, from 1
-- Result sets:
--   1 Execution: no row if there is no such execution
-- Locks: executions, history (read, by the primary key).
CREATE OR ALTER PROCEDURE duroxide.get_execution_info
    @instance_id  NVARCHAR(400),
    @execution_id BIGINT
AS
SET NOCOUNT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
-- gen:result Execution
SELECT e.execution_id, e.status, e.output, e.started_at, e.completed_at,
    (
        SELECT COUNT_BIG(*)
        FROM duroxide.history AS h
        WHERE h.instance_id = @instance_id AND h.execution_id = @execution_id
    ) AS event_count
FROM duroxide.executions AS e
WHERE e.instance_id = @instance_id AND e.execution_id = @execution_id;
GO
GRANT EXECUTE ON duroxide.get_execution_info TO duroxide_reader;
