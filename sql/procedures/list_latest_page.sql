-- Lists a page of instances by their current execution, the latest first: what runs by its start, and what has ended
-- by its end. It looks at a page of executions and skips those that are not the current one of an instance. So all
-- pages cost the same, and a page may be shorter than the limit although there are more.
-- Called by: Store.ListInstancePage.
-- Transaction: none.
-- Parameters:
--   @status  the status; NULL for all that have ended
--   @before_at, @before_instance_id, @before_execution_id
--            where the previous page ended; NULL for the first
--   @limit   the number of executions to look at; at most 1,000 are sensible
-- Result sets:
--   1 Instances: their ids
--   2 Next: where the page ends; no row if there are no more
-- Locks: executions by ix_executions_running, ix_executions_failed or ix_executions_completed, then instances by
--   pk_instances (shared, row by row, while it reads; none under row versioning).
-- gen:null @status @before_at @before_instance_id @before_execution_id
CREATE OR ALTER PROCEDURE duroxide.list_latest_page
    @status              NVARCHAR(32),
    @before_at           BIGINT,
    @before_instance_id  NVARCHAR(400),
    @before_execution_id BIGINT,
    @limit               INT
AS
SET NOCOUNT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @page TABLE (
    position     INT           NOT NULL IDENTITY (1, 1) PRIMARY KEY,
    instance_id  NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    execution_id BIGINT        NOT NULL,
    at           BIGINT        NOT NULL
);
DECLARE @count INT;
SET @before_at = COALESCE(@before_at, 9223372036854775807);
IF @status = N'Running'
    INSERT INTO @page (instance_id, execution_id, at)
    SELECT TOP (@limit) e.instance_id, e.execution_id, e.started_at
    FROM duroxide.executions AS e WITH (INDEX (ix_executions_running))
    WHERE e.completed_at IS NULL AND e.started_at <= @before_at
      AND (e.started_at < @before_at OR e.instance_id < @before_instance_id
           OR (e.instance_id = @before_instance_id AND e.execution_id < @before_execution_id))
    ORDER BY e.started_at DESC, e.instance_id DESC, e.execution_id DESC;
ELSE IF @status = N'Failed'
    INSERT INTO @page (instance_id, execution_id, at)
    SELECT TOP (@limit) e.instance_id, e.execution_id, e.completed_at
    FROM duroxide.executions AS e WITH (INDEX (ix_executions_failed))
    WHERE e.status = N'Failed' AND e.completed_at <= @before_at
      AND (e.completed_at < @before_at OR e.instance_id < @before_instance_id
           OR (e.instance_id = @before_instance_id AND e.execution_id < @before_execution_id))
    ORDER BY e.completed_at DESC, e.instance_id DESC, e.execution_id DESC;
ELSE
    INSERT INTO @page (instance_id, execution_id, at)
    SELECT TOP (@limit) e.instance_id, e.execution_id, e.completed_at
    FROM duroxide.executions AS e WITH (INDEX (ix_executions_completed))
    WHERE e.completed_at IS NOT NULL AND e.completed_at <= @before_at
      AND (e.completed_at < @before_at OR e.instance_id < @before_instance_id
           OR (e.instance_id = @before_instance_id AND e.execution_id < @before_execution_id))
      AND (@status IS NULL OR e.status = @status)
    ORDER BY e.completed_at DESC, e.instance_id DESC, e.execution_id DESC;
SET @count = @@ROWCOUNT;

-- gen:result Instances
SELECT i.instance_id
FROM @page AS p
INNER LOOP JOIN duroxide.instances AS i WITH (INDEX (pk_instances))
    ON i.instance_id = p.instance_id AND i.current_execution_id = p.execution_id
ORDER BY p.position;

-- gen:result Next
SELECT p.at, p.instance_id, p.execution_id
FROM @page AS p
WHERE p.position = @limit AND @count = @limit;
GO
GRANT EXECUTE ON duroxide.list_latest_page TO duroxide_reader;
