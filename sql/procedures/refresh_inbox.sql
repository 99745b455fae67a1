-- Computes again whether an instance may be fetched (function inbox_state), after the caller has
-- made its changes. Under a live lease it changes nothing, because the end of the turn computes it.
-- The head is kept if there is one and no hidden message has become visible, unless @keep_head is 0.
--
-- Helper of: abandon_orchestration_item, ack_instance_work, ack_orchestration_item, ack_work_item,
--   append_with_execution, delete_orphan_messages, enqueue_for_orchestrator,
--   fetch_orchestration_item, retry_held_instance, set_messages_aside, start_instance.
-- Transaction: the caller's, which has locked the inbox by a write, as lock_inbox does.
--
-- Parameters:
--   @instance_id  the instance
--   @now          the present time, in milliseconds since 1970 UTC
--   @keep_head    0 chooses the head anew: it may have been deleted, or an older message become visible
--
-- Locks: inboxes (the instance's row, which the caller has locked, by pk_inboxes), and what
--   function inbox_state reads.
--
-- Hints: INDEX comes to the row by its key, and LOOP JOIN to its state by seeks, whatever the
--   statistics say. ROWLOCK keeps the lock to the row. KEEPFIXED PLAN prevents a new plan when many
--   rows have changed, see 0005_storage.sql.
--
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.refresh_inbox
    @instance_id NVARCHAR(400),
    @now         BIGINT,
    @keep_head   BIT = 1
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
UPDATE b
SET version_id = s.version_id, code_id = s.code_id, head_id = s.head_id, wake_at = s.wake_at
FROM duroxide.inboxes AS b WITH (ROWLOCK, INDEX (pk_inboxes))
CROSS APPLY duroxide.inbox_state(b.instance_id, @now, CASE WHEN @keep_head = 0 OR b.wake_at <= @now THEN NULL ELSE b.head_id END) AS s
WHERE b.instance_id = @instance_id
  AND (b.lock_token IS NULL OR b.locked_until <= @now)
OPTION (LOOP JOIN, KEEPFIXED PLAN);
