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
-- Locks: inboxes.
-- Hints: READCOMMITTEDLOCK waits for an inbox that somebody is adding, also where writes
-- look at committed versions first (optimized locking): without it both would add it.
-- FORCESEEK locks the row by its key before its keys in the indexes, and ROWLOCK keeps to
-- rows.
CREATE OR ALTER PROCEDURE duroxide.lock_inbox
    @instance_id NVARCHAR(400)
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
-- vet:allow Q10: see above
UPDATE duroxide.inboxes WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK (pk_inboxes (instance_id)))
SET version_id = version_id
WHERE instance_id = @instance_id;
IF @@ROWCOUNT = 0
    -- vet:allow P1-atomic: in the caller's transaction
    INSERT INTO duroxide.inboxes (instance_id)
    VALUES (@instance_id);
