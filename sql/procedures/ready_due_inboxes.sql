-- Computes anew which instances may be fetched whose lease has ended or of which a
-- message has become visible. It says nothing that was not true before, so it is no
-- part of the claim that calls it.
--
-- Each instance is found without a lock, locked by a write that repeats the condition,
-- and only then asked for: what is computed in the statement that waits for the lock
-- may be older than what it waited for.
--
-- Locks: inboxes.
-- Hints: READPAST leaves out what somebody else is writing right now, also in the write:
-- a transaction that has locked it in between may be a long one, and its end asks again;
-- READCOMMITTEDLOCK makes it mean that under row versioning too; UPDLOCK and ROWLOCK
-- keep to rows; INDEX keeps a plan that was made for an empty table from reading the
-- whole of it later (rule Q9).
-- vet:allow Q12-guard: fetch_orchestration_item has asked
CREATE OR ALTER PROCEDURE duroxide.ready_due_inboxes
    @now BIGINT
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
DECLARE @found TABLE (instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY);
DECLARE @due INT = 256, @next NVARCHAR(400);
-- In portions, so that a great many that come due at once do not keep the first waiting.
WHILE @due = 256
BEGIN
    DELETE FROM @found;
    -- The version is no condition. It is not in the index, so that asking for it makes
    -- the hints look at the row itself, and not only at its key in the index.
    INSERT INTO @found (instance_id)
    SELECT TOP (256) b.instance_id
    FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, READPAST, UPDLOCK, ROWLOCK, INDEX (ix_inboxes_wake))
    WHERE b.wake_at <= @now
      AND b.version_id >= 0
    ORDER BY b.wake_at;
    SELECT @due = COUNT(*), @next = MIN(f.instance_id) FROM @found AS f;
    WHILE @next IS NOT NULL
    BEGIN
        -- vet:allow P1-try: the caller's CATCH rolls back
        BEGIN TRANSACTION;
        UPDATE b
        SET head_id = NULL
        FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, READPAST, UPDLOCK, ROWLOCK)
        WHERE b.instance_id = @next
          AND b.wake_at <= @now
          AND (b.lock_token IS NULL OR b.locked_until <= @now);
        IF @@ROWCOUNT = 1
            EXEC duroxide.refresh_inbox @instance_id = @next, @now = @now;
        COMMIT TRANSACTION;
        SELECT @next = MIN(f.instance_id) FROM @found AS f WHERE f.instance_id > @next;
    END;
END;
