-- Refuses a session that is not under READ COMMITTED. Under SNAPSHOT a claim would
-- act on old versions and fail with 3960, under SERIALIZABLE it would lock ranges of
-- the queues (rule Q12). A pooled connection keeps the level that somebody else has
-- set, so every procedure that writes asks.
--
-- Errors:
--   50001 wrong_isolation_level: the session is not under READ COMMITTED; do not set
--         an isolation level on the connections that the store uses
CREATE OR ALTER PROCEDURE duroxide.require_read_committed
AS
SET NOCOUNT ON;
IF EXISTS (
    SELECT 1
    FROM sys.dm_exec_sessions AS s
    WHERE s.session_id = @@SPID
      AND s.transaction_isolation_level <> 2
)
    THROW 50001, N'The session is not under READ COMMITTED: do not set an isolation level on the connections that the store uses.', 1;
