-- Lists the instances that wait for the code that list_unknown_code lists, or only one of them. It
-- reads all ready activities.
--
-- Called by: Store.WaitingForCode.
-- Transaction: none.
--
-- Parameters:
--   @instance_id  the instance; NULL for all
--   @unknown_ms   how long no worker has known the code, in milliseconds
--
-- Result sets:
--   1 Waiting: the instance and what list_unknown_code says about its part of the work
--
-- Locks: known_code, known_code_names (shared, while it reads; none under row versioning), and those of
--   function unknown_work.
--
-- Hints: INDEX seeks the sets that have a name.
--
-- gen:null @instance_id
CREATE OR ALTER PROCEDURE duroxide.list_waiting_for_code
    @instance_id NVARCHAR(400),
    @unknown_ms  BIGINT
AS
SET NOCOUNT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
-- gen:result Waiting
SELECT u.activity, u.instance_id, u.name, u.version, u.tag, u.waiting, u.ready_at, s.seen_at,
    CAST(CASE WHEN s.seen_at > @now - @unknown_ms THEN 1 ELSE 0 END AS BIT) AS other_tags
FROM (
    SELECT w.activity, w.instance_id, w.code_id, w.name, w.version, w.tag, COUNT_BIG(*) AS waiting, MIN(w.visible_at) AS ready_at
    FROM duroxide.unknown_work(@now, @now - @unknown_ms) AS w
    WHERE @instance_id IS NULL
       OR w.instance_id = @instance_id
    GROUP BY w.activity, w.instance_id, w.code_id, w.name, w.version, w.tag
) AS u
OUTER APPLY (
    SELECT MAX(k.seen_at) AS seen_at
    FROM duroxide.known_code_names AS kn WITH (INDEX (ix_known_code_names_code))
    INNER JOIN duroxide.known_code AS k ON k.id = kn.known_id
    WHERE kn.code_id = u.code_id
      AND k.activity = u.activity
) AS s
ORDER BY u.ready_at, u.instance_id;
GO
GRANT EXECUTE ON duroxide.list_waiting_for_code TO duroxide_reader;
