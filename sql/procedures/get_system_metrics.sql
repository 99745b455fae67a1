-- Counts instances by the status of their current execution, executions and events. It reads
-- all of them, so call it every minute rather than every second.
--
-- Called by: Store.GetSystemMetrics.
-- Transaction: none.
--
-- Result sets:
--   1 Metrics: the counts; an instance between two executions counts in the total only
--
-- Locks: executions, history, instances (shared, row by row, while it reads; none under row
--   versioning).
--
-- Hints: LOOP reads an instance before its execution, in the order in which a deletion locks them.
--   In another order the two could deadlock.
CREATE OR ALTER PROCEDURE duroxide.get_system_metrics
AS
SET NOCOUNT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
-- gen:result Metrics
SELECT c.instances, c.running, c.completed, c.failed,
    (SELECT COUNT_BIG(*) FROM duroxide.executions AS x) AS executions,
    (SELECT COUNT_BIG(*) FROM duroxide.history AS h) AS events
FROM (
    SELECT
        COUNT_BIG(*) AS instances,
        COUNT_BIG(CASE WHEN e.status = N'Running' THEN 1 END) AS running,
        COUNT_BIG(CASE WHEN e.status = N'Completed' THEN 1 END) AS completed,
        COUNT_BIG(CASE WHEN e.status = N'Failed' THEN 1 END) AS failed
    FROM duroxide.instances AS i
    LEFT OUTER LOOP JOIN duroxide.executions AS e ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
) AS c;
GO
GRANT EXECUTE ON duroxide.get_system_metrics TO duroxide_reader;
