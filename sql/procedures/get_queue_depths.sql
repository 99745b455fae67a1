-- Counts what no live lease holds (§6.11). Future timers and other messages that are
-- still hidden count.
--
-- Result sets:
--   1 Depths: the two counts
CREATE OR ALTER PROCEDURE duroxide.get_queue_depths
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
    ) AS worker_queue;
