-- Notes that a session is in use, if its lease is live (§5.11, §5.12).
--
-- Locks: sessions.
-- Hints: FORCESEEK locks the row by its key before its keys in the indexes;
-- READCOMMITTEDLOCK makes row versions no exception, and ROWLOCK keeps to rows.
CREATE OR ALTER PROCEDURE duroxide.stamp_session
    @session_id NVARCHAR(400),
    @now        BIGINT
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
UPDATE duroxide.sessions WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK (pk_sessions (session_id)))
SET last_activity_at = @now
WHERE session_id = @session_id
  AND locked_until > @now;
