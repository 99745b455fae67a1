-- Finds the least code greater than @code for which an instance is ready: one seek. A
-- fetch that takes any code lists them with it. NULL is the end.
--
-- Hints: READPAST does not wait for instances that somebody is taking: with @patient = 1
-- it does, to see whether they are really taken. READCOMMITTEDLOCK makes it mean that
-- under row versioning too, and ROWLOCK keeps it to rows; INDEX is there for the reason
-- that fetch_orchestration_item gives.
-- KEEPFIXED PLAN keeps the plan however many rows change: see 0005_storage_sqlserver.sql.
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
    -- vet:allow Q1: a look that takes nothing
    FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_inboxes_ready))
    WHERE b.head_id IS NOT NULL
      AND b.code_id > @code
    OPTION (KEEPFIXED PLAN);
