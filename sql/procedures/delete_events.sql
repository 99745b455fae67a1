-- Deletes the histories of executions, 1,000 events at a time, so that the server never takes a lock
-- of the whole table instead of rows. Each portion begins where the last one ended. Deleted rows
-- stay in the index until the transaction ends, so reading from the beginning each time would take
-- time quadratic in the events.
--
-- The order of the join makes it likely that a portion has the first events, but correctness does
-- not depend on it: the procedure ends only when a look from the beginning finds no event.
--
-- Helper of: prune_instance.
-- Transaction: the caller's.
--
-- Parameters:
--   @runs    the executions
--   @events  how many events were deleted
--
-- Locks: history (each event's row, by pk_history).
--
-- Hints: LOOP and INDEX seek each execution's events in order. A plan that was made for an empty
--   table would read all of it. ROWLOCK keeps the locks to rows.
--
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.delete_events
    @runs   duroxide.execution_list_v1 READONLY,
    @events BIGINT OUTPUT
AS
SET DEADLOCK_PRIORITY LOW;
DECLARE @left TABLE (
    position     INT           NOT NULL PRIMARY KEY,
    instance_id  NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    execution_id BIGINT        NOT NULL,
    -- All up to this event are deleted.
    after        BIGINT        NOT NULL
);
-- In the order of their deletion.
DECLARE @gone TABLE (
    number   INT    NOT NULL IDENTITY (1, 1) PRIMARY KEY,
    position INT    NOT NULL,
    event_id BIGINT NOT NULL
);
DECLARE @position INT = 0, @after BIGINT = 0, @portion INT, @more BIT = 1;
SET @events = 0;
INSERT INTO @left (position, instance_id, execution_id, after)
SELECT r.position, r.instance_id, r.execution_id, -9223372036854775808
FROM @runs AS r;
WHILE @more = 1
BEGIN
    DELETE FROM @gone;
    DELETE TOP (1000) h
    OUTPUT r.position, deleted.event_id INTO @gone (position, event_id)
    FROM @left AS r
    INNER LOOP JOIN duroxide.history AS h WITH (ROWLOCK, INDEX (pk_history))
        ON h.instance_id = r.instance_id AND h.execution_id = r.execution_id AND h.event_id > r.after
    WHERE r.position >= @position;
    SET @portion = @@ROWCOUNT;
    SET @events = @events + @portion;
    IF @portion = 0 AND @position = 0
        SET @more = 0;
    -- Where the next portion begins: behind the last event, or at the beginning once more.
    UPDATE @left
    SET after = -9223372036854775808
    WHERE position = @position;
    IF @portion < 1000
        SET @position = 0;
    ELSE
    BEGIN
        SELECT TOP (1) @position = g.position, @after = g.event_id
        FROM @gone AS g
        ORDER BY g.number DESC;
        UPDATE @left
        SET after = @after
        WHERE position = @position;
    END;
END;
