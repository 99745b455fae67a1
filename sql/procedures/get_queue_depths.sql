-- Counts what no live lease holds (§6.11). Future timers and other messages that are
-- still hidden count.
--
-- Result sets:
--   1 Depths: the two counts, and how many instances and activities have been ready for
--     @unknown_ms milliseconds and wait for code that nobody has known for as long
--
-- Hints: see function unknown_work.
CREATE OR ALTER PROCEDURE duroxide.get_queue_depths
    @unknown_ms BIGINT
AS
SET NOCOUNT ON;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
-- gen:result Depths
SELECT
    (
        SELECT COUNT_BIG(*)
        FROM duroxide.orchestrator_queue AS q
        WHERE q.lock_token IS NULL
           OR NOT EXISTS (
               SELECT 1
               FROM duroxide.inboxes AS b
               WHERE b.instance_id = q.instance_id
                 AND b.lock_token = q.lock_token
                 AND b.locked_until > @now
           )
    ) AS orchestrator_queue,
    (
        SELECT COUNT_BIG(*)
        FROM duroxide.worker_queue AS w
        WHERE w.lock_token IS NULL
           OR w.locked_until <= @now
    ) AS worker_queue,
    u.orchestrations AS unknown_orchestrations,
    u.activities AS unknown_activities
FROM (
    SELECT COUNT_BIG(CASE WHEN w.activity = 0 THEN 1 END) AS orchestrations, COUNT_BIG(CASE WHEN w.activity = 1 THEN 1 END) AS activities
    FROM duroxide.unknown_work(@now - @unknown_ms) AS w
) AS u;
