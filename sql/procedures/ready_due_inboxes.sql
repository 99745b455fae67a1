-- Makes up to 256 instances fetchable whose lease has ended or of which a message has
-- become visible, at @due_from or later. @more = 1 says that there may be others whose time
-- has come since then.
--
-- It says nothing that was not true before, so it is no part of the claim that calls it:
-- it commits by itself, so that others see at once what may be fetched.
--
-- Three statements: which instances, found without keeping a lock; their locks, by a
-- write that repeats the condition; and their state. What is computed in the statement
-- that locks a row may be older than the row.
--
-- Locks: inboxes.
-- Hints: READPAST leaves out what somebody else is writing right now, also in the write:
-- a transaction that has locked it in between may be a long one, and its end asks again;
-- READCOMMITTEDLOCK makes it mean that under row versioning too; UPDLOCK and ROWLOCK
-- keep to rows. INDEX reads what is due and nothing else, also by a plan that was made for
-- an empty table (rule Q9). FORCESEEK writes each row by its key, which is locked before
-- its keys in the other indexes: two writers cannot come to them from both sides. LOOP,
-- LOOP JOIN and FORCE ORDER seek each that was found.
-- KEEPFIXED PLAN keeps the plan however many rows change: see 0005_storage_sqlserver.sql.
CREATE OR ALTER PROCEDURE duroxide.ready_due_inboxes
    @now      BIGINT,
    @due_from BIGINT,
    @more     BIT OUTPUT
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
DECLARE @due TABLE (instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY);
DECLARE @locked TABLE (instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY);

-- The version is no condition. It is not in the index, so that asking for it makes the
-- hints look at the row itself, and not only at its key in the index.
INSERT INTO @due (instance_id)
SELECT TOP (256) b.instance_id
FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, READPAST, UPDLOCK, ROWLOCK, INDEX (ix_inboxes_wake))
WHERE b.wake_at >= @due_from
  AND b.wake_at <= @now
  AND b.version_id >= 0
ORDER BY b.wake_at
OPTION (KEEPFIXED PLAN);
SET @more = CASE @@ROWCOUNT WHEN 256 THEN 1 ELSE 0 END;
IF NOT EXISTS (SELECT 1 FROM @due AS d)
    RETURN;

-- vet:allow P1-try: the caller's CATCH rolls back
BEGIN TRANSACTION;
UPDATE b
SET head_id = NULL
OUTPUT inserted.instance_id INTO @locked (instance_id)
FROM @due AS d, duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, READPAST, UPDLOCK, ROWLOCK, FORCESEEK (pk_inboxes (instance_id)))
WHERE b.instance_id = d.instance_id
  AND b.wake_at <= @now
  AND (b.lock_token IS NULL OR b.locked_until <= @now)
OPTION (FORCE ORDER, LOOP JOIN, KEEPFIXED PLAN);
UPDATE b
SET version_id = s.version_id, code_id = s.code_id, head_id = s.head_id, wake_at = s.wake_at
FROM @locked AS l
INNER LOOP JOIN duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK (pk_inboxes (instance_id))) ON b.instance_id = l.instance_id
CROSS APPLY duroxide.inbox_state(b.instance_id, @now, NULL) AS s
WHERE b.lock_token IS NULL
   OR b.locked_until <= @now
OPTION (KEEPFIXED PLAN);
COMMIT TRANSACTION;
