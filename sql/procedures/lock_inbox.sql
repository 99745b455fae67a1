-- Locks the inbox of an instance for the rest of the transaction, and adds it if it
-- is missing. Whoever adds or removes an instance's messages, or changes its current
-- execution, calls this first, in the order of instance ids if there are several. The
-- lock is a write, because not every server takes one for a hint (rule Q3).
--
-- Two callers that add the inbox of one instance at the same time: one of them fails
-- with 2627, and its whole call is safe to repeat. Locking the gap in the index instead
-- (HOLDLOCK) would make all new instances whose ids are neighbours wait for each
-- other, which happens all the time rather than once in a while.
--
-- Locks: inboxes, by the primary key.
-- Hints: INDEX finds the row by its key, whatever the statistics say. READCOMMITTEDLOCK waits
-- for a row that somebody is adding where updates look at the last version first (optimized
-- locking). ROWLOCK keeps the lock to the row.
CREATE OR ALTER PROCEDURE duroxide.lock_inbox
    @instance_id NVARCHAR(400)
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
-- vet:allow Q10: see above
UPDATE b
SET version_id = b.version_id
FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, ROWLOCK, INDEX (pk_inboxes))
WHERE b.instance_id = @instance_id;
IF @@ROWCOUNT = 0
    -- vet:allow P1-atomic: in the caller's transaction
    INSERT INTO duroxide.inboxes (instance_id)
    VALUES (@instance_id);
