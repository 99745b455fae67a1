-- Computes again whether an instance may be claimed (function inbox_state), after the caller has made its changes.
-- Helper of: abandon_orchestration_item, ack_orchestration_item, append_with_execution, delete_orphan_messages,
--   claim_without_row, end_work, enqueue_for_orchestrator, retry_held_instance, set_messages_aside, start_instance.
-- Transaction: the caller's, which has locked the inbox by a write.
-- Parameters:
--   @now        the present time, in milliseconds since 1970 UTC
--   @keep_head  0 looks for the head anew, as a message may have become visible before it
-- Locks: inboxes (the instance's row, which the caller has locked, by pk_inboxes), and what function inbox_state
--   reads.
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.refresh_inbox
    @instance_id NVARCHAR(400),
    @now         BIGINT,
    @keep_head   BIT = 1
AS
UPDATE b
SET version_id = s.version_id, code_id = s.code_id, head_id = s.head_id, wake_at = s.wake_at
FROM duroxide.inboxes AS b WITH (ROWLOCK, INDEX (pk_inboxes))
CROSS APPLY duroxide.inbox_state(b.instance_id, @now, CASE WHEN @keep_head = 0 OR b.wake_at <= @now THEN NULL ELSE b.head_id END) AS s
WHERE b.instance_id = @instance_id AND (b.lock_token IS NULL OR b.locked_until <= @now)
OPTION (LOOP JOIN, KEEPFIXED PLAN);
