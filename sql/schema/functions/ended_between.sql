-- Lists the instances whose current execution ended in a span of time: completed, failed, or continued as new with
-- the next execution still to begin. It reads what ended then and nothing else, however much else has ended.
-- Called by: people and their tools, as in SELECT e.instance_id FROM duroxide.ended_between(@from, @to) AS e WHERE
--   e.status = N'Failed'.
-- Parameters:
--   @from, @to  the span, in UTC: from the first, before the second. NULL for any time
-- Returns: the instances, with their names, their parents, the status and the output or error, and when they began
--   and ended in UTC. An id that ends in a blank has the character ␟ behind it.
-- Locks: executions (by ix_executions_completed, then pk_executions), instances (read, by pk_instances). Without row
--   versioning a deletion of the same instances may end it with error 1205.
CREATE OR ALTER FUNCTION duroxide.ended_between (@from DATETIME2(3), @to DATETIME2(3))
RETURNS TABLE
AS
RETURN (
    SELECT
        i.instance_id,
        i.parent_instance_id,
        i.orchestration_name,
        i.orchestration_version,
        e.execution_id,
        e.status,
        e.output,
        DATEADD(MILLISECOND, e.started_at % 86400000, DATEADD(DAY, e.started_at / 86400000, CAST('19700101' AS DATETIME2(3)))) AS started_at,
        DATEADD(MILLISECOND, e.completed_at % 86400000, DATEADD(DAY, e.completed_at / 86400000, CAST('19700101' AS DATETIME2(3)))) AS completed_at
    FROM duroxide.executions AS e WITH (FORCESEEK (ix_executions_completed (completed_at)))
    INNER JOIN duroxide.instances AS i ON i.instance_id = e.instance_id AND i.current_execution_id = e.execution_id
    WHERE e.completed_at >= COALESCE(DATEDIFF_BIG(MILLISECOND, '19700101', @from), 0)
      AND e.completed_at < COALESCE(DATEDIFF_BIG(MILLISECOND, '19700101', @to), CAST(9223372036854775807 AS BIGINT))
      -- The filter of the index.
      AND e.completed_at IS NOT NULL
);
GO
GRANT SELECT ON duroxide.ended_between TO duroxide_reader;
