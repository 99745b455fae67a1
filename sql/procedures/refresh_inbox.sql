-- Computes anew whether an instance may be fetched. The caller holds the inbox's lock
-- (lock_inbox) and has made its changes.
--
-- Under a live lease nothing changes: the end of the turn asks again. The head is kept
-- when there is one and nothing has come due.
--
-- Locks: inboxes, which the caller has locked; by the primary key.
-- Hints: INDEX finds the row by its key and LOOP JOIN its state by seeks, whatever the
-- statistics say (rule Q9). ROWLOCK keeps the lock to the row.
CREATE OR ALTER PROCEDURE duroxide.refresh_inbox
    @instance_id NVARCHAR(400),
    @now         BIGINT
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
UPDATE b
SET version_id = s.version_id, code_id = s.code_id, head_id = s.head_id, wake_at = s.wake_at
FROM duroxide.inboxes AS b WITH (ROWLOCK, INDEX (pk_inboxes))
CROSS APPLY duroxide.inbox_state(b.instance_id, @now, CASE WHEN b.wake_at <= @now THEN NULL ELSE b.head_id END) AS s
WHERE b.instance_id = @instance_id
  AND (b.lock_token IS NULL OR b.locked_until <= @now)
OPTION (LOOP JOIN);
