-- Locks the inbox of an instance, and adds it if it is missing. The lock is an UPDATE that changes nothing, which no
-- server may leave out, as it may a hint.
-- Helper of: append_with_execution, enqueue_for_orchestrator, start_instance, join_inbox.
-- Transaction: the caller's.
-- Locks: inboxes (the instance's row, exclusive, by pk_inboxes).
-- gen:internal
-- vet:allow Q10: of two callers that add the row, one gets error 2627 and repeats its call
CREATE OR ALTER PROCEDURE duroxide.lock_inbox
    @instance_id NVARCHAR(400)
AS
UPDATE b
SET locked_until = b.locked_until
FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, ROWLOCK, INDEX (pk_inboxes))
WHERE b.instance_id = @instance_id
OPTION (KEEPFIXED PLAN);
IF @@ROWCOUNT = 0
    INSERT INTO duroxide.inboxes (instance_id)
    VALUES (@instance_id);
