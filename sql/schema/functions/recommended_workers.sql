-- Tells how many workers the present work calls for, for whatever scales them: a
-- worker runs @turns turns and @activities activities at a time. Work that is being
-- done counts like work that waits, so that nobody is told to stop a busy worker;
-- what is hidden, future timers for instance, does not count. As a worker does both
-- kinds at once, the kind that needs more workers decides. 0 for @turns or
-- @activities leaves that kind out.
--
-- It may be called by the runtime role, as in SELECT duroxide.recommended_workers(4, 8).
-- It counts rows of the queues' indexes: call it every few seconds, not more often.
--
-- Hints: INDEX names the index of each count, which holds nothing else and all that it needs,
-- whatever the statistics say: a reader that came from an index to the row would wait for
-- whoever writes both.
CREATE OR ALTER FUNCTION duroxide.recommended_workers (@turns INT, @activities INT)
RETURNS INT
AS
BEGIN
    DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
    DECLARE @instances BIGINT, @work BIGINT, @for_turns BIGINT, @for_activities BIGINT;
    -- What is free, what is due, and what is leased or was until its time came. Each count
    -- reads one range of an index, none of which holds what is hidden.
    SELECT @instances = SUM(c.instances)
    FROM (
        SELECT COUNT_BIG(*) AS instances
        FROM duroxide.inboxes AS b WITH (INDEX (ix_inboxes_ready))
        WHERE b.head_id IS NOT NULL
        UNION ALL
        SELECT COUNT_BIG(*) AS instances
        FROM duroxide.inboxes AS b WITH (INDEX (ix_inboxes_wake))
        WHERE b.wake_at IS NOT NULL
          AND b.wake_at <= @now
          AND b.head_id IS NULL
          AND b.lock_token IS NULL
        UNION ALL
        SELECT COUNT_BIG(*) AS instances
        FROM duroxide.inboxes AS b WITH (INDEX (uq_inboxes_token))
        WHERE b.lock_token IS NOT NULL
          AND b.head_id IS NULL
    ) AS c;
    SELECT @work = SUM(c.activities)
    FROM (
        SELECT COUNT_BIG(*) AS activities
        FROM duroxide.worker_queue AS q WITH (INDEX (ix_worker_queue_ready))
        WHERE q.ready = 1
          AND q.session_id IS NULL
        UNION ALL
        SELECT COUNT_BIG(*) AS activities
        FROM duroxide.worker_queue AS q WITH (INDEX (ix_worker_queue_ready_session))
        WHERE q.ready = 1
          AND q.session_id IS NOT NULL
        UNION ALL
        SELECT COUNT_BIG(*) AS activities
        FROM duroxide.worker_queue AS q WITH (INDEX (ix_worker_queue_wake))
        WHERE q.ready = 0
          AND q.wake_at <= @now
          AND q.lock_token IS NULL
        UNION ALL
        SELECT COUNT_BIG(*) AS activities
        FROM duroxide.worker_queue AS q WITH (INDEX (uq_worker_queue_token))
        WHERE q.lock_token IS NOT NULL
          AND q.ready = 0
    ) AS c;
    SET @for_turns = CASE WHEN @turns > 0 THEN (@instances + @turns - 1) / @turns ELSE 0 END;
    SET @for_activities = CASE WHEN @activities > 0 THEN (@work + @activities - 1) / @activities ELSE 0 END;
    RETURN CASE WHEN @for_turns > @for_activities THEN @for_turns ELSE @for_activities END;
END;
GO
GRANT EXECUTE ON duroxide.recommended_workers TO duroxide_reader;
