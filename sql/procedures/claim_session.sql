-- Gives a session to an owner, if the owner has it or nobody does (§5.10 step 7).
-- @claimed tells whether it did, and @fresh whether the owner did not have it before.
-- What it does not get it does not keep locked.
--
-- Two owners that claim a session which is not there yet: one of them fails with 2627,
-- and its whole call is safe to repeat.
--
-- Locks: sessions.
-- Hints: READCOMMITTEDLOCK waits for a claim that has not been committed, also where
-- versions of rows are read or writes look at them first (optimized locking): it may be
-- this very owner's. FORCESEEK locks the row by its key before its keys in the indexes,
-- and ROWLOCK keeps to rows.
-- KEEPFIXED PLAN keeps the plan however many rows change: see 0005_storage_sqlserver.sql.
CREATE OR ALTER PROCEDURE duroxide.claim_session
    @session_id NVARCHAR(400),
    @owner      NVARCHAR(400),
    @now        BIGINT,
    @session_ms BIGINT,
    @claimed    BIT OUTPUT,
    @fresh      BIT OUTPUT
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
SET @fresh = 0;
-- vet:allow Q3: a session's lease has an owner instead of a token
UPDATE s
SET locked_until = @now + @session_ms, last_activity_at = @now, claims = claims + 1
FROM duroxide.sessions AS s WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK (pk_sessions (session_id)))
WHERE session_id = @session_id
  AND worker_id = @owner
  AND locked_until > @now
OPTION (KEEPFIXED PLAN);
SET @claimed = @@ROWCOUNT;
IF @claimed = 1
    RETURN;
SET @fresh = 1;
-- vet:allow Q3: a session's lease has an owner instead of a token
-- vet:allow P1-atomic: in the caller's transaction
UPDATE s
SET worker_id = @owner, locked_until = @now + @session_ms, last_activity_at = @now, claims = claims + 1
FROM duroxide.sessions AS s WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK (pk_sessions (session_id)))
WHERE session_id = @session_id
  AND locked_until <= @now
OPTION (KEEPFIXED PLAN);
SET @claimed = @@ROWCOUNT;
IF @claimed = 0 AND NOT EXISTS (
    SELECT 1
    -- vet:allow Q10: see above
    FROM duroxide.sessions AS s WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK (pk_sessions (session_id)))
    WHERE s.session_id = @session_id
)
BEGIN
    -- vet:allow P1-atomic: in the caller's transaction
    INSERT INTO duroxide.sessions (session_id, worker_id, locked_until, last_activity_at, claims)
    VALUES (@session_id, @owner, @now + @session_ms, @now, 1);
    SET @claimed = 1;
END;
