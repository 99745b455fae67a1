-- Computes anew which instances may be fetched whose lease has ended or of which a
-- message has become visible. It says nothing that was not true before, so it is no
-- part of the claim that calls it.
--
-- Locks: inboxes.
-- Hints: READPAST leaves out what somebody else is writing right now; READCOMMITTEDLOCK
-- makes it mean that under row versioning too; UPDLOCK and ROWLOCK keep to the rows
-- that are written; INDEX keeps a plan that was made for an empty table from reading
-- the whole of it later (rule Q9).
-- vet:allow Q12-guard: fetch_orchestration_item has asked
CREATE OR ALTER PROCEDURE duroxide.ready_due_inboxes
    @now BIGINT
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
DECLARE @due INT = 256;
-- In portions, so that a great many that come due at once do not lock the table.
WHILE @due = 256
BEGIN
    -- The version is no condition. It is not in the index, so that asking for it makes
    -- the hints lock the row itself, and not only its key in the index: another call
    -- that holds the row is passed over instead of waited for.
    UPDATE TOP (256) b
    SET version_id = s.version_id, head_id = s.head_id, wake_at = s.wake_at
    FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, READPAST, UPDLOCK, ROWLOCK, INDEX (ix_inboxes_wake))
    CROSS APPLY duroxide.inbox_state(b.instance_id, @now, NULL) AS s
    WHERE b.wake_at <= @now
      AND b.version_id >= 0;
    SET @due = @@ROWCOUNT;
END;
