-- Notes that a session is in use, if its lease is live (§5.11, §5.12).
--
-- Locks: sessions.
CREATE OR ALTER PROCEDURE duroxide.stamp_session
    @session_id NVARCHAR(400),
    @now        BIGINT
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
UPDATE duroxide.sessions
SET last_activity_at = @now
WHERE session_id = @session_id
  AND locked_until > @now;
