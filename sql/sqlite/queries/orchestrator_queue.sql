-- Adds a message. Then the caller refreshes the instance's inbox. If the caller has locked the
-- inbox instead (LockReceiver), the message has the lock's token and counts its first attempt.
--
-- name: EnqueueMessage :execlastid
INSERT INTO orchestrator_queue (instance_id, kind, code_id, work_item, visible_at, created_at, lock_token, attempt_count, unnamed_count)
VALUES (@instance_id, @kind, @code_id, @work_item, @visible_at, @created_at, @lock_token, @attempt_count, @unnamed_count);

-- Gives a turn every visible message of its instance, including messages that a dead
-- turn had: the lease on the instance keeps other turns away. A fetch that names its code forgets
-- the attempts of those that named none.
--
-- All kinds are named here and below because the index has the kind before the time.
-- So the query does not read future timers, of which an instance may have many.
--
-- name: LockMessages :many
UPDATE orchestrator_queue
SET
    lock_token = @lock_token,
    attempt_count = attempt_count + 1 - CASE WHEN CAST(@unnamed AS INTEGER) THEN 0 ELSE unnamed_count END,
    unnamed_count = CASE WHEN CAST(@unnamed AS INTEGER) THEN unnamed_count + 1 ELSE 0 END
WHERE instance_id = @instance_id
  AND kind IN (0, 1, 2, 3)
  AND visible_at <= @now
RETURNING id, kind, work_item, attempt_count;

-- Does what LockMessages does, with one seek for all kinds, for an instance that should have no hidden
-- messages: those would be read, too.
--
-- name: LockVisibleMessages :many
UPDATE orchestrator_queue
SET
    lock_token = @lock_token,
    attempt_count = attempt_count + 1 - CASE WHEN CAST(@unnamed AS INTEGER) THEN 0 ELSE unnamed_count END,
    unnamed_count = CASE WHEN CAST(@unnamed AS INTEGER) THEN unnamed_count + 1 ELSE 0 END
WHERE instance_id = @instance_id
  AND visible_at <= @now
RETURNING id, kind, work_item, attempt_count;

-- Does what LockMessages does, for a caller that knows the only message of the instance.
--
-- name: LockMessage :exec
UPDATE orchestrator_queue
SET
    lock_token = @lock_token,
    attempt_count = attempt_count + 1 - CASE WHEN CAST(@unnamed AS INTEGER) THEN 0 ELSE unnamed_count END,
    unnamed_count = CASE WHEN CAST(@unnamed AS INTEGER) THEN unnamed_count + 1 ELSE 0 END
WHERE id = @id;

-- Deletes the messages of a turn. They were visible when the turn locked them; messages
-- that came later have no token.
--
-- name: DeleteBatch :exec
DELETE FROM orchestrator_queue
WHERE instance_id = @instance_id
  AND kind IN (0, 1, 2, 3)
  AND visible_at <= @locked_at
  AND lock_token = @lock_token;

-- Puts the messages of an abandoned turn back. With a NULL visible_at each message keeps its
-- time, and with a NULL misfit its misfit. The attempt of a fetch that named no code is given back
-- in any case if a fetch has named the code since a time.
--
-- name: UnlockMessages :exec
UPDATE orchestrator_queue
SET
    lock_token = NULL,
    visible_at = coalesce(sqlc.narg(visible_at), visible_at),
    attempt_count = CASE
        WHEN CAST(@give_back AS INTEGER) THEN max(attempt_count - 1, 0)
        ELSE attempt_count - min(unnamed_count, CAST(@named AS INTEGER))
    END,
    unnamed_count = max(unnamed_count - CAST(@give_back AS INTEGER) - CAST(@named AS INTEGER), 0),
    misfit = coalesce(sqlc.narg(misfit), misfit),
    misfit_at = CASE WHEN sqlc.narg(misfit) IS NULL THEN misfit_at ELSE coalesce(misfit_at, CAST(@now AS INTEGER)) END
WHERE instance_id = @instance_id
  AND kind IN (0, 1, 2, 3)
  AND visible_at <= @locked_at
  AND lock_token = @lock_token;

-- Deletes the timers of an instance that has ended: hidden messages of kind 3.
--
-- name: DeleteTimers :exec
DELETE FROM orchestrator_queue
WHERE instance_id = @instance_id
  AND kind = 3
  AND visible_at > @now;

