-- Adds a message. Then the caller refreshes the instance's inbox.
--
-- name: EnqueueMessage :execlastid
INSERT INTO orchestrator_queue (instance_id, kind, queue, code_id, work_item, payload_id, visible_at, created_at)
VALUES (@instance_id, @kind, @queue, @code_id, @work_item, @payload_id, @visible_at, @created_at);

-- Whether a new queue message waits without making its instance fetchable (kind 4): behind an
-- older one of its queue, or because a message of another queue makes the instance fetchable.
--
-- name: MessageWaits :one
SELECT EXISTS (
    SELECT 1
    FROM orchestrator_queue AS q
    WHERE q.instance_id = @instance_id
      AND q.queue = CAST(@queue AS TEXT)
    UNION ALL
    SELECT 1
    FROM orchestrator_queue AS q
    WHERE q.instance_id = @instance_id
      AND q.kind = 0
      AND q.visible_at <= @now
) AS waits;

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
RETURNING id, kind, queue, work_item, payload_id, attempt_count;

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
  AND kind <= 3
  AND visible_at <= @now
RETURNING id, kind, queue, work_item, payload_id, attempt_count;

-- Lists the oldest messages of a queue, at most 100. LockMessages has locked the instance, and
-- that is enough: nobody else reads or deletes its messages.
--
-- name: PeekQueue :many
SELECT id, kind, queue, work_item, payload_id, visible_at
FROM orchestrator_queue
WHERE instance_id = @instance_id
  AND queue = CAST(@queue AS TEXT)
ORDER BY id
LIMIT 100;

-- Lists the oldest message of each queue, for at most 10 queues.
--
-- name: PeekQueues :many
WITH RECURSIVE queues AS (
    SELECT (
        SELECT min(q.queue)
        FROM orchestrator_queue AS q
        WHERE q.instance_id = @instance_id
          AND q.queue IS NOT NULL
    ) AS queue
    UNION ALL
    SELECT (
        SELECT min(q.queue)
        FROM orchestrator_queue AS q
        WHERE q.instance_id = @instance_id
          AND q.queue > p.queue
    ) AS queue
    FROM queues AS p
    WHERE p.queue IS NOT NULL
    LIMIT 10
)
SELECT m.id, m.kind, m.queue, m.work_item, m.payload_id, m.visible_at
FROM queues AS p
JOIN orchestrator_queue AS m ON m.id = (
    SELECT min(q.id)
    FROM orchestrator_queue AS q
    WHERE q.instance_id = @instance_id
      AND q.queue = p.queue
);

-- Deletes the oldest messages of a queue.
--
-- name: DeleteRead :exec
DELETE FROM orchestrator_queue
WHERE orchestrator_queue.id IN (
    SELECT q.id
    FROM orchestrator_queue AS q
    WHERE q.instance_id = @instance_id
      AND q.queue = CAST(@queue AS TEXT)
    ORDER BY q.id
    LIMIT @messages
);

-- Lets the queue messages that a turn had and did not read wait.
--
-- name: ParkMessages :exec
UPDATE orchestrator_queue
SET kind = 4, lock_token = NULL, attempt_count = 0, unnamed_count = 0, misfit = NULL, misfit_at = NULL
WHERE instance_id = @instance_id
  AND kind = 0
  AND visible_at <= @locked_at
  AND lock_token = @lock_token;

-- Makes the oldest message of a queue one that makes its instance fetchable.
--
-- name: AwaitQueue :execrows
UPDATE orchestrator_queue
SET kind = 0
WHERE orchestrator_queue.id = (
    SELECT min(q.id)
    FROM orchestrator_queue AS q
    WHERE q.instance_id = @instance_id
      AND q.queue = CAST(@queue AS TEXT)
)
  AND orchestrator_queue.kind = 4;

-- Makes all visible queue messages of an instance ones that make it fetchable, for a turn that
-- takes all of them.
--
-- name: TakeWaiting :exec
UPDATE orchestrator_queue
SET kind = 0
WHERE instance_id = @instance_id
  AND kind = 4
  AND visible_at <= @now;

-- Does what AwaitQueue does, for all queues of an instance.
--
-- name: AwaitQueues :execrows
UPDATE orchestrator_queue
SET kind = 0
WHERE orchestrator_queue.instance_id = @instance_id
  AND orchestrator_queue.kind = 4
  AND NOT EXISTS (
      SELECT 1
      FROM orchestrator_queue AS q
      WHERE q.instance_id = orchestrator_queue.instance_id
        AND q.queue = orchestrator_queue.queue
        AND q.id < orchestrator_queue.id
  );

-- Deletes the visible queue messages of an id that nobody has started.
--
-- name: DeleteQueueMessages :execrows
DELETE FROM orchestrator_queue
WHERE instance_id = @instance_id
  AND kind IN (0, 4)
  AND visible_at <= @now;

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
-- time, and with a NULL misfit its misfit. give_back takes an attempt back, and unnamed_back only
-- that of a fetch that named no code.
--
-- name: UnlockMessages :exec
UPDATE orchestrator_queue
SET
    lock_token = NULL,
    visible_at = coalesce(sqlc.narg(visible_at), visible_at),
    attempt_count = max(attempt_count - max(CAST(@give_back AS INTEGER), min(CAST(@unnamed_back AS INTEGER), unnamed_count)), 0),
    unnamed_count = max(unnamed_count - CAST(@unnamed_back AS INTEGER), 0),
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
WHERE q.kind IN (0, 3, 4)
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
  AND q.kind IN (0, 3, 4)
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
  AND orchestrator_queue.kind IN (0, 3, 4)
  AND orchestrator_queue.visible_at <= @before
  AND NOT EXISTS (SELECT 1 FROM instances AS i WHERE i.instance_id = @instance_id)
  AND NOT EXISTS (SELECT 1 FROM history AS h WHERE h.instance_id = @instance_id)
  AND NOT EXISTS (SELECT 1 FROM orchestrator_queue AS s WHERE s.instance_id = @instance_id AND s.kind IN (1, 2));

-- name: DeleteMessagesOf :execrows
DELETE FROM orchestrator_queue
WHERE instance_id IN (SELECT j.value FROM json_each(CAST(@instances AS TEXT)) AS j);
