-- Notes that a session is in use, if its lease is live (§5.11, §5.12).
--
-- Locks: sessions, by the primary key.
-- Hints: ROWLOCK, INDEX: see ack_work_item, which calls this.
CREATE OR ALTER PROCEDURE duroxide.stamp_session
    @session_id NVARCHAR(400),
    @now        BIGINT
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
UPDATE s
SET last_activity_at = @now
FROM duroxide.sessions AS s WITH (ROWLOCK, INDEX (pk_sessions))
WHERE s.session_id = @session_id
  AND s.locked_until > @now;
