-- Makes activities fetchable whose delay or lease has ended. It says nothing that was
-- not true before, so it is no part of the claim that calls it. The lease's token
-- stays until the next fetch: an abandon may still present it.
--
-- Locks: worker_queue.
-- Hints: READPAST leaves out what somebody else is making fetchable right now;
-- READCOMMITTEDLOCK makes it mean that under row versioning too; UPDLOCK and ROWLOCK
-- keep to the rows that are written; INDEX is there for the reason that find_work
-- gives.
-- vet:allow Q12-guard: fetch_work_item has asked
CREATE OR ALTER PROCEDURE duroxide.ready_due_work
    @now BIGINT
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
DECLARE @due INT = 1000;
-- In portions, so that a great many leases that end at once do not lock the table.
WHILE @due = 1000
BEGIN
    -- The attempts are no condition, see find_work.
    UPDATE TOP (1000) duroxide.worker_queue WITH (READCOMMITTEDLOCK, READPAST, UPDLOCK, ROWLOCK, INDEX (ix_worker_queue_wake))
    SET ready = 1
    WHERE ready = 0
      AND wake_at <= @now
      AND attempt_count >= 0;
    SET @due = @@ROWCOUNT;
END;
