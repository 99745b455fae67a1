-- Locks the inbox of an instance, and adds it if it is missing. Whoever adds or removes messages
-- of an instance, or changes its current execution, calls this first. The lock is a write that
-- changes nothing (version_id = version_id), so that it does not rest on a hint.
--
-- Of two callers that add the same inbox at the same time, one gets error 2627; its whole call
-- is safe to repeat. A lock of the gap in the index (HOLDLOCK) would avoid that, and make all
-- new instances with neighbouring ids wait for each other.
--
-- Helper of: ack_instance_work, ack_work_item, append_with_execution, delete_orphan_messages,
--   enqueue_for_orchestrator, start_instance.
-- Transaction: the caller's, which keeps the lock.
--
-- Parameters:
--   @instance_id  the instance
--
-- Locks: inboxes (the instance's row, exclusive, by pk_inboxes).
--
-- Hints: INDEX comes to the row by its key, whatever the statistics say. READCOMMITTEDLOCK waits for
--   a row that somebody is adding, even where writes look at the last committed version first
--   (optimized locking). ROWLOCK keeps the lock to the row. KEEPFIXED PLAN prevents a new plan when
--   many rows have changed, see 0005_storage.sql.
--
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.lock_inbox
    @instance_id NVARCHAR(400)
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
-- vet:allow Q10: of two callers that add the row, one gets error 2627 and repeats its call
UPDATE b
SET version_id = b.version_id
FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, ROWLOCK, INDEX (pk_inboxes))
WHERE b.instance_id = @instance_id
OPTION (KEEPFIXED PLAN);
IF @@ROWCOUNT = 0
    INSERT INTO duroxide.inboxes (instance_id)
    VALUES (@instance_id);
