-- Makes up to 64 activities fetchable whose delay or lease has ended, at @due_from or later.
-- @more = 1 says that there may be others whose time has come since then. It says nothing that was not true before, so
-- it is no part of the claim that calls it. The lease's token stays until the next fetch:
-- an abandon may still present it.
--
-- The write repeats the condition: not every server tests it again for the rows of a TOP
-- after it has waited for them (rule Q3).
--
-- Locks: worker_queue.
-- Hints: READPAST leaves out what somebody else is writing right now, also in the write;
-- READCOMMITTEDLOCK makes it mean that under row versioning too; UPDLOCK and ROWLOCK
-- keep to the rows that are written. INDEX is there for the reason that find_work gives.
-- FORCESEEK writes each row by its key, which is locked before its keys in the other
-- indexes, and LOOP seeks it for each that was found.
-- KEEPFIXED PLAN keeps the plan however many rows change: see 0005_storage_sqlserver.sql.
CREATE OR ALTER PROCEDURE duroxide.ready_due_work
    @now      BIGINT,
    @due_from BIGINT,
    @more     BIT OUTPUT
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
DECLARE @due TABLE (id BIGINT NOT NULL PRIMARY KEY);

-- The end of the lease is no condition, see find_work.
INSERT INTO @due (id)
SELECT TOP (64) q.id
FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, UPDLOCK, ROWLOCK, INDEX (ix_worker_queue_wake))
WHERE q.ready = 0
  AND q.wake_at >= @due_from
  AND q.wake_at <= @now
  AND COALESCE(q.locked_until, 0) >= 0
ORDER BY q.wake_at
OPTION (KEEPFIXED PLAN);
SET @more = CASE @@ROWCOUNT WHEN 64 THEN 1 ELSE 0 END;

IF EXISTS (SELECT 1 FROM @due AS d)
    UPDATE q
    SET ready = 1
    FROM @due AS d
    INNER LOOP JOIN duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, UPDLOCK, ROWLOCK, FORCESEEK (pk_worker_queue (id))) ON q.id = d.id
    WHERE q.ready = 0
      AND q.wake_at <= @now
    OPTION (KEEPFIXED PLAN);
