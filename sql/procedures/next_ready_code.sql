-- Finds the next code for which an instance is ready, in the order of code_names.id: one seek. A
-- fetch that names no code lists them with it.
--
-- Helper of: fetch_orchestration_item.
-- Transaction: none. It is called before the one in which the instance is locked.
--
-- Parameters:
--   @patient  1 waits for instances that others are taking, to see whether they are really taken; 0
--             passes over them
--   @code     the code behind which to look, -1 for the first; returns the next, NULL for none
--
-- Locks: inboxes (by ix_inboxes_ready). Nothing stays locked.
--
-- Hints: READPAST passes over instances that others are writing, READCOMMITTEDLOCK takes locks under
--   row versioning as well, and ROWLOCK keeps to rows. INDEX seeks the code. A plan that was made
--   for an empty table would read all of it. KEEPFIXED PLAN prevents a new plan when many rows have
--   changed, see 0005_storage.sql.
--
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.next_ready_code
    @patient BIT,
    @code    INT OUTPUT
AS
SET NOCOUNT ON;
IF @patient = 1
    SELECT @code = MIN(b.code_id)
    FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, ROWLOCK, INDEX (ix_inboxes_ready))
    WHERE b.head_id IS NOT NULL
      AND b.code_id > @code
    OPTION (KEEPFIXED PLAN);
ELSE
    SELECT @code = MIN(b.code_id)
    -- vet:allow Q1: it only looks, and takes nothing
    FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_inboxes_ready))
    WHERE b.head_id IS NOT NULL
      AND b.code_id > @code
    OPTION (KEEPFIXED PLAN);
