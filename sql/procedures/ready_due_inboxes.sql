-- Makes up to 256 instances ready whose lease has ended or for which a message has become visible. Their rows are
-- locked by a first write, so that the messages of others who share an inbox (join_inbox) are there when the state is
-- computed.
-- Helper of: claim_turn.
-- Transaction: its own.
-- Parameters:
--   @now       the present time, in milliseconds since 1970 UTC
--   @due_from  leaves out what was due before this time
--   @more      1 if there may be more
-- Locks: inboxes (the found rows, exclusive, by ix_inboxes_wake and then pk_inboxes; those that somebody else writes
--   are left out), and what function inbox_state reads.
-- gen:internal
-- vet:allow P1-try: the caller rolls back
CREATE OR ALTER PROCEDURE duroxide.ready_due_inboxes
    @now      BIGINT,
    @due_from BIGINT,
    @more     BIT OUTPUT
AS
DECLARE @due TABLE (instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY);
DECLARE @locked TABLE (instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY);
INSERT INTO @due (instance_id)
SELECT TOP (256) b.instance_id
FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, READPAST, UPDLOCK, ROWLOCK, INDEX (ix_inboxes_wake))
WHERE b.wake_at >= @due_from AND b.wake_at <= @now AND b.wake_at IS NOT NULL AND b.version_id >= 0
ORDER BY b.wake_at
OPTION (KEEPFIXED PLAN);
SET @more = CASE @@ROWCOUNT WHEN 256 THEN 1 ELSE 0 END;

BEGIN TRANSACTION;
UPDATE b
SET head_id = NULL
OUTPUT inserted.instance_id INTO @locked (instance_id)
FROM @due AS d
INNER LOOP JOIN duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, READPAST, UPDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_inboxes)) ON b.instance_id = d.instance_id
WHERE b.wake_at <= @now AND (b.lock_token IS NULL OR b.locked_until <= @now)
OPTION (KEEPFIXED PLAN);
UPDATE b
SET version_id = s.version_id, code_id = s.code_id, head_id = s.head_id, wake_at = s.wake_at
FROM @locked AS l
INNER LOOP JOIN duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_inboxes)) ON b.instance_id = l.instance_id
CROSS APPLY duroxide.inbox_state(b.instance_id, @now, NULL) AS s
OPTION (LOOP JOIN, KEEPFIXED PLAN);
COMMIT TRANSACTION;
