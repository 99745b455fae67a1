-- Lists a page of the root instances that completed or failed before a time, in the order in which they ended. It
-- reads a page of ended executions and skips those that are not the last execution of such a root. So all pages cost
-- the same, and a page may be empty although there are more.
-- Called by: Store.DeleteInstanceBulk, Store.ListInstancePage.
-- Transaction: none.
-- Parameters:
--   @ended_before  only what ended before this time, in milliseconds since 1970 UTC
--   @after_completed_at, @after_instance_id, @after_execution_id
--                  where the previous page ended; NULL for the first
--   @limit         the number of executions to look at; at most 1,000 are sensible
--   @continued     1 also lists instances between two executions, for deletions
-- Result sets:
--   1 Instances: their ids
--   2 Next: where the page ends; no row if there are no more
-- Locks: executions by ix_executions_completed, then instances by pk_instances (shared, row by row, while it reads;
--   none under row versioning).
-- gen:null @after_completed_at @after_instance_id @after_execution_id
CREATE OR ALTER PROCEDURE duroxide.list_ended_page
    @ended_before       BIGINT,
    @after_completed_at BIGINT,
    @after_instance_id  NVARCHAR(400),
    @after_execution_id BIGINT,
    @limit              INT,
    @continued          BIT
AS
SET NOCOUNT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @page TABLE (
    position     INT           NOT NULL PRIMARY KEY,
    instance_id  NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    execution_id BIGINT        NOT NULL,
    completed_at BIGINT        NOT NULL,
    -- 0 for one that continued as new, unless @continued.
    ended        BIT           NOT NULL
);
DECLARE @count INT;
SELECT @after_completed_at = COALESCE(@after_completed_at, -1), @after_instance_id = COALESCE(@after_instance_id, N''),
    @after_execution_id = COALESCE(@after_execution_id, 0);
INSERT INTO @page (position, instance_id, execution_id, completed_at, ended)
SELECT TOP (@limit) ROW_NUMBER() OVER (ORDER BY e.completed_at, e.instance_id, e.execution_id),
    e.instance_id, e.execution_id, e.completed_at, CASE WHEN e.status IN (N'Completed', N'Failed') OR @continued = 1 THEN 1 ELSE 0 END
FROM duroxide.executions AS e WITH (INDEX (ix_executions_completed))
WHERE e.completed_at IS NOT NULL AND e.completed_at < @ended_before AND e.completed_at >= @after_completed_at
  AND (e.completed_at > @after_completed_at OR e.instance_id > @after_instance_id
       OR (e.instance_id = @after_instance_id AND e.execution_id > @after_execution_id))
ORDER BY e.completed_at, e.instance_id, e.execution_id;
SET @count = @@ROWCOUNT;

-- gen:result Instances
SELECT i.instance_id
FROM @page AS p
INNER LOOP JOIN duroxide.instances AS i WITH (INDEX (pk_instances))
    ON i.instance_id = p.instance_id AND i.current_execution_id = p.execution_id
WHERE p.ended = 1 AND i.parent_instance_id IS NULL
ORDER BY p.position;

-- gen:result Next
SELECT p.completed_at, p.instance_id, p.execution_id
FROM @page AS p
WHERE p.position = @limit AND @count = @limit;
GO
GRANT EXECUTE ON duroxide.list_ended_page TO duroxide_reader;
