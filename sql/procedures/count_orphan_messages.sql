-- Counts messages for instances that never began: there is no instance, no history, and no start that waits.
-- Called by: Store.CountOrphanMessages.
-- Transaction: none.
-- Parameters:
--   @older_than_ms  only messages that have been visible for so long
-- Result sets:
--   1 Orphans: how many instance ids the messages name, and how many messages there are
-- Locks: orchestrator_queue (shared, by ix_orchestrator_queue_kind alone), then instances and history (shared). A
--   single query would wait for an instance while it holds the lock of a message.
CREATE OR ALTER PROCEDURE duroxide.count_orphan_messages
    @older_than_ms BIGINT
AS
SET NOCOUNT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @before BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) - @older_than_ms;
DECLARE @named TABLE (instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY, messages BIGINT NOT NULL);
INSERT INTO @named (instance_id, messages)
SELECT q.instance_id, COUNT_BIG(CASE WHEN q.kind IN (0, 3, 4) AND q.visible_at <= @before THEN 1 END)
FROM duroxide.orchestrator_queue AS q WITH (INDEX (pk_orchestrator_queue))
GROUP BY q.instance_id
HAVING MIN(CASE WHEN q.kind IN (1, 2) THEN 0 ELSE 1 END) = 1
OPTION (KEEPFIXED PLAN);

-- gen:result Orphans
SELECT COUNT_BIG(*) AS instances, COALESCE(SUM(n.messages), 0) AS messages
FROM @named AS n
WHERE n.messages > 0
  AND NOT EXISTS (SELECT 1 FROM duroxide.instances AS i WITH (INDEX (pk_instances)) WHERE i.instance_id = n.instance_id)
  AND NOT EXISTS (SELECT 1 FROM duroxide.history AS h WITH (INDEX (pk_history)) WHERE h.instance_id = n.instance_id);
GO
GRANT EXECUTE ON duroxide.count_orphan_messages TO duroxide_reader;
