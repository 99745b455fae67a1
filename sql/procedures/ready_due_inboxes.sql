-- Makes up to 256 instances fetchable whose lease has ended or for which a message has become
-- visible. The lease's token stays until the next fetch.
--
-- There are four statements: one finds the instances and keeps no lock, one keeps those that nobody
-- is writing, one locks them by a write, and one computes their state. What is computed in the
-- statement that locks a row may be older than the row.
--
-- Helper of: fetch_orchestration_item.
-- Transaction: its own. It is separate from the claim that calls it, so that others see at once what
--   may be fetched.
--
-- Parameters:
--   @now       the present time, in milliseconds since 1970 UTC
--   @due_from  only those whose time came at this time or later, in milliseconds since 1970 UTC; 0 for
--              all
--   @more      1 if there may be others
--
-- Locks: inboxes (the found rows, exclusive, by ix_inboxes_wake and then pk_inboxes), and what
--   function inbox_state reads.
--
-- Hints: READPAST leaves out what others are writing, also the second time: a transaction that has
--   locked a row in between may be a long one, and its end computes the state as well.
--   READCOMMITTEDLOCK takes locks under row versioning as well; UPDLOCK and ROWLOCK keep to rows.
--   INDEX reads what is due and nothing else. A plan that was made for an empty table would read
--   all of it. FORCESEEK locks each row before its keys in the other indexes, so that two writers
--   cannot lock them in opposite orders. LOOP seeks each row that was found, and LOOP JOIN its
--   state, even if the plan was made for hundreds of rows of a small table. KEEPFIXED PLAN prevents
--   a new plan when many rows have changed, see 0005_storage.sql.
--
-- gen:internal
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
  -- The filter of the index.
  AND b.wake_at IS NOT NULL
  AND b.version_id >= 0
ORDER BY b.wake_at
OPTION (KEEPFIXED PLAN);
SET @more = CASE @@ROWCOUNT WHEN 256 THEN 1 ELSE 0 END;
IF NOT EXISTS (SELECT 1 FROM @due AS d)
    RETURN;

-- vet:allow P1-try: the caller's CATCH rolls back
BEGIN TRANSACTION;
INSERT INTO @locked (instance_id)
SELECT b.instance_id
FROM @due AS d
INNER LOOP JOIN duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, READPAST, UPDLOCK, ROWLOCK, FORCESEEK (pk_inboxes (instance_id))) ON b.instance_id = d.instance_id
WHERE b.wake_at <= @now
  AND (b.lock_token IS NULL OR b.locked_until <= @now)
OPTION (KEEPFIXED PLAN);
-- Whoever has a lease has no head.
UPDATE b
SET head_id = NULL
FROM @locked AS l
INNER LOOP JOIN duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_inboxes)) ON b.instance_id = l.instance_id
OPTION (KEEPFIXED PLAN);
UPDATE b
SET version_id = s.version_id, code_id = s.code_id, head_id = s.head_id, wake_at = s.wake_at
FROM @locked AS l
INNER LOOP JOIN duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_inboxes)) ON b.instance_id = l.instance_id
CROSS APPLY duroxide.inbox_state(b.instance_id, @now, NULL) AS s
WHERE b.lock_token IS NULL
   OR b.locked_until <= @now
OPTION (LOOP JOIN, KEEPFIXED PLAN);
COMMIT TRANSACTION;
