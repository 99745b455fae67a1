-- Counts messages and activities that no live lease holds. Future timers and other
-- hidden messages count.
--
-- Called by: Store.GetQueueDepths.
-- Transaction: none.
--
-- Parameters:
--   @unknown_ms  how long nobody must have known code, in milliseconds, to be counted as unknown
--
-- Result sets:
--   1 Depths: one row. How many messages and activities nobody holds, and how many instances and
--     activities wait for unknown code
--
-- Locks: orchestrator_queue (shared, by pk_orchestrator_queue), then inboxes (shared, by
--   pk_inboxes) and worker_queue (shared, by pk_worker_queue), and what function unknown_work
--   reads. A single query would wait for a lease while it holds the lock of a message, and the call
--   that ends the lease needs its messages next.
--
-- Hints: INDEX reads messages and activities by the primary key alone, without holding the key of
--   another index, and seeks each lease. LOOP JOIN seeks the inbox of each turn, even if the plan
--   was made for a small table. KEEPFIXED PLAN prevents a new plan when many rows have changed, see
--   0005_storage.sql.
CREATE OR ALTER PROCEDURE duroxide.get_queue_depths
    @unknown_ms BIGINT
AS
SET NOCOUNT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
DECLARE @leases TABLE (instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY, claimed_at BIGINT NOT NULL);
INSERT INTO @leases (instance_id, claimed_at)
SELECT b.instance_id, b.claimed_at
FROM duroxide.inboxes AS b WITH (INDEX (ix_inboxes_wake))
WHERE b.wake_at > @now
  AND b.wake_at IS NOT NULL
  AND b.lock_token IS NOT NULL
  AND b.locked_until > @now
OPTION (KEEPFIXED PLAN);

-- gen:result Depths
SELECT
    (
        SELECT COUNT_BIG(*)
        FROM duroxide.orchestrator_queue AS q WITH (INDEX (pk_orchestrator_queue))
        WHERE NOT EXISTS (SELECT 1 FROM @leases AS l WHERE l.instance_id = q.instance_id AND l.claimed_at >= q.visible_at)
    ) AS orchestrator_queue,
    (
        SELECT COUNT_BIG(*)
        FROM duroxide.worker_queue AS w WITH (INDEX (pk_worker_queue))
        WHERE w.lock_token IS NULL
           OR w.locked_until <= @now
    ) AS worker_queue,
    u.orchestrations AS unknown_orchestrations,
    u.activities AS unknown_activities
FROM (
    SELECT COUNT_BIG(CASE WHEN w.activity = 0 THEN 1 END) AS orchestrations, COUNT_BIG(CASE WHEN w.activity = 1 THEN 1 END) AS activities
    FROM duroxide.unknown_work(@now, @now - @unknown_ms) AS w
) AS u
OPTION (LOOP JOIN, KEEPFIXED PLAN);
GO
GRANT EXECUTE ON duroxide.get_queue_depths TO duroxide_reader;
