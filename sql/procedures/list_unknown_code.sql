-- Lists the code that work waits for and no worker has known since a time. It reads all ready
-- activities, so call it every minute rather than every second.
--
-- Called by: Store.UnknownCode.
-- Transaction: none.
--
-- Parameters:
--   @unknown_ms  how long the work has waited and no worker has known its code, in milliseconds
--
-- Result sets:
--   1 Codes: the code, how many wait for it, and since when the oldest has been ready, in milliseconds
--     since 1970 UTC
--
-- Locks: those of function unknown_work.
CREATE OR ALTER PROCEDURE duroxide.list_unknown_code
    @unknown_ms BIGINT
AS
SET NOCOUNT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
-- gen:result Codes
SELECT u.activity, u.name, u.version, COUNT_BIG(*) AS waiting, MIN(u.visible_at) AS ready_at
FROM duroxide.unknown_work(@now - @unknown_ms) AS u
GROUP BY u.activity, u.name, u.version
ORDER BY u.activity, u.name, u.version;
GO
GRANT EXECUTE ON duroxide.list_unknown_code TO duroxide_reader;
