-- Lists the instances that are held because their code does not fit their history, those held longest first, each as
-- get_held_instance reports it. It reads each message once, by the primary key alone, so it never keeps one locked
-- while it waits for another one of the same instance.
-- Called by: Store.ListHeldInstances.
-- Transaction: none.
-- Result sets:
--   1 Held: the instance, why and since when it is held, and when it is offered again
-- Locks: orchestrator_queue (read, by pk_orchestrator_queue).
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
