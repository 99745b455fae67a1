-- Computes anew whether an instance may be fetched. The caller holds the inbox's lock
-- (lock_inbox) and has made its changes.
--
-- Under a live lease nothing changes: the end of the turn asks again. The head is kept
-- when there is one and nothing has come due.
--
-- Locks: inboxes, which the caller has locked.
-- Hints: FORCESEEK comes to the row by its key, also by a plan that was made for an empty
-- table (rule Q9); READCOMMITTEDLOCK makes row versions no exception, and ROWLOCK keeps to
-- rows.
CREATE OR ALTER PROCEDURE duroxide.refresh_inbox
    @instance_id NVARCHAR(400),
    @now         BIGINT
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
UPDATE b
SET version_id = s.version_id, code_id = s.code_id, head_id = s.head_id, wake_at = s.wake_at
FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK (pk_inboxes (instance_id)))
CROSS APPLY duroxide.inbox_state(b.instance_id, @now, CASE WHEN b.wake_at <= @now THEN NULL ELSE b.head_id END) AS s
WHERE b.instance_id = @instance_id
  AND (b.lock_token IS NULL OR b.locked_until <= @now);
