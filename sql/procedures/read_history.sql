-- Reads the events of one execution, or of the latest: the highest that is stored, which may have no row, because
-- events can be appended without one.
-- Called by: Store.Read, Store.ReadWithExecution, Store.ReadHistory, Store.ReadHistoryWithExecutionID,
--   Store.LatestExecutionID, Store.FetchOrchestrationItem, Store.Claim, Store.AckTurnAndClaim, Store.AckWorkAndClaim.
-- Transaction: none.
-- Parameters:
--   @execution_id  NULL for the latest
--   @first_event   leaves out events with a lower id
-- Result sets:
--   1 Execution: which execution was read; NULL for an instance of which nothing is stored
--   2 Events: its events in order
--   3 Whole: whole is 0 if the execution was deleted meanwhile. Then events may be missing, and the caller reads again
-- Locks: executions, history, executions (read, by the primary key).
-- gen:null @execution_id
CREATE OR ALTER PROCEDURE duroxide.read_history
    @instance_id  NVARCHAR(400),
    @execution_id BIGINT,
    @first_event  BIGINT
AS
SET NOCOUNT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @started_at BIGINT;
IF @execution_id IS NULL
    SELECT @execution_id = MAX(x.execution_id)
    FROM (
        SELECT MAX(e.execution_id) AS execution_id
        FROM duroxide.executions AS e
        WHERE e.instance_id = @instance_id
        UNION ALL
        SELECT MAX(h.execution_id) AS execution_id
        FROM duroxide.history AS h
        WHERE h.instance_id = @instance_id
    ) AS x;

-- Whoever deletes events deletes their execution before them.
SELECT @started_at = e.started_at
FROM duroxide.executions AS e
WHERE e.instance_id = @instance_id AND e.execution_id = @execution_id;

-- gen:result Execution
SELECT @execution_id AS execution_id;

-- gen:result Events
SELECT h.event_id, h.event_data
FROM duroxide.history AS h
WHERE h.instance_id = @instance_id AND h.execution_id = @execution_id AND h.event_id >= @first_event
ORDER BY h.event_id;

-- gen:result Whole
SELECT CAST(CASE WHEN @started_at IS NULL OR EXISTS (
    SELECT 1 FROM duroxide.executions AS e
    WHERE e.instance_id = @instance_id AND e.execution_id = @execution_id AND e.started_at = @started_at
) THEN 1 ELSE 0 END AS BIT) AS whole;
GO
GRANT EXECUTE ON duroxide.read_history TO duroxide_reader;
