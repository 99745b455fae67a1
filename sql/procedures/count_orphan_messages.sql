-- Counts messages for instances that never began: there is neither an instance, nor a
-- history, nor a start that waits. Those count that have been visible for at least
-- @older_than_ms milliseconds.
--
-- Parameters:
--   @older_than_ms  in milliseconds
--
-- Result sets:
--   1 Orphans: how many instance ids the messages name, and how many there are
--
-- Locks: the messages are counted first, by an index alone, and then the instances that they
-- name are looked at: in one query the count would wait for an instance with a message locked.
-- Hints: INDEX reads the messages by that index, and finds the others by seeks, whatever the
-- statistics say (rule Q9).
CREATE OR ALTER PROCEDURE duroxide.count_orphan_messages
    @older_than_ms BIGINT
AS
SET NOCOUNT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @before BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) - @older_than_ms;
DECLARE @named TABLE (instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY, messages BIGINT NOT NULL);
INSERT INTO @named (instance_id, messages)
SELECT q.instance_id, COUNT_BIG(CASE WHEN q.kind IN (0, 3) AND q.visible_at <= @before THEN 1 END)
FROM duroxide.orchestrator_queue AS q WITH (INDEX (ix_orchestrator_queue_kind))
GROUP BY q.instance_id
HAVING MIN(CASE WHEN q.kind IN (1, 2) THEN 0 ELSE 1 END) = 1;

-- gen:result Orphans
SELECT COUNT_BIG(*) AS instances, COALESCE(SUM(n.messages), 0) AS messages
FROM @named AS n
WHERE n.messages > 0
  AND NOT EXISTS (SELECT 1 FROM duroxide.instances AS i WITH (INDEX (pk_instances)) WHERE i.instance_id = n.instance_id)
  AND NOT EXISTS (SELECT 1 FROM duroxide.history AS h WITH (INDEX (pk_history)) WHERE h.instance_id = n.instance_id);
