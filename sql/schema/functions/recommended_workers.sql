-- Computes how many workers the present work needs, for an autoscaler. Work in progress counts like work that waits,
-- so that the number does not make an autoscaler stop a busy worker. Hidden work, such as future timers, does not
-- count. A worker runs turns and activities at the same time, so the kind that needs more workers decides. It counts
-- keys of indexes, without rows: call it every few seconds, not more often.
-- Called by: autoscalers, as in SELECT duroxide.recommended_workers(4, 8).
-- Parameters:
--   @turns       how many turns a worker runs at a time; 0 leaves turns out
--   @activities  how many activities a worker runs at a time; 0 leaves activities out
-- Returns: how many workers.
-- Locks: inboxes, worker_queue (read, by the index of each count alone).
CREATE OR ALTER FUNCTION duroxide.recommended_workers (@turns INT, @activities INT)
RETURNS INT
AS
BEGIN
    DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
    DECLARE @instances BIGINT, @work BIGINT, @for_turns BIGINT, @for_activities BIGINT;
    -- Instances that are fetchable, and those whose time has come or that are leased. A lease ends within an hour, so
    -- later timers are not read.
    SELECT @instances = SUM(c.instances)
    FROM (
        SELECT COUNT_BIG(*) AS instances
        FROM duroxide.inboxes AS b WITH (INDEX (ix_inboxes_ready))
        WHERE b.head_id IS NOT NULL
        UNION ALL
        SELECT COUNT_BIG(*) AS instances
        FROM duroxide.inboxes AS b WITH (INDEX (ix_inboxes_wake))
        WHERE b.wake_at IS NOT NULL AND b.wake_at <= @now + 3600000 AND b.head_id IS NULL
          AND (b.wake_at <= @now OR b.lock_token IS NOT NULL)
    ) AS c
    OPTION (KEEPFIXED PLAN);
    SELECT @work = SUM(c.activities)
    FROM (
        SELECT COUNT_BIG(*) AS activities
        FROM duroxide.worker_queue AS q WITH (INDEX (ix_worker_queue_ready))
        WHERE q.ready = 1 AND q.session_id IS NULL
        UNION ALL
        SELECT COUNT_BIG(*) AS activities
        FROM duroxide.worker_queue AS q WITH (INDEX (ix_worker_queue_ready_session))
        WHERE q.ready = 1 AND q.session_id IS NOT NULL
        UNION ALL
        SELECT COUNT_BIG(*) AS activities
        FROM duroxide.worker_queue AS q WITH (INDEX (ix_worker_queue_wake))
        WHERE q.ready = 0 AND (q.wake_at <= @now OR q.lock_token IS NOT NULL)
    ) AS c
    OPTION (KEEPFIXED PLAN);
    SET @for_turns = CASE WHEN @turns > 0 THEN (@instances + @turns - 1) / @turns ELSE 0 END;
    SET @for_activities = CASE WHEN @activities > 0 THEN (@work + @activities - 1) / @activities ELSE 0 END;
    RETURN CASE WHEN @for_turns > @for_activities THEN @for_turns ELSE @for_activities END;
END;
GO
GRANT EXECUTE ON duroxide.recommended_workers TO duroxide_scaler;
