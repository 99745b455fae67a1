-- Locks the inbox of an instance, and adds it if it is missing. The lock is an UPDATE that changes
-- nothing, which no server may leave out, as it may a hint.
--
-- Helper of: append_with_execution, delete_orphan_messages, enqueue_for_orchestrator, start_instance, join_inbox.
-- Transaction: the caller's.
-- Parameters:
--   @now         the present time, in milliseconds since 1970 UTC; 0 for a caller that adds no message
--   @visible_at  from when a message is visible that the caller adds: after those of the turn that
--                holds the instance
-- Locks: inboxes (the instance's row, exclusive, by pk_inboxes).
--
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.lock_inbox
    @instance_id NVARCHAR(400),
    @now         BIGINT = 0,
    @visible_at  BIGINT = NULL OUTPUT
AS
UPDATE b
SET locked_until = b.locked_until, @visible_at = CASE WHEN b.claimed_at >= @now THEN b.claimed_at + 1 ELSE @now END
FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, ROWLOCK, INDEX (pk_inboxes))
WHERE b.instance_id = @instance_id
OPTION (KEEPFIXED PLAN);
IF @@ROWCOUNT > 0
    RETURN;
SET @visible_at = @now;
INSERT INTO duroxide.inboxes (instance_id)
VALUES (@instance_id);
