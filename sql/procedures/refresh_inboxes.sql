-- Computes again which of many instances may be fetched: refresh_inbox for many, in one statement.
-- Helper of: ack_orchestration_item.
-- Transaction: the caller's, which holds the inboxes (lock_inboxes).
-- Parameters:
--   @instances  the instances; no id is there twice
--   @now        the present time, in milliseconds since 1970 UTC
-- Locks: inboxes (the instances' rows, which the caller has locked, by pk_inboxes), and what function inbox_state
--   reads.
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.refresh_inboxes
    @instances duroxide.id_list_v1 READONLY,
    @now       BIGINT
AS
UPDATE b
SET version_id = s.version_id, code_id = s.code_id, head_id = s.head_id, wake_at = s.wake_at
FROM @instances AS n
INNER JOIN duroxide.inboxes AS b WITH (ROWLOCK, FORCESEEK, INDEX (pk_inboxes)) ON b.instance_id = n.id
CROSS APPLY duroxide.inbox_state(b.instance_id, @now, CASE WHEN b.wake_at <= @now THEN NULL ELSE b.head_id END) AS s
WHERE b.lock_token IS NULL
   OR b.locked_until <= @now
OPTION (LOOP JOIN, KEEPFIXED PLAN);
