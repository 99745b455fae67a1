-- Lists the code that ready work waits for and no worker has known since a time, or the instances that wait for it.
-- It reads all ready activities, so call it every minute rather than every second.
-- Called by: Store.UnknownCode, Store.WaitingForCode.
-- Transaction: none.
-- Parameters:
--   @unknown_ms   how long no worker has known the code
--   @instances    1 lists each instance that waits, 0 the code alone
--   @instance_id  only what this instance waits for; NULL for all
-- Result sets:
--   1 Codes: the code, the activities' tag, the instance or NULL, how many wait, since when the oldest has been ready,
--     and when a worker was last known to have the code, whatever its tags; both in milliseconds since 1970 UTC.
--     other_tags is 1 if live workers have the activity and take other tags
-- Locks: known_code, known_code_names (read), and those of function unknown_work.
-- gen:null @instance_id
CREATE OR ALTER PROCEDURE duroxide.list_unknown_code
    @unknown_ms  BIGINT,
    @instances   BIT,
    @instance_id NVARCHAR(400)
AS
SET NOCOUNT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
-- gen:result Codes
SELECT u.activity, u.name, u.version, u.tag, u.instance_id, u.waiting, u.ready_at, s.seen_at,
    CAST(CASE WHEN s.seen_at > @now - @unknown_ms THEN 1 ELSE 0 END AS BIT) AS other_tags
FROM (
    SELECT w.activity, w.code_id, w.name, w.version, w.tag, w.instance_id, COUNT_BIG(*) AS waiting, MIN(w.visible_at) AS ready_at
    FROM (
        SELECT a.activity, a.code_id, a.name, a.version, a.tag, a.visible_at, CASE WHEN @instances = 1 THEN a.instance_id END AS instance_id
        FROM duroxide.unknown_work(@now, @now - @unknown_ms) AS a
        WHERE @instance_id IS NULL OR a.instance_id = @instance_id
    ) AS w
    GROUP BY w.activity, w.code_id, w.name, w.version, w.tag, w.instance_id
) AS u
OUTER APPLY (
    SELECT MAX(k.seen_at) AS seen_at
    FROM duroxide.known_code_names AS kn WITH (INDEX (ix_known_code_names_code))
    INNER JOIN duroxide.known_code AS k ON k.id = kn.known_id
    WHERE kn.code_id = u.code_id AND k.activity = u.activity
) AS s;
GO
GRANT EXECUTE ON duroxide.list_unknown_code TO duroxide_reader;
