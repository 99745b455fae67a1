-- Gives a session to an owner, if the owner has it or nobody does (§5.10 step 7).
-- @claimed tells whether it did, and @fresh whether the owner did not have it before.
--
-- Locks: sessions.
-- Hints: UPDLOCK, HOLDLOCK keep two claims of a session that is not there yet apart
-- (rule Q10). Where hints are ignored one of them fails with 2627, and the whole call
-- is safe to repeat.
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
UPDATE duroxide.sessions
SET locked_until = @now + @session_ms, last_activity_at = @now
WHERE session_id = @session_id
  AND worker_id = @owner
  AND locked_until > @now;
SET @claimed = @@ROWCOUNT;
IF @claimed = 1
    RETURN;
SET @fresh = 1;
-- vet:allow Q3: a session's lease has an owner instead of a token
-- vet:allow P1-atomic: in the caller's transaction
UPDATE duroxide.sessions
SET worker_id = @owner, locked_until = @now + @session_ms, last_activity_at = @now
WHERE session_id = @session_id
  AND locked_until <= @now;
SET @claimed = @@ROWCOUNT;
IF @claimed = 0 AND NOT EXISTS (
    SELECT 1
    FROM duroxide.sessions AS s WITH (UPDLOCK, HOLDLOCK)
    WHERE s.session_id = @session_id
)
BEGIN
    -- vet:allow P1-atomic: in the caller's transaction
    INSERT INTO duroxide.sessions (session_id, worker_id, locked_until, last_activity_at)
    VALUES (@session_id, @owner, @now + @session_ms, @now);
    SET @claimed = 1;
END;
