-- Lists the queue messages that a turn may read beside those that made its instance ready (kind 0): up to 100 of each
-- queue that has such a message, and the oldest of up to 10 other queues. So a turn that begins to wait for a queue
-- usually has its next message already.
-- Helper of: read_turn.
-- Parameters:
--   @now  when the turn was claimed
-- Returns: visible messages of kind 4. Those of a queue are its oldest, without a gap.
-- Locks: orchestrator_queue (by pk_orchestrator_queue and ix_orchestrator_queue_queue, shared, while it reads; none
--   under row versioning).
CREATE OR ALTER FUNCTION duroxide.waiting_messages (@instance_id NVARCHAR(400), @now BIGINT)
RETURNS @waiting TABLE (id BIGINT NOT NULL PRIMARY KEY, visible_at BIGINT NOT NULL)
AS
BEGIN
    DECLARE @queues TABLE (queue NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY);
    DECLARE @left INT = 10, @queue NVARCHAR(400), @last NVARCHAR(400) = N'', @id BIGINT, @kind TINYINT, @visible_at BIGINT;
    -- The queue named by the empty text is read with these, as the loop below begins behind it.
    INSERT INTO @queues (queue)
    SELECT N''
    UNION
    SELECT q.queue
    FROM duroxide.orchestrator_queue AS q WITH (FORCESEEK (pk_orchestrator_queue (instance_id, kind, visible_at)))
    WHERE q.instance_id = @instance_id AND q.kind = 0 AND q.queue IS NOT NULL AND q.visible_at <= @now
    OPTION (KEEPFIXED PLAN);
    INSERT INTO @waiting (id, visible_at)
    SELECT w.id, w.visible_at
    FROM @queues AS k
    CROSS APPLY (
        SELECT TOP (100) q.id, q.kind, q.visible_at
        FROM duroxide.orchestrator_queue AS q WITH (FORCESEEK (ix_orchestrator_queue_queue (instance_id, queue)))
        WHERE q.instance_id = @instance_id AND q.queue = k.queue AND q.queue IS NOT NULL
        ORDER BY q.id
    ) AS w
    WHERE w.kind = 4 AND w.visible_at <= @now
    OPTION (LOOP JOIN, KEEPFIXED PLAN);
    -- The other queues, one seek for each: it passes all messages of the queue before.
    WHILE @left > 0
    BEGIN
        SELECT @queue = NULL, @left = @left - 1;
        SELECT TOP (1) @queue = q.queue, @id = q.id, @kind = q.kind, @visible_at = q.visible_at
        FROM duroxide.orchestrator_queue AS q WITH (FORCESEEK (ix_orchestrator_queue_queue (instance_id, queue)))
        WHERE q.instance_id = @instance_id AND q.queue IS NOT NULL AND q.queue > @last
        ORDER BY q.queue, q.id
        OPTION (KEEPFIXED PLAN);
        IF @queue IS NULL
            BREAK;
        IF @kind = 4 AND @visible_at <= @now AND NOT EXISTS (SELECT 1 FROM @queues AS k WHERE k.queue = @queue)
            INSERT INTO @waiting (id, visible_at)
            VALUES (@id, @visible_at);
        SET @last = @queue;
    END;
    RETURN;
END;
