-- Counts messages and activities that no live lease holds. Future timers and other hidden messages count. The rows of
-- the queues are counted by the server; those that live leases hold are read and taken off, messages after the
-- inboxes: a query of both would wait for a message while it holds the inbox.
-- Called by: Store.GetQueueDepths.
-- Transaction: none.
-- Parameters:
--   @unknown_ms  how long nobody must have known code, in milliseconds, to be counted as unknown
-- Result sets:
--   1 Depths: one row. How many messages and activities nobody holds, and how many instances and activities wait for
--     unknown code
-- Locks: inboxes, orchestrator_queue, worker_queue (read), and what function unknown_work reads.
CREATE OR ALTER PROCEDURE duroxide.get_queue_depths
    @unknown_ms BIGINT
AS
SET NOCOUNT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()), @messages BIGINT, @leased BIGINT, @work BIGINT, @held BIGINT;
DECLARE @leases TABLE (instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY, claimed_at BIGINT NOT NULL, claimed_to BIGINT NOT NULL);
SELECT @messages = SUM(CASE i.name WHEN N'pk_orchestrator_queue' THEN p.rows ELSE 0 END),
    @work = SUM(CASE i.name WHEN N'pk_worker_queue' THEN p.rows ELSE 0 END)
FROM sys.indexes AS i
INNER JOIN sys.partitions AS p ON p.object_id = i.object_id AND p.index_id = i.index_id
WHERE i.name IN (N'pk_orchestrator_queue', N'pk_worker_queue')
  AND OBJECT_SCHEMA_NAME(i.object_id) = OBJECT_SCHEMA_NAME(@@PROCID);
INSERT INTO @leases (instance_id, claimed_at, claimed_to)
SELECT b.instance_id, b.claimed_at, b.claimed_to
FROM duroxide.inboxes AS b WITH (INDEX (ix_inboxes_wake))
WHERE b.wake_at > @now AND b.wake_at IS NOT NULL AND b.lock_token IS NOT NULL AND b.head_id IS NULL
OPTION (KEEPFIXED PLAN);
SELECT @leased = COUNT_BIG(*)
FROM @leases AS l
CROSS JOIN (VALUES (CAST(0 AS TINYINT)), (CAST(1 AS TINYINT)), (CAST(2 AS TINYINT)), (CAST(3 AS TINYINT)), (CAST(4 AS TINYINT))) AS k (kind)
INNER LOOP JOIN duroxide.orchestrator_queue AS q WITH (FORCESEEK (pk_orchestrator_queue (instance_id, kind, visible_at)))
    ON q.instance_id = l.instance_id AND q.kind = k.kind AND q.visible_at <= l.claimed_at AND q.id <= l.claimed_to
OPTION (KEEPFIXED PLAN);
SELECT @held = COUNT_BIG(*)
FROM duroxide.worker_queue AS w WITH (INDEX (ix_worker_queue_wake))
WHERE w.ready = 0 AND w.wake_at > @now AND w.lock_token IS NOT NULL
OPTION (KEEPFIXED PLAN);

-- gen:result Depths
SELECT
    COALESCE(CASE WHEN @messages > @leased THEN @messages - @leased END, 0) AS orchestrator_queue,
    COALESCE(CASE WHEN @work > @held THEN @work - @held END, 0) AS worker_queue,
    u.orchestrations AS unknown_orchestrations,
    u.activities AS unknown_activities
FROM (
    SELECT COUNT_BIG(CASE WHEN w.activity = 0 THEN 1 END) AS orchestrations, COUNT_BIG(CASE WHEN w.activity = 1 THEN 1 END) AS activities
    FROM duroxide.unknown_work(@now, @now - @unknown_ms) AS w
) AS u
OPTION (LOOP JOIN, KEEPFIXED PLAN);
GO
GRANT EXECUTE ON duroxide.get_queue_depths TO duroxide_scaler;
