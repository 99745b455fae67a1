-- Instances with the state of their current execution, one row each, for people and
-- their tools. Times are UTC. What ended in a span of time is found by function ended_between.
--
--   instance_id            an id that ends in a blank has the character ␟ behind it
--   parent_instance_id     NULL for a root
--   orchestration_name
--   orchestration_version  NULL if it was not recorded
--   current_execution_id   from 1; each continue-as-new adds one
--   status                 Running, Completed, Failed, ContinuedAsNew (between two
--                          executions), or Unknown without an execution
--   output                 the result or the error, once there is one
--   custom_status          as the orchestration last set it
--   custom_status_version  how often custom_status has changed
--   created_at
--   updated_at             when the last turn was committed
--   completed_at           NULL while the current execution runs
CREATE OR ALTER VIEW duroxide.v_instances
AS
SELECT
    i.instance_id,
    i.parent_instance_id,
    i.orchestration_name,
    i.orchestration_version,
    i.current_execution_id,
    COALESCE(e.status, N'Unknown') AS status,
    e.output,
    i.custom_status,
    i.custom_status_version,
    c.utc AS created_at,
    u.utc AS updated_at,
    f.utc AS completed_at
FROM duroxide.instances AS i
LEFT JOIN duroxide.executions AS e ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
CROSS APPLY duroxide.utc_time(i.created_at) AS c
CROSS APPLY duroxide.utc_time(i.updated_at) AS u
CROSS APPLY duroxide.utc_time(e.completed_at) AS f;
GO
GRANT SELECT ON duroxide.v_instances TO duroxide_reader;
