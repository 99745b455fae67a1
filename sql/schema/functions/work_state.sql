-- Looks whether any activity is ready, and whether any is due.
-- Helper of: fetch_work_item, take.
-- Parameters:
--   @now       the present time, in milliseconds since 1970 UTC
--   @due_from  only what has been due since this time, in milliseconds since 1970 UTC; 0 for all
-- Returns: one row: plain is 1 if an activity without a session is ready, bound if one of a session is, due if the
--   time of one has come; else NULL.
-- Locks: worker_queue (by the indexes of ready and due work, shared, while it reads; what others are writing is
--   passed over, and the next look finds it).
CREATE OR ALTER FUNCTION duroxide.work_state (@now BIGINT, @due_from BIGINT)
RETURNS TABLE
AS
RETURN (
    SELECT (
        SELECT TOP (1) 1
        FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_ready))
        WHERE q.ready = 1 AND q.session_id IS NULL
    ) AS plain, (
        SELECT TOP (1) 1
        FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_ready_session))
        WHERE q.ready = 1 AND q.session_id IS NOT NULL
    ) AS bound, (
        SELECT TOP (1) 1
        FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_worker_queue_wake))
        WHERE q.ready = 0 AND q.wake_at >= @due_from AND q.wake_at <= @now
    ) AS due
);
