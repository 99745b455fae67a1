-- Lists the instances that are held because their code does not fit their history, those
-- held longest first. The reason of each comes from its oldest message that has one.
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
-- Hints: INDEX reads the messages by the primary key alone. Each message is read once, so the query
--   never holds one message while it waits for another one of the same instance. KEEPFIXED PLAN
--   prevents a new plan when many rows have changed, see 0005_storage.sql.
CREATE OR ALTER PROCEDURE duroxide.list_held_instances
AS
SET NOCOUNT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
-- gen:result Held
SELECT h.instance_id, h.misfit, h.since, h.visible_at
FROM (
    SELECT q.instance_id, q.id, q.misfit, COALESCE(q.misfit_at, q.created_at) AS since, q.visible_at,
        ROW_NUMBER() OVER (PARTITION BY q.instance_id ORDER BY q.id) AS place
    FROM duroxide.orchestrator_queue AS q WITH (INDEX (pk_orchestrator_queue))
    WHERE q.misfit IS NOT NULL
) AS h
WHERE h.place = 1
ORDER BY h.since, h.id
OPTION (KEEPFIXED PLAN);
GO
GRANT EXECUTE ON duroxide.list_held_instances TO duroxide_reader;