-- name: DeleteMessage :exec
DELETE FROM orchestrator_queue
WHERE id = @id;

-- Counts messages without a live lease, visible or not.
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

-- name: CountHiddenMessages :one
SELECT count(*)
FROM orchestrator_queue
WHERE visible_at > @now;

-- Lists the held instances (section 5.26), those held longest first. The oldest message with a
-- misfit stands for its instance.
--
-- name: ListHeld :many
SELECT
    q.instance_id,
    CAST(q.misfit AS TEXT) AS misfit,
    CAST(q.misfit_at AS INTEGER) AS misfit_at,
    q.visible_at
FROM orchestrator_queue AS q
WHERE q.misfit IS NOT NULL
  AND NOT EXISTS (
      SELECT 1
      FROM orchestrator_queue AS f
      WHERE f.instance_id = q.instance_id
        AND f.misfit IS NOT NULL
        AND f.id < q.id
  )
ORDER BY q.misfit_at, q.id;

-- Reads what ListHeld reads for one instance; no row if the instance is not held.
--
-- name: FindHeld :one
SELECT
    q.instance_id,
    CAST(q.misfit AS TEXT) AS misfit,
    CAST(q.misfit_at AS INTEGER) AS misfit_at,
    q.visible_at
FROM orchestrator_queue AS q
WHERE q.instance_id = @instance_id
  AND q.misfit IS NOT NULL
ORDER BY q.id
LIMIT 1;

-- Makes the messages of a held instance visible at once. Timers have no misfit and stay hidden.
--
-- name: ShowHeld :execrows
UPDATE orchestrator_queue
SET visible_at = min(visible_at, CAST(@now AS INTEGER))
WHERE instance_id = @instance_id
  AND misfit IS NOT NULL;

-- Counts messages for instances that never began: the id has no instance, no history and no
-- waiting start.
--
-- name: CountOrphans :one
SELECT
    count(DISTINCT q.instance_id) AS instances,
    count(*) AS messages
FROM orchestrator_queue AS q
WHERE q.kind IN (0, 3)
  AND q.visible_at <= @before
  AND NOT EXISTS (SELECT 1 FROM instances AS i WHERE i.instance_id = q.instance_id)
  AND NOT EXISTS (SELECT 1 FROM history AS h WHERE h.instance_id = q.instance_id)
  AND NOT EXISTS (SELECT 1 FROM orchestrator_queue AS s WHERE s.instance_id = q.instance_id AND s.kind IN (1, 2));

-- Lists up to 100 of the ids that CountOrphans counts, beginning after a given id.
--
-- name: ListOrphans :many
SELECT q.instance_id
FROM orchestrator_queue AS q
WHERE q.instance_id > @after
  AND q.kind IN (0, 3)
  AND q.visible_at <= @before
  AND NOT EXISTS (SELECT 1 FROM instances AS i WHERE i.instance_id = q.instance_id)
  AND NOT EXISTS (SELECT 1 FROM history AS h WHERE h.instance_id = q.instance_id)
  AND NOT EXISTS (SELECT 1 FROM orchestrator_queue AS s WHERE s.instance_id = q.instance_id AND s.kind IN (1, 2))
GROUP BY q.instance_id
ORDER BY q.instance_id
LIMIT 100;

-- Deletes the messages of an id that CountOrphans counts; none if the id was started meanwhile, or has
-- got a history.
--
-- name: DeleteOrphansOf :execrows
DELETE FROM orchestrator_queue
WHERE orchestrator_queue.instance_id = @instance_id
  AND orchestrator_queue.kind IN (0, 3)
  AND orchestrator_queue.visible_at <= @before
  AND NOT EXISTS (SELECT 1 FROM instances AS i WHERE i.instance_id = @instance_id)
  AND NOT EXISTS (SELECT 1 FROM history AS h WHERE h.instance_id = @instance_id)
  AND NOT EXISTS (SELECT 1 FROM orchestrator_queue AS s WHERE s.instance_id = @instance_id AND s.kind IN (1, 2));

-- name: DeleteMessagesOf :execrows
DELETE FROM orchestrator_queue
WHERE instance_id IN (SELECT j.value FROM json_each(CAST(@instances AS TEXT)) AS j);
