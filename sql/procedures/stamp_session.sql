-- Records that a session is in use, if its lease is live.
-- Helper of: renew_work_item_lock.
-- Transaction: the caller's.
-- Parameters:
--   @session_id  the session
--   @now         the present time, in milliseconds since 1970 UTC
-- Locks: sessions (the session's row, by pk_sessions).
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.stamp_session
    @session_id NVARCHAR(400),
    @now        BIGINT
AS
UPDATE s
SET last_activity_at = @now
FROM duroxide.sessions AS s WITH (ROWLOCK, INDEX (pk_sessions))
WHERE s.session_id = @session_id AND s.locked_until > @now
OPTION (KEEPFIXED PLAN);
