-- Deletes old executions of one instance with their histories. The key-value map stays:
-- it belongs to the instance, and not to the execution that wrote it. No turn waits for the
-- locks, as an execution that has ended and is not the current one never changes.
--
-- Helper of: prune_executions, prune_executions_bulk.
-- Transaction: the caller's.
--
-- Parameters:
--   @instance_id       the instance
--   @finished_before   only if its current execution ended before this time, in milliseconds since
--                      1970 UTC; NULL in any case
--   @keep_last         keeps so many of the newest executions
--   @completed_before  only executions that ended before this time, in milliseconds since 1970 UTC;
--                      NULL for all
--   @portion           deletes the oldest executions that have so many events together, at
--                      least one and at most so many executions; NULL deletes all
--   @found             1 if there is such an instance; 0 also if it was deleted meanwhile, or if its
--                      current execution has not ended by @finished_before
--   @more              1 if there may be others to delete
--   @executions        how many executions were deleted
--   @events            how many events were deleted
--
-- Locks: instances, executions (shared, by the primary key), then executions and, by
--   delete_events, history (each row by the primary key).
--
-- Hints: INDEX seeks the executions below the current one, which a turn may hold. LOOP and INDEX
--   seek each row to delete. ROWLOCK keeps the locks to rows.
--
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.prune_instance
    @instance_id      NVARCHAR(400),
    @finished_before  BIGINT,
    @keep_last        BIGINT,
    @completed_before BIGINT,
    @portion          INT,
    @found            BIT OUTPUT,
    @more             BIT OUTPUT,
    @executions       BIGINT OUTPUT,
    @events           BIGINT OUTPUT
AS
SET DEADLOCK_PRIORITY LOW;
-- The end tells an execution from one with the same id, of an instance that was deleted and begun
-- anew meanwhile.
DECLARE @old TABLE (
    position     INT    NOT NULL IDENTITY (1, 1) PRIMARY KEY,
    execution_id BIGINT NOT NULL,
    completed_at BIGINT NOT NULL
);
DECLARE @gone TABLE (execution_id BIGINT NOT NULL PRIMARY KEY);
DECLARE @runs duroxide.execution_list_v1;
DECLARE @sequence BIGINT, @current BIGINT, @first_kept BIGINT, @last BIGINT, @events_read INT, @count INT, @position INT = 1;
SET @executions = 0;
SET @events = 0;
SET @found = 0;
SET @more = 0;
SELECT @sequence = i.sequence, @current = i.current_execution_id, @found = 1
FROM duroxide.instances AS i WITH (INDEX (pk_instances))
WHERE i.instance_id = @instance_id;
IF @finished_before IS NOT NULL AND NOT EXISTS (
    SELECT 1
    FROM duroxide.executions AS e WITH (INDEX (pk_executions))
    WHERE e.instance_id = @instance_id
      AND e.execution_id = @current
      AND e.completed_at < @finished_before
)
    SET @found = 0;
IF @found = 0
    RETURN;

-- Everything is kept from the current one on, even what a turn is adding right now.
SELECT @first_kept = MIN(k.execution_id)
FROM (
    SELECT TOP (@keep_last) e.execution_id
    FROM duroxide.executions AS e WITH (INDEX (pk_executions))
    WHERE e.instance_id = @instance_id
    ORDER BY e.execution_id DESC
) AS k;
IF @first_kept IS NULL OR @first_kept > @current
    SET @first_kept = @current;

INSERT INTO @old (execution_id, completed_at)
SELECT TOP (COALESCE(@portion, 2147483647)) e.execution_id, e.completed_at
FROM duroxide.executions AS e WITH (INDEX (pk_executions))
WHERE e.instance_id = @instance_id
  AND e.execution_id < @first_kept
  AND e.completed_at < COALESCE(@completed_before, 9223372036854775807)
ORDER BY e.execution_id;
SET @count = @@ROWCOUNT;
-- Otherwise they may be those of an instance that was begun anew, and one of them its current one.
IF NOT EXISTS (
    SELECT 1
    FROM duroxide.instances AS i WITH (INDEX (pk_instances))
    WHERE i.instance_id = @instance_id
      AND i.sequence = @sequence
)
BEGIN
    SET @found = 0;
    RETURN;
END;
IF @portion IS NOT NULL
BEGIN
    SELECT @events_read = COUNT(*), @last = MAX(p.execution_id)
    FROM (
        SELECT TOP (@portion) o.execution_id
        FROM @old AS o
        INNER LOOP JOIN duroxide.history AS h WITH (INDEX (pk_history))
            ON h.instance_id = @instance_id AND h.execution_id = o.execution_id
        ORDER BY o.position
    ) AS p;
    IF @events_read = @portion
        DELETE FROM @old
        WHERE execution_id > @last;
    IF @events_read = @portion OR @count = @portion
        SET @more = 1;
END;

-- At most 1,000 rows each, so that the server never takes the whole table.
WHILE @position <= @count
BEGIN
    DELETE e
    OUTPUT deleted.execution_id INTO @gone (execution_id)
    FROM @old AS o
    INNER LOOP JOIN duroxide.executions AS e WITH (ROWLOCK, INDEX (pk_executions))
        ON e.instance_id = @instance_id AND e.execution_id = o.execution_id AND e.completed_at = o.completed_at
    WHERE o.position BETWEEN @position AND @position + 999;
    SET @executions = @executions + @@ROWCOUNT;
    SET @position = @position + 1000;
END;
IF @executions > 0
BEGIN
    INSERT INTO @runs (position, instance_id, execution_id)
    SELECT ROW_NUMBER() OVER (ORDER BY g.execution_id), @instance_id, g.execution_id
    FROM @gone AS g;
    EXEC duroxide.delete_events @runs = @runs, @events = @events OUTPUT;
END;
