-- Lists which of the leases on activities are gone (§5.21): the activity was cancelled,
-- acknowledged or abandoned, or somebody else has it.
--
-- Result sets:
--   1 Lost: the places of their tokens in @tokens
--
-- Hints: LOOP and INDEX find each token by its key, whatever the plan was made for (rule Q9).
CREATE OR ALTER PROCEDURE duroxide.list_lost_work
    @tokens duroxide.token_list_v1 READONLY
AS
SET NOCOUNT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
-- gen:result Lost
SELECT t.position
FROM @tokens AS t
LEFT OUTER LOOP JOIN duroxide.worker_queue AS q WITH (INDEX (uq_worker_queue_token))
    ON q.lock_token = t.lock_token
   -- The filter of uq_worker_queue_token.
   AND q.lock_token IS NOT NULL
WHERE q.lock_token IS NULL
ORDER BY t.position;
