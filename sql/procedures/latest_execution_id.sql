-- Finds the highest execution id that is stored for an instance. Events may have been
-- appended to an execution that has no row.
--
-- Called by: Store.LatestExecutionID.
-- Transaction: none.
--
-- Parameters:
--   @instance_id  the instance
--
-- Result sets:
--   1 Latest: the id; NULL for an instance of which nothing is stored
--
-- Locks: executions, history (shared, by the primary key, while it reads; none under row
--   versioning).
CREATE OR ALTER PROCEDURE duroxide.latest_execution_id
    @instance_id NVARCHAR(400)
AS
SET NOCOUNT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
-- gen:result Latest
SELECT MAX(x.execution_id) AS execution_id
FROM (
    SELECT MAX(e.execution_id) AS execution_id
    FROM duroxide.executions AS e
    WHERE e.instance_id = @instance_id
    UNION ALL
    SELECT MAX(h.execution_id) AS execution_id
    FROM duroxide.history AS h
    WHERE h.instance_id = @instance_id
) AS x;
GO
GRANT EXECUTE ON duroxide.latest_execution_id TO duroxide_reader;
