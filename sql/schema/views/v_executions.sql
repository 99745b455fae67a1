-- Executions, one row each, for people and their tools. Times are UTC.
--
--   instance_id   an id that ends in a blank has the character ␟ behind it
--   execution_id  from 1
--   is_current    1 for the last execution of the instance
--   status        Running, Completed, Failed or ContinuedAsNew
--   output        the result, the error, or the next execution's input
--   major, minor, patch  the version of the framework that the execution is pinned to, NULL for none
--   event_count   the length of the execution's history
--   started_at
--   completed_at  NULL while the execution runs
CREATE OR ALTER VIEW duroxide.v_executions
AS
SELECT
    e.instance_id,
    e.execution_id,
    CAST(CASE WHEN EXISTS (
        SELECT 1 FROM duroxide.executions AS n WHERE n.instance_id = e.instance_id
          AND n.execution_id > e.execution_id
    ) THEN 0 ELSE 1 END AS BIT) AS is_current,
    e.status,
    e.output,
    v.major,
    v.minor,
    v.patch,
    (
        SELECT COUNT_BIG(*)
        FROM duroxide.history AS h
        WHERE h.instance_id = e.instance_id AND h.execution_id = e.execution_id
    ) AS event_count,
    s.utc AS started_at,
    f.utc AS completed_at
FROM duroxide.executions AS e
LEFT JOIN duroxide.framework_versions AS v ON v.id = e.version_id
CROSS APPLY duroxide.utc_time(e.started_at) AS s
CROSS APPLY duroxide.utc_time(e.completed_at) AS f;
GO
GRANT SELECT ON duroxide.v_executions TO duroxide_reader;
