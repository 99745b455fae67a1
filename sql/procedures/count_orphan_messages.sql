-- Counts messages for instances that never began: there is neither an instance, nor a
-- history, nor a start that waits. Those count that have been visible for at least
-- @older_than_ms milliseconds.
--
-- Result sets:
--   1 Orphans: how many instance ids the messages name, and how many there are
CREATE OR ALTER PROCEDURE duroxide.count_orphan_messages
    @older_than_ms BIGINT
AS
SET NOCOUNT ON;
DECLARE @before BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) - @older_than_ms;
-- gen:result Orphans
SELECT COUNT_BIG(DISTINCT q.instance_id) AS instances, COUNT_BIG(*) AS messages
FROM duroxide.orchestrator_queue AS q
WHERE q.kind IN (0, 3)
  AND q.visible_at <= @before
  AND NOT EXISTS (SELECT 1 FROM duroxide.instances AS i WHERE i.instance_id = q.instance_id)
  AND NOT EXISTS (SELECT 1 FROM duroxide.history AS h WHERE h.instance_id = q.instance_id)
  AND NOT EXISTS (
      SELECT 1
      FROM duroxide.orchestrator_queue AS s
      WHERE s.instance_id = q.instance_id
        AND s.kind IN (1, 2)
  );
