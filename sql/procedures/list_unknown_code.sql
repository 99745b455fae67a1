-- Lists the code that work has waited for since @unknown_ms milliseconds or longer
-- without any worker that knows it. It reads all ready activities: call it every minute,
-- not every second.
--
-- Result sets:
--   1 Codes: the code, how many wait for it, and since when the oldest has been ready
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
