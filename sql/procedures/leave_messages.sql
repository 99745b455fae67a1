-- Ends the queue messages of a turn whose fetch left them in the store: deletes those that
-- the turn has read, and lets the others wait as if it had not had them.
--
-- Helper of: ack_orchestration_item.
-- Transaction: the caller's, which has ended the lease of the instance and so locked its inbox.
--
-- Parameters:
--   @instance_id  the instance
--   @lock_token   the token of the turn
--   @queues       how many messages of each queue the turn has read
--
-- Locks: orchestrator_queue (the messages of the turn, by the primary key).
--
-- Hints: FORCESEEK, LOOP and LOOP JOIN seek each message by its queue and then by its key, however
--   many others wait. INDEX finds the messages of the turn by its token, which is safe, since whoever
--   writes messages holds the inbox. READCOMMITTEDLOCK takes the locks under optimized locking as well,
--   and ROWLOCK keeps them to rows. KEEPFIXED PLAN prevents a new plan when many rows have changed, see
--   0005_storage.sql.
--
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.leave_messages
    @instance_id NVARCHAR(400),
    @lock_token  UNIQUEIDENTIFIER,
    @queues      duroxide.queue_list_v1 READONLY
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
DECLARE @messages TABLE (id BIGINT NOT NULL PRIMARY KEY);
INSERT INTO @messages (id)
SELECT m.id
FROM @queues AS k
CROSS APPLY (
    SELECT TOP (k.messages) q.id
    FROM duroxide.orchestrator_queue AS q WITH (FORCESEEK (ix_orchestrator_queue_queue (instance_id, queue)))
    -- The second condition is the filter of the index. Whatever has the token is the turn's.
    WHERE q.instance_id = @instance_id
      AND q.queue = k.queue
      AND q.queue IS NOT NULL
    ORDER BY q.id
) AS m
OPTION (LOOP JOIN, KEEPFIXED PLAN);
-- vet:allow Q3: the caller has tested the lease and ended it
DELETE q
FROM @messages AS m
INNER LOOP JOIN duroxide.orchestrator_queue AS q WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_orchestrator_queue)) ON q.id = m.id
WHERE q.instance_id = @instance_id
  AND q.lock_token = @lock_token
OPTION (KEEPFIXED PLAN);
-- vet:allow Q3: the caller has tested the lease and ended it
UPDATE q
SET kind = 4, lock_token = NULL, attempt_count = 0, unnamed_count = 0, misfit = NULL, misfit_at = NULL
FROM duroxide.orchestrator_queue AS q WITH (ROWLOCK, INDEX (ix_orchestrator_queue_token))
WHERE q.instance_id = @instance_id
  AND q.lock_token = @lock_token
  AND q.lock_token IS NOT NULL
  AND q.queue IS NOT NULL
OPTION (KEEPFIXED PLAN);
