-- Computes anew which of the instances may be fetched: refresh_inbox for many, in one
-- statement. No id is in the list twice.
--
-- Locks: inboxes, which the caller has locked; each by the primary key.
-- Hints: FORCESEEK and INDEX find each row by its key, and LOOP JOIN its state by seeks, even
-- if the plan was made for a list of thousands (rule Q9). ROWLOCK keeps the locks to rows.
CREATE OR ALTER PROCEDURE duroxide.refresh_inboxes
    @instances duroxide.id_list_v1 READONLY,
    @now       BIGINT
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
UPDATE b
SET version_id = s.version_id, code_id = s.code_id, head_id = s.head_id, wake_at = s.wake_at
FROM @instances AS n
INNER JOIN duroxide.inboxes AS b WITH (ROWLOCK, FORCESEEK, INDEX (pk_inboxes)) ON b.instance_id = n.id
CROSS APPLY duroxide.inbox_state(b.instance_id, @now, CASE WHEN b.wake_at <= @now THEN NULL ELSE b.head_id END) AS s
WHERE b.lock_token IS NULL
   OR b.locked_until <= @now
OPTION (LOOP JOIN);
