-- Makes up to 64 activities ready whose delay or lease has ended. The lease's token stays until the next claim: an
-- abandon may still present it.
-- Helper of: fetch_work_item.
-- Transaction: none. The write commits by itself. It is separate from the claim that calls it, so that others see at
--   once what may be claimed.
-- Parameters:
--   @now       the present time, in milliseconds since 1970 UTC
--   @due_from  only those whose time came at this time or later, in milliseconds since 1970 UTC; 0 for all
--   @more      1 if there may be others
-- Locks: worker_queue (the found rows, exclusive, by ix_worker_queue_wake and then pk_worker_queue).
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.ready_due_work
    @now      BIGINT,
    @due_from BIGINT,
    @more     BIT OUTPUT
AS
DECLARE @due TABLE (id BIGINT NOT NULL PRIMARY KEY);

INSERT INTO @due (id)
SELECT TOP (64) q.id
FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, UPDLOCK, ROWLOCK, INDEX (ix_worker_queue_wake))
WHERE q.ready = 0 AND q.wake_at >= @due_from AND q.wake_at <= @now
  -- A column of the row, as in fetch_work_item.
  AND COALESCE(q.locked_until, 0) >= 0
ORDER BY q.wake_at
OPTION (KEEPFIXED PLAN);
SET @more = CASE @@ROWCOUNT WHEN 64 THEN 1 ELSE 0 END;

-- Not every server tests again rows of a TOP that it has waited for.
UPDATE q
SET ready = 1
FROM @due AS d
INNER LOOP JOIN duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, UPDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_worker_queue)) ON q.id = d.id
WHERE q.ready = 0 AND q.wake_at <= @now
OPTION (KEEPFIXED PLAN);
