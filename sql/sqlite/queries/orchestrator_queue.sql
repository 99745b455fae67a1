-- Adds a message. The caller refreshes the instance's inbox.
--
-- name: EnqueueMessage :exec
INSERT INTO orchestrator_queue (instance_id, kind, work_item, visible_at, created_at)
VALUES (@instance_id, @kind, @work_item, @visible_at, @created_at);

-- Gives the turn every visible message of its instance, those included that a
-- dead turn still had: the lease on the instance is what excludes others.
--
-- All kinds are named here and below because the index has the kind before the
-- time: so the instance's future timers, which may be many, are not read.
--
-- name: LockMessages :many
UPDATE orchestrator_queue
SET lock_token = @lock_token, attempt_count = attempt_count + 1
WHERE instance_id = @instance_id
  AND kind IN (0, 1, 2, 3)
  AND visible_at <= @now
RETURNING id, kind, work_item, attempt_count;

-- Ends the batch of a turn, which was visible when it was locked. Messages that
-- came later have no token.
--
-- name: DeleteBatch :exec
DELETE FROM orchestrator_queue
WHERE instance_id = @instance_id
  AND kind IN (0, 1, 2, 3)
  AND visible_at <= @locked_at
  AND lock_token = @lock_token;

-- Puts the batch of an abandoned turn back. Without a new time each message keeps
-- its own.
--
-- name: UnlockMessages :exec
UPDATE orchestrator_queue
SET
    lock_token = NULL,
    visible_at = coalesce(sqlc.narg(visible_at), visible_at),
    attempt_count = max(attempt_count - CAST(@give_back AS INTEGER), 0)
WHERE instance_id = @instance_id
  AND kind IN (0, 1, 2, 3)
  AND visible_at <= @locked_at
  AND lock_token = @lock_token;

-- name: DeleteMessage :exec
DELETE FROM orchestrator_queue
WHERE id = @id;

-- Messages that no live lease holds, visible or not.
--
-- name: CountFreeMessages :one
SELECT count(*)
FROM orchestrator_queue AS q
WHERE q.lock_token IS NULL
   OR NOT EXISTS (
       SELECT 1
       FROM inboxes AS b
       WHERE b.instance_id = q.instance_id
         AND b.lock_token = q.lock_token
         AND b.locked_until > @now
   );

-- name: DeleteMessagesOf :execrows
DELETE FROM orchestrator_queue
WHERE instance_id IN (SELECT j.value FROM json_each(CAST(@instances AS TEXT)) AS j);
