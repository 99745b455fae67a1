-- Lists which leases on activities are gone: the activity was cancelled, acknowledged or given up, or another worker
-- has it.
-- Called by: Store.LostWorkItems.
-- Transaction: none.
-- Parameters:
--   @tokens  the leases
-- Result sets:
--   1 Lost: the positions in @tokens of those that are gone
-- Locks: worker_queue (read, by pk_worker_queue).
CREATE OR ALTER PROCEDURE duroxide.list_lost_work
    @tokens duroxide.token_list_v1 READONLY
AS
SET NOCOUNT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
-- gen:result Lost
SELECT t.position
FROM @tokens AS t
LEFT OUTER LOOP JOIN duroxide.worker_queue AS q WITH (INDEX (pk_worker_queue)) ON q.id = t.id AND q.lock_token = t.lock_token
WHERE q.id IS NULL
ORDER BY t.position
OPTION (KEEPFIXED PLAN);
GO
GRANT EXECUTE ON duroxide.list_lost_work TO duroxide_runtime;
