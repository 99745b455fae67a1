-- Gives a session to an owner, if the owner has it already or its lease has ended. A session that the owner does not
-- get is not kept locked. Of two owners that add the same session at the same time, one gets error 2627; its whole
-- call is safe to repeat.
-- Helper of: fetch_work_item.
-- Transaction: the caller's.
-- Parameters:
--   @session_id  the session
--   @owner       who claims it
--   @now         the present time, in milliseconds since 1970 UTC
--   @session_ms  how long the owner has it, in milliseconds
--   @claimed     1 if the owner has it now
--   @fresh       1 if the owner did not have it before
-- Locks: sessions (the session's row, by pk_sessions).
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.claim_session
    @session_id NVARCHAR(400),
    @owner      NVARCHAR(400),
    @now        BIGINT,
    @session_ms BIGINT,
    @claimed    BIT OUTPUT,
    @fresh      BIT OUTPUT
AS
SET @fresh = 0;
-- vet:allow Q3: a session's lease has an owner instead of a token
UPDATE s
SET locked_until = @now + @session_ms, last_activity_at = @now, claims = claims + 1
FROM duroxide.sessions AS s WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_sessions))
WHERE session_id = @session_id AND worker_id = @owner AND locked_until > @now
OPTION (KEEPFIXED PLAN);
SET @claimed = @@ROWCOUNT;
IF @claimed = 1
    RETURN;
SET @fresh = 1;
-- vet:allow Q3: a session's lease has an owner instead of a token
UPDATE s
SET worker_id = @owner, locked_until = @now + @session_ms, last_activity_at = @now, claims = claims + 1
FROM duroxide.sessions AS s WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_sessions))
WHERE session_id = @session_id AND locked_until <= @now
OPTION (KEEPFIXED PLAN);
SET @claimed = @@ROWCOUNT;
IF @claimed = 0 AND NOT EXISTS (
    SELECT 1
    -- vet:allow Q10: of two callers that add the row, one gets error 2627 and repeats its call
    FROM duroxide.sessions AS s WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK (pk_sessions (session_id)))
    WHERE s.session_id = @session_id
)
BEGIN
    INSERT INTO duroxide.sessions (session_id, worker_id, locked_until, last_activity_at, claims)
    VALUES (@session_id, @owner, @now + @session_ms, @now, 1);
    SET @claimed = 1;
END;
