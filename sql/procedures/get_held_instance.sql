-- Reports why an instance is held because its code does not fit its history. The reason comes from the oldest message
-- that has one.
-- Called by: Store.GetHeldInstance.
-- Transaction: none.
-- Result sets:
--   1 Held: no row, or why and since when it is held, and when it is offered again
-- Locks: orchestrator_queue (read, by pk_orchestrator_queue).
CREATE OR ALTER PROCEDURE duroxide.get_held_instance
    @instance_id NVARCHAR(400)
AS
SET NOCOUNT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
-- gen:result Held
SELECT TOP (1) q.misfit, COALESCE(q.misfit_at, q.created_at) AS since, q.visible_at
FROM duroxide.orchestrator_queue AS q WITH (INDEX (pk_orchestrator_queue))
WHERE q.instance_id = @instance_id AND q.misfit IS NOT NULL
ORDER BY q.id
OPTION (KEEPFIXED PLAN);
GO
GRANT EXECUTE ON duroxide.get_held_instance TO duroxide_reader;
