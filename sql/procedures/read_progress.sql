-- Reports how far many instances are: what uses each id, and how an instance has ended. It reads the queue before the
-- instances: the first turn moves an id from the one to the other, so none is missed between the two.
-- Called by: Store.ReadProgress.
-- Transaction: none.
-- Parameters:
--   @ids  the instances
-- Result sets:
--   1 Instances: one row for each of @ids, in their order. Name, status, execution and version of the
--     custom status are NULL without an instance. start_item is the message of a start that waits. The
--     custom status, and the first and the last event of the current execution, are NULL unless that
--     has completed or failed
-- Locks: orchestrator_queue (by ix_orchestrator_queue_kind alone, and then the rows of starts by
--   pk_orchestrator_queue), then instances, executions, history (by the primary key): all shared, while it reads;
--   none under row versioning.
CREATE OR ALTER PROCEDURE duroxide.read_progress
    @ids duroxide.id_list_v1 READONLY
AS
SET NOCOUNT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @starts TABLE (position INT NOT NULL PRIMARY KEY, work_item NVARCHAR(MAX) NOT NULL);
INSERT INTO @starts (position, work_item)
SELECT n.position, f.work_item
FROM @ids AS n
CROSS APPLY (
    SELECT TOP (1) q.work_item
    FROM duroxide.orchestrator_queue AS q WITH (FORCESEEK (pk_orchestrator_queue (instance_id, kind)))
    WHERE q.instance_id = n.id AND q.kind IN (1, 2)
    ORDER BY q.id
) AS f
OPTION (KEEPFIXED PLAN);

-- gen:result Instances
SELECT i.orchestration_name, i.current_execution_id AS execution_id, i.custom_status_version, e.status, s.work_item AS start_item,
    CASE WHEN e.status IN (N'Completed', N'Failed') THEN i.custom_status END AS custom_status,
    f.event_id AS first_id, f.event_data AS first_event, l.event_id AS last_id, l.event_data AS last_event
FROM @ids AS n
LEFT JOIN @starts AS s ON s.position = n.position
LEFT OUTER LOOP JOIN duroxide.instances AS i WITH (INDEX (pk_instances)) ON i.instance_id = n.id
LEFT OUTER LOOP JOIN duroxide.executions AS e WITH (INDEX (pk_executions))
    ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
OUTER APPLY (
    SELECT TOP (1) h.event_id, h.event_data
    FROM duroxide.history AS h WITH (INDEX (pk_history))
    WHERE h.instance_id = e.instance_id AND h.execution_id = e.execution_id
      AND e.status IN (N'Completed', N'Failed')
    ORDER BY h.event_id
) AS f
OUTER APPLY (
    SELECT TOP (1) h.event_id, h.event_data
    FROM duroxide.history AS h WITH (INDEX (pk_history))
    WHERE h.instance_id = e.instance_id AND h.execution_id = e.execution_id
      AND e.status IN (N'Completed', N'Failed')
    ORDER BY h.event_id DESC
) AS l
ORDER BY n.position;
GO
GRANT EXECUTE ON duroxide.read_progress TO duroxide_reader;
