-- Deletes old executions of one instance with their histories (§6.18), and nothing
-- else of it: the key-value map belongs to the instance, not to the execution that
-- wrote it (pitfall P15). The caller is inside a transaction.
--
-- It takes no lock that a turn could wait for: an execution that is over and is not
-- the current one never changes any more.
--
-- Parameters: of the @keep_last newest executions none is deleted, nor one that has
-- not ended before @completed_before, a time in milliseconds, if that is not NULL.
-- @found tells whether there is such an instance.
--
-- Locks: executions, history.
-- Hints: LOOP finds what is to go by a seek, so that rows of the current execution,
-- which a turn may hold, are not read.
CREATE OR ALTER PROCEDURE duroxide.prune_instance
    @instance_id      NVARCHAR(400),
    @keep_last        BIGINT,
    @completed_before BIGINT,
    @found            BIT OUTPUT,
    @executions       BIGINT OUTPUT,
    @events           BIGINT OUTPUT
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
SET DEADLOCK_PRIORITY LOW;
DECLARE @old TABLE (execution_id BIGINT NOT NULL PRIMARY KEY);
DECLARE @current BIGINT, @first_kept BIGINT, @portion INT;
SET @executions = 0;
SET @events = 0;
SET @found = 0;
SELECT @current = i.current_execution_id, @found = 1
FROM duroxide.instances AS i
WHERE i.instance_id = @instance_id;
IF @found = 0
    RETURN;

-- Everything is kept from the current one on, even what a turn is adding right now.
SELECT @first_kept = MIN(k.execution_id)
FROM (
    SELECT TOP (@keep_last) e.execution_id
    FROM duroxide.executions AS e
    WHERE e.instance_id = @instance_id
    ORDER BY e.execution_id DESC
) AS k;
IF @first_kept IS NULL OR @first_kept > @current
    SET @first_kept = @current;

INSERT INTO @old (execution_id)
SELECT e.execution_id
FROM duroxide.executions AS e
-- The instance may have been deleted and begun anew meanwhile.
INNER JOIN duroxide.instances AS i ON i.instance_id = e.instance_id AND i.current_execution_id > e.execution_id
WHERE e.instance_id = @instance_id
  AND e.execution_id < @first_kept
  AND e.status <> N'Running'
  AND (@completed_before IS NULL OR e.completed_at < @completed_before);
IF @@ROWCOUNT = 0
    RETURN;

SET @portion = 1000;
WHILE @portion = 1000
BEGIN
    DELETE TOP (1000) e
    FROM @old AS o
    INNER LOOP JOIN duroxide.executions AS e ON e.instance_id = @instance_id AND e.execution_id = o.execution_id;
    SET @portion = @@ROWCOUNT;
    SET @executions = @executions + @portion;
END;

SET @portion = 1000;
WHILE @portion = 1000
BEGIN
    DELETE TOP (1000) h
    FROM @old AS o
    INNER LOOP JOIN duroxide.history AS h ON h.instance_id = @instance_id AND h.execution_id = o.execution_id;
    SET @portion = @@ROWCOUNT;
    SET @events = @events + @portion;
END;
