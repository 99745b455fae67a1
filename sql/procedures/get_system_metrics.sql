-- Reads how many instances, executions and events there are. It reads no table: the server keeps the number of rows
-- of each index, and the filtered ones of executions tell how they are. So its cost does not grow with what is
-- stored. The numbers include what is not committed yet, and were not all read at the same moment.
-- Called by: Store.GetSystemMetrics.
-- Transaction: none.
-- Result sets:
--   1 Metrics: the counts. running and completed are those of executions, each the last of its instance. indexes is 6
--     if the login may see the sizes of all tables
-- Locks: none.
CREATE OR ALTER PROCEDURE duroxide.get_system_metrics
AS
SET NOCOUNT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
-- gen:result Metrics
SELECT x.instances, x.executions - x.ended AS running, x.ended - x.failed - x.continued AS completed, x.failed,
    x.executions, x.events, x.indexes
FROM (
    SELECT
        COALESCE(SUM(CASE i.name WHEN N'pk_instances' THEN p.rows ELSE 0 END), 0) AS instances,
        COALESCE(SUM(CASE i.name WHEN N'pk_executions' THEN p.rows ELSE 0 END), 0) AS executions,
        COALESCE(SUM(CASE i.name WHEN N'ix_executions_completed' THEN p.rows ELSE 0 END), 0) AS ended,
        COALESCE(SUM(CASE i.name WHEN N'ix_executions_failed' THEN p.rows ELSE 0 END), 0) AS failed,
        COALESCE(SUM(CASE i.name WHEN N'ix_executions_continued' THEN p.rows ELSE 0 END), 0) AS continued,
        COALESCE(SUM(CASE i.name WHEN N'pk_history' THEN p.rows ELSE 0 END), 0) AS events,
        COUNT(DISTINCT i.name) AS indexes
    FROM sys.indexes AS i
    INNER JOIN sys.partitions AS p ON p.object_id = i.object_id AND p.index_id = i.index_id
    WHERE i.name IN (N'pk_instances', N'pk_executions', N'ix_executions_completed', N'ix_executions_failed',
                     N'ix_executions_continued', N'pk_history')
      AND OBJECT_SCHEMA_NAME(i.object_id) = OBJECT_SCHEMA_NAME(@@PROCID)
) AS x;
GO
GRANT EXECUTE ON duroxide.get_system_metrics TO duroxide_reader;
