-- Makes activities fetchable whose delay or lease has ended. It says nothing that was
-- not true before, so it is no part of the claim that calls it. The lease's token
-- stays until the next fetch: an abandon may still present it.
--
-- Locks: worker_queue.
-- Hints: READPAST leaves out what somebody else is writing right now, also in the write;
-- READCOMMITTEDLOCK makes it mean that under row versioning too; UPDLOCK and ROWLOCK
-- keep to the rows that are written; INDEX is there for the reason that find_work
-- gives, and LOOP finds each row by its id.
-- vet:allow Q12-guard: fetch_work_item has asked
CREATE OR ALTER PROCEDURE duroxide.ready_due_work
    @now BIGINT
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
DECLARE @found TABLE (id BIGINT NOT NULL PRIMARY KEY);
DECLARE @due INT = 1000;
-- In portions, so that a great many leases that end at once do not lock the table. The
-- write repeats the condition: not every server tests it again for the rows of a TOP
-- after it has waited for them (rule Q3).
WHILE @due = 1000
BEGIN
    DELETE FROM @found;
    -- The end of the lease is no condition, see find_work.
    INSERT INTO @found (id)
    SELECT TOP (1000) q.id
    FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, UPDLOCK, ROWLOCK, INDEX (ix_worker_queue_wake))
    WHERE q.ready = 0
      AND q.wake_at <= @now
      AND COALESCE(q.locked_until, 0) >= 0
    ORDER BY q.wake_at;
    SET @due = @@ROWCOUNT;
    UPDATE q
    SET ready = 1
    FROM @found AS f
    INNER LOOP JOIN duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, READPAST, UPDLOCK, ROWLOCK) ON q.id = f.id
    WHERE q.ready = 0
      AND q.wake_at <= @now;
END;
