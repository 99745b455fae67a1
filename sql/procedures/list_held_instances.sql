-- Lists the instances that are held because their code does not fit their history (§5.26), those
-- held longest first. What is known is of the oldest of their messages that says so.
--
-- Called by: Store.ListHeldInstances.
-- Transaction: none.
--
-- Result sets:
--   1 Held: the instance, why and since when it is held, and when it is offered again
--
-- Locks: orchestrator_queue (shared, by pk_orchestrator_queue, while it reads; none under row
--   versioning).
--
-- Hints: INDEX and LOOP JOIN read the messages by the primary key alone, and seek an instance's
--   other ones. KEEPFIXED PLAN keeps the plan however many rows change: see
--   0005_storage_sqlserver.sql.
CREATE OR ALTER PROCEDURE duroxide.list_held_instances
AS
SET NOCOUNT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
-- gen:result Held
SELECT q.instance_id, q.misfit, COALESCE(q.misfit_at, q.created_at) AS since, q.visible_at
FROM duroxide.orchestrator_queue AS q WITH (INDEX (pk_orchestrator_queue))
WHERE q.misfit IS NOT NULL
  AND NOT EXISTS (
      SELECT 1
      FROM duroxide.orchestrator_queue AS f WITH (INDEX (pk_orchestrator_queue))
      WHERE f.instance_id = q.instance_id
        AND f.id < q.id
        AND f.misfit IS NOT NULL
  )
ORDER BY since, q.id
OPTION (LOOP JOIN, KEEPFIXED PLAN);
GO
GRANT EXECUTE ON duroxide.list_held_instances TO duroxide_reader;
