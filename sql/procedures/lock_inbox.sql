-- Locks the inbox of an instance for the rest of the transaction, and adds it if it
-- is missing. Whoever adds or removes an instance's messages, or changes its current
-- execution, calls this first, in the order of instance ids if there are several. The
-- lock is a write, because not every server takes one for a hint (rule Q3).
--
-- Locks: inboxes.
-- Hints: UPDLOCK, HOLDLOCK keep a second caller waiting between the test and the
-- insert (rule Q10). Where hints are ignored one of the two fails with 2627, and the
-- whole call is safe to repeat.
CREATE OR ALTER PROCEDURE duroxide.lock_inbox
    @instance_id NVARCHAR(400)
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
UPDATE duroxide.inboxes WITH (UPDLOCK, HOLDLOCK)
SET ready_at = ready_at
WHERE instance_id = @instance_id;
IF @@ROWCOUNT = 0
    -- vet:allow P1-atomic: in the caller's transaction
    INSERT INTO duroxide.inboxes (instance_id)
    VALUES (@instance_id);
