-- Lists the instances that are held because their code does not fit their history, those held longest first. The
-- reason of each comes from its oldest message that has one.
-- Called by: Store.ListHeldInstances.
-- Transaction: none.
-- Result sets:
--   1 Held: the instance, why and since when it is held, and when it is offered again
-- Locks: orchestrator_queue (read, by ix_orchestrator_queue_held alone, and then the messages by
--   pk_orchestrator_queue).
CREATE OR ALTER PROCEDURE duroxide.list_held_instances
AS
SET NOCOUNT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @first TABLE (instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY, id BIGINT NOT NULL);
INSERT INTO @first (instance_id, id)
SELECT q.instance_id, MIN(q.id)
FROM duroxide.orchestrator_queue AS q WITH (INDEX (ix_orchestrator_queue_held))
WHERE q.misfit_at IS NOT NULL
GROUP BY q.instance_id
OPTION (KEEPFIXED PLAN);

-- gen:result Held
SELECT q.instance_id, q.misfit, COALESCE(q.misfit_at, q.created_at) AS since, q.visible_at
FROM @first AS f
INNER LOOP JOIN duroxide.orchestrator_queue AS q WITH (FORCESEEK (pk_orchestrator_queue (instance_id))) ON q.instance_id = f.instance_id AND q.id = f.id
WHERE q.misfit IS NOT NULL
ORDER BY COALESCE(q.misfit_at, q.created_at), q.id
OPTION (KEEPFIXED PLAN);
GO
GRANT EXECUTE ON duroxide.list_held_instances TO duroxide_reader;
