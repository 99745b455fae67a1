-- Deletes old executions of instances with their histories, the oldest first, in one transaction: the first ones that
-- have about 1,000 events together. It looks at 1,000 instances in the order of their ids, also at those that run and
-- at sub-orchestrations. The current execution and what runs is kept, and so is the key-value map, which belongs to
-- the instance. No turn waits: an execution that has ended and is not the current one never changes.
-- Called by: Store.PruneExecutions, Store.PruneExecutionsBulk.
-- Transaction: its own.
-- Parameters:
--   @listed, @list     1 looks only at instances in @list; 0 ignores the list
--   @after             the id after which to begin; NULL for the first
--   @ended_before      only instances whose current execution ended before this time; NULL for all
--   @max_instances     looks at no more instances, of those that match @ended_before
--   @keep_last         keeps so many of the newest executions of each
--   @completed_before  only executions that ended before this time; NULL for all. Times are in milliseconds since 1970
--                      UTC
-- Result sets:
--   1 Counts: how many instances are done, how many rows were deleted, and the id after which to continue; NULL if
--     there are no more
-- Locks: instances, executions, history (shared, while it looks); then executions and history, each row by its
--   primary key.
-- gen:null @after @ended_before @completed_before
CREATE OR ALTER PROCEDURE duroxide.prune_executions
    @listed           BIT,
    @list             duroxide.id_list_v1 READONLY,
    @after            NVARCHAR(400),
    @ended_before     BIGINT,
    @max_instances    BIGINT,
    @keep_last        BIGINT,
    @completed_before BIGINT
AS
SET NOCOUNT, XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
SET DEADLOCK_PRIORITY LOW;
DECLARE @page TABLE (position INT NOT NULL PRIMARY KEY, instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    sequence BIGINT NOT NULL, execution_id BIGINT NOT NULL, matches BIT NOT NULL);
-- The end tells an execution from one with the same id, of an instance that was deleted and begun anew meanwhile.
DECLARE @old TABLE (number INT NOT NULL IDENTITY (1, 1) PRIMARY KEY, position INT NOT NULL, execution_id BIGINT NOT NULL,
    completed_at BIGINT NOT NULL);
DECLARE @gone TABLE (instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL, execution_id BIGINT NOT NULL);
DECLARE @count INT, @stop INT, @last INT, @executions BIGINT = 0, @events BIGINT = 0;
-- No stored id has this character, so the first is behind it, see list_instance_page.
SET @after = COALESCE(@after, NCHAR(1));
IF @listed = 1
    INSERT INTO @page (position, instance_id, sequence, execution_id, matches)
    SELECT TOP (1000) ROW_NUMBER() OVER (ORDER BY i.instance_id), i.instance_id, i.sequence, i.current_execution_id, 1
    FROM (SELECT DISTINCT l.id FROM @list AS l WHERE l.id > @after) AS l
    INNER LOOP JOIN duroxide.instances AS i WITH (INDEX (pk_instances)) ON i.instance_id = l.id
    ORDER BY i.instance_id;
ELSE
    INSERT INTO @page (position, instance_id, sequence, execution_id, matches)
    SELECT TOP (1000) ROW_NUMBER() OVER (ORDER BY i.instance_id), i.instance_id, i.sequence, i.current_execution_id, 1
    FROM duroxide.instances AS i WITH (INDEX (pk_instances))
    WHERE i.instance_id > @after
    ORDER BY i.instance_id;
SET @count = @@ROWCOUNT;
IF @ended_before IS NOT NULL
    UPDATE p
    SET matches = CASE WHEN e.completed_at < @ended_before THEN 1 ELSE 0 END
    FROM @page AS p
    LEFT OUTER LOOP JOIN duroxide.executions AS e WITH (INDEX (pk_executions))
        ON e.instance_id = p.instance_id AND e.execution_id = p.execution_id;
-- @stop is the first instance that is left for the next call.
SELECT @stop = p.position
FROM @page AS p
WHERE p.matches = 1
ORDER BY p.position OFFSET @max_instances ROWS FETCH NEXT 1 ROWS ONLY;

INSERT INTO @old (position, execution_id, completed_at)
SELECT TOP (1000) p.position, e.execution_id, e.completed_at
FROM @page AS p
CROSS APPLY (
    SELECT MIN(k.execution_id) AS execution_id
    FROM (
        SELECT TOP (@keep_last) x.execution_id
        FROM duroxide.executions AS x WITH (INDEX (pk_executions))
        WHERE x.instance_id = p.instance_id
        ORDER BY x.execution_id DESC
    ) AS k
) AS f
INNER LOOP JOIN duroxide.executions AS e WITH (INDEX (pk_executions)) ON e.instance_id = p.instance_id
-- Everything is kept from the current one on, even what a turn is adding right now.
WHERE e.execution_id < CASE WHEN f.execution_id < p.execution_id THEN f.execution_id ELSE p.execution_id END
  AND e.completed_at < COALESCE(@completed_before, 9223372036854775807) AND p.matches = 1
  AND p.position < COALESCE(@stop, 2147483647)
ORDER BY p.position, e.execution_id;
IF @@ROWCOUNT = 1000
    SELECT @stop = MAX(o.position) FROM @old AS o;
SELECT @last = MAX(h.number)
FROM (
    SELECT TOP (1000) o.number
    FROM @old AS o
    INNER JOIN @page AS p ON p.position = o.position
    INNER LOOP JOIN duroxide.history AS h WITH (INDEX (pk_history)) ON h.instance_id = p.instance_id AND h.execution_id = o.execution_id
    ORDER BY o.number
) AS h
HAVING COUNT(*) = 1000;
IF @last IS NOT NULL
BEGIN
    SELECT @stop = o.position FROM @old AS o WHERE o.number = @last;
    DELETE FROM @old WHERE number > @last;
END;
-- Otherwise they may be those of an instance that was begun anew, and one of them its current one.
UPDATE p
SET matches = 0
FROM @page AS p
WHERE NOT EXISTS (
    SELECT 1 FROM duroxide.instances AS i WITH (INDEX (pk_instances)) WHERE i.instance_id = p.instance_id AND i.sequence = p.sequence
)
OPTION (LOOP JOIN);
BEGIN TRY
    BEGIN TRANSACTION;
    DELETE TOP (1000) e
    OUTPUT deleted.instance_id, deleted.execution_id INTO @gone (instance_id, execution_id)
    FROM @old AS o
    INNER JOIN @page AS p ON p.position = o.position AND p.matches = 1
    INNER LOOP JOIN duroxide.executions AS e WITH (ROWLOCK, INDEX (pk_executions))
        ON e.instance_id = p.instance_id AND e.execution_id = o.execution_id AND e.completed_at = o.completed_at;
    SET @executions = @@ROWCOUNT;
    -- vet:allow Q7-top: an execution goes with all of its events
    DELETE h
    FROM @gone AS g
    INNER LOOP JOIN duroxide.history AS h WITH (ROWLOCK, INDEX (pk_history)) ON h.instance_id = g.instance_id AND h.execution_id = g.execution_id;
    SET @events = @@ROWCOUNT;
    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;
SELECT @after = p.instance_id FROM @page AS p WHERE p.position = COALESCE(@stop - 1, @count);

-- gen:result Counts
SELECT COUNT_BIG(*) AS instances, @executions AS executions, @events AS events,
    CASE WHEN @stop IS NOT NULL OR @count = 1000 THEN @after END AS after_instance_id
FROM @page AS p
WHERE p.matches = 1 AND p.position < COALESCE(@stop, 2147483647);
GO
GRANT EXECUTE ON duroxide.prune_executions TO duroxide_admin;
