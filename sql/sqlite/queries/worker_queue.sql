-- Adds an activity: ready, or locked for the first time by the call that adds it.
--
-- name: EnqueueWork :execlastid
INSERT INTO worker_queue (
    instance_id, execution_id, activity_id, session_id, tag, code_id, work_item, visible_at, created_at,
    ready, lock_token, locked_until, attempt_count
)
VALUES (
    @instance_id, @execution_id, @activity_id, @session_id, @tag, @code_id, @work_item, @now, @now,
    @ready, @lock_token, @locked_until, @attempt_count
);

-- Makes activities fetchable whose delay or lease has ended: those that have
-- waited longest, if there are many. The lease's token stays until the next fetch:
-- an abandon may still present it. As for the limit, see ResetDueInboxes.
--
-- name: ReadyDueWork :execrows
UPDATE worker_queue
SET ready = 1
WHERE worker_queue.id IN (
    SELECT q.id
    FROM worker_queue AS q
    WHERE q.ready = 0
      AND coalesce(q.locked_until, q.visible_at) <= @now
    ORDER BY coalesce(q.locked_until, q.visible_at)
    LIMIT 256
);

-- The oldest activity without a session that has the tag and code of the set, 0 for
-- none; a NULL tag is the tag of untagged ones. It leaps from code to code as
-- NextInstance does.
--
-- name: NextPlainWork :one
WITH RECURSIVE codes AS (
    SELECT (
        SELECT min(k.code_id)
        FROM known_code_names AS k
        WHERE k.known_id = @known_id
          AND k.code_id >= (
              SELECT min(q.code_id)
              FROM worker_queue AS q
              WHERE q.ready = 1
                AND q.session_id IS NULL
                AND q.tag IS sqlc.narg(tag)
          )
    ) AS code_id
    UNION ALL
    SELECT (
        SELECT min(k.code_id)
        FROM known_code_names AS k
        WHERE k.known_id = @known_id
          AND k.code_id >= (
              SELECT min(q.code_id)
              FROM worker_queue AS q
              WHERE q.ready = 1
                AND q.session_id IS NULL
                AND q.tag IS sqlc.narg(tag)
                AND q.code_id > c.code_id
          )
    ) AS code_id
    FROM codes AS c
    WHERE c.code_id IS NOT NULL
)
SELECT CAST(coalesce(min((
    SELECT min(q.id)
    FROM worker_queue AS q
    WHERE q.ready = 1
      AND q.session_id IS NULL
      AND q.tag IS sqlc.narg(tag)
      AND q.code_id = c.code_id
)), 0) AS INTEGER) AS id
FROM codes AS c;

-- The code of the set that activities of sessions with the tag wait for, for
-- NextSessionWork. Now and then there is some for which nothing waits.
--
-- name: SessionWorkCodes :many
WITH RECURSIVE codes AS (
    SELECT (
        SELECT min(k.code_id)
        FROM known_code_names AS k
        WHERE k.known_id = @known_id
          AND k.code_id >= (
              SELECT min(q.code_id)
              FROM worker_queue AS q
              WHERE q.ready = 1
                AND q.session_id IS NOT NULL
                AND q.tag IS sqlc.narg(tag)
          )
    ) AS code_id
    UNION ALL
    SELECT (
        SELECT min(k.code_id)
        FROM known_code_names AS k
        WHERE k.known_id = @known_id
          AND k.code_id >= (
              SELECT min(q.code_id)
              FROM worker_queue AS q
              WHERE q.ready = 1
                AND q.session_id IS NOT NULL
                AND q.tag IS sqlc.narg(tag)
                AND q.code_id > c.code_id
          )
    ) AS code_id
    FROM codes AS c
    WHERE c.code_id IS NOT NULL
)
SELECT CAST(c.code_id AS INTEGER) AS code_id
FROM codes AS c
WHERE c.code_id IS NOT NULL;

-- The oldest ready activity per code of a tag, without a session and in one: two seeks
-- for each. A NULL tag is the tag of untagged ones.
--
-- name: ListWorkHeads :many
WITH RECURSIVE plain AS (
    SELECT (
        SELECT min(q.code_id)
        FROM worker_queue AS q
        WHERE q.ready = 1
          AND q.session_id IS NULL
          AND q.tag IS sqlc.narg(tag)
    ) AS code_id
    UNION ALL
    SELECT (
        SELECT min(q.code_id)
        FROM worker_queue AS q
        WHERE q.ready = 1
          AND q.session_id IS NULL
          AND q.tag IS sqlc.narg(tag)
          AND q.code_id > p.code_id
    ) AS code_id
    FROM plain AS p
    WHERE p.code_id IS NOT NULL
), bound AS (
    SELECT (
        SELECT min(q.code_id)
        FROM worker_queue AS q
        WHERE q.ready = 1
          AND q.session_id IS NOT NULL
          AND q.tag IS sqlc.narg(tag)
    ) AS code_id
    UNION ALL
    SELECT (
        SELECT min(q.code_id)
        FROM worker_queue AS q
        WHERE q.ready = 1
          AND q.session_id IS NOT NULL
          AND q.tag IS sqlc.narg(tag)
          AND q.code_id > b.code_id
    ) AS code_id
    FROM bound AS b
    WHERE b.code_id IS NOT NULL
)
SELECT
    CAST(0 AS INTEGER) AS in_session,
    CAST(p.code_id AS INTEGER) AS code_id,
    CAST((
        SELECT min(q.id)
        FROM worker_queue AS q
        WHERE q.ready = 1
          AND q.session_id IS NULL
          AND q.tag IS sqlc.narg(tag)
          AND q.code_id = p.code_id
    ) AS INTEGER) AS id
FROM plain AS p
WHERE p.code_id IS NOT NULL
UNION ALL
SELECT
    CAST(1 AS INTEGER) AS in_session,
    CAST(b.code_id AS INTEGER) AS code_id,
    CAST((
        SELECT min(q.id)
        FROM worker_queue AS q
        WHERE q.ready = 1
          AND q.session_id IS NOT NULL
          AND q.tag IS sqlc.narg(tag)
          AND q.code_id = b.code_id
    ) AS INTEGER) AS id
FROM bound AS b
WHERE b.code_id IS NOT NULL;

-- The oldest activity of a tag and code without a session, and the next after it.
--
-- name: OldestPlainWork :many
SELECT q.id
FROM worker_queue AS q
WHERE q.ready = 1
  AND q.session_id IS NULL
  AND q.tag IS sqlc.narg(tag)
  AND q.code_id = @code_id
ORDER BY q.id
LIMIT 2;

-- The oldest activity of a tag and code in a session, and the oldest of those in a session
-- that the owner has or may claim; 0 for none. Usually the second is among the first few,
-- which are looked at one by one. If those all belong to sessions of others, of which one
-- may have a very long queue, each session is looked at once instead.
--
-- name: NextSessionWork :one
WITH RECURSIVE queued AS (
    SELECT min(q.session_id) AS session_id
    FROM worker_queue AS q
    WHERE q.session_id IS NOT NULL
    UNION ALL
    SELECT (
        SELECT min(q.session_id)
        FROM worker_queue AS q
        WHERE q.session_id > p.session_id
    ) AS session_id
    FROM queued AS p
    WHERE p.session_id IS NOT NULL
)
SELECT CAST(coalesce((
    SELECT min(q.id)
    FROM worker_queue AS q
    WHERE q.ready = 1
      AND q.session_id IS NOT NULL
      AND q.tag IS sqlc.narg(tag)
      AND q.code_id = @code_id
), 0) AS INTEGER) AS oldest, CAST(coalesce(
    (
        SELECT n.id
        FROM (
            SELECT q.id, q.session_id
            FROM worker_queue AS q
            WHERE q.ready = 1
              AND q.session_id IS NOT NULL
              AND q.tag IS sqlc.narg(tag)
              AND q.code_id = @code_id
            ORDER BY q.id
            LIMIT 20
        ) AS n
        WHERE NOT EXISTS (
            SELECT 1
            FROM sessions AS s
            WHERE s.session_id = n.session_id
              AND s.locked_until > @now
              AND s.worker_id <> @owner
        )
        ORDER BY n.id
        LIMIT 1
    ),
    (
        SELECT min((
            SELECT min(q.id)
            FROM worker_queue AS q
            WHERE q.session_id = c.session_id
              AND q.ready = 1
              AND q.tag IS sqlc.narg(tag)
              AND q.code_id = @code_id
        ))
        FROM queued AS c
        WHERE c.session_id IS NOT NULL
          AND NOT EXISTS (
              SELECT 1
              FROM sessions AS s
              WHERE s.session_id = c.session_id
                AND s.locked_until > @now
                AND s.worker_id <> @owner
          )
    ),
    0
) AS INTEGER) AS id;

-- The tags that ready activities have, for a worker that takes any; one seek per
-- tag.
--
-- name: ReadyTags :many
WITH RECURSIVE plain AS (
    SELECT min(q.tag) AS tag
    FROM worker_queue AS q
    WHERE q.ready = 1
      AND q.session_id IS NULL
      AND q.tag IS NOT NULL
    UNION ALL
    SELECT (
        SELECT min(q.tag)
        FROM worker_queue AS q
        WHERE q.ready = 1
          AND q.session_id IS NULL
          AND q.tag > p.tag
    ) AS tag
    FROM plain AS p
    WHERE p.tag IS NOT NULL
), bound AS (
    SELECT min(q.tag) AS tag
    FROM worker_queue AS q
    WHERE q.ready = 1
      AND q.session_id IS NOT NULL
      AND q.tag IS NOT NULL
    UNION ALL
    SELECT (
        SELECT min(q.tag)
        FROM worker_queue AS q
        WHERE q.ready = 1
          AND q.session_id IS NOT NULL
          AND q.tag > b.tag
    ) AS tag
    FROM bound AS b
    WHERE b.tag IS NOT NULL
)
SELECT CAST(p.tag AS TEXT) AS tag
FROM plain AS p
WHERE p.tag IS NOT NULL
UNION
SELECT CAST(b.tag AS TEXT) AS tag
FROM bound AS b
WHERE b.tag IS NOT NULL;

-- The code that ready activities of the tag wait for and no set has that was seen since
-- a time.
--
-- name: UnknownWorkCodes :many
WITH RECURSIVE plain AS (
    SELECT (
        SELECT min(q.code_id)
        FROM worker_queue AS q
        WHERE q.ready = 1
          AND q.session_id IS NULL
          AND q.tag IS sqlc.narg(tag)
          AND q.code_id > 0
    ) AS code_id
    UNION ALL
    SELECT (
        SELECT min(q.code_id)
        FROM worker_queue AS q
        WHERE q.ready = 1
          AND q.session_id IS NULL
          AND q.tag IS sqlc.narg(tag)
          AND q.code_id > p.code_id
    ) AS code_id
    FROM plain AS p
    WHERE p.code_id IS NOT NULL
), bound AS (
    SELECT (
        SELECT min(q.code_id)
        FROM worker_queue AS q
        WHERE q.ready = 1
          AND q.session_id IS NOT NULL
          AND q.tag IS sqlc.narg(tag)
          AND q.code_id > 0
    ) AS code_id
    UNION ALL
    SELECT (
        SELECT min(q.code_id)
        FROM worker_queue AS q
        WHERE q.ready = 1
          AND q.session_id IS NOT NULL
          AND q.tag IS sqlc.narg(tag)
          AND q.code_id > b.code_id
    ) AS code_id
    FROM bound AS b
    WHERE b.code_id IS NOT NULL
)
SELECT n.id, n.name
FROM (
    SELECT p.code_id
    FROM plain AS p
    UNION
    SELECT b.code_id
    FROM bound AS b
) AS c
JOIN code_names AS n ON n.id = c.code_id
WHERE NOT EXISTS (
    SELECT 1
    FROM known_code AS s
    JOIN known_code_names AS k ON k.known_id = s.id
    WHERE s.kind = 1
      AND s.seen_at > @seen_after
      AND k.code_id = c.code_id
);

-- The oldest activity of a tag and code that has been ready since a time, 0 for none.
--
-- name: NextWaitingWork :one
SELECT CAST(coalesce(min(w.id), 0) AS INTEGER) AS id
FROM (
    SELECT (
        SELECT q.id
        FROM worker_queue AS q
        WHERE q.ready = 1
          AND q.session_id IS NULL
          AND q.tag IS sqlc.narg(tag)
          AND q.code_id = @code_id
          AND coalesce(q.locked_until, q.visible_at) <= @ready_by
        ORDER BY q.id
        LIMIT 1
    ) AS id
    UNION ALL
    SELECT (
        SELECT q.id
        FROM worker_queue AS q
        WHERE q.ready = 1
          AND q.session_id IS NOT NULL
          AND q.tag IS sqlc.narg(tag)
          AND q.code_id = @code_id
          AND coalesce(q.locked_until, q.visible_at) <= @ready_by
        ORDER BY q.id
        LIMIT 1
    ) AS id
) AS w;

-- How many there are of these, and since when.
--
-- name: CountWaitingWork :one
SELECT
    count(*) AS waiting,
    CAST(coalesce(min(w.ready_at), 0) AS INTEGER) AS since
FROM (
    SELECT coalesce(q.locked_until, q.visible_at) AS ready_at
    FROM worker_queue AS q
    WHERE q.ready = 1
      AND q.session_id IS NULL
      AND q.tag IS sqlc.narg(tag)
      AND q.code_id = @code_id
    UNION ALL
    SELECT coalesce(q.locked_until, q.visible_at) AS ready_at
    FROM worker_queue AS q
    WHERE q.ready = 1
      AND q.session_id IS NOT NULL
      AND q.tag IS sqlc.narg(tag)
      AND q.code_id = @code_id
) AS w
WHERE w.ready_at <= CAST(@ready_by AS INTEGER);

-- name: LockWork :one
UPDATE worker_queue
SET ready = 0, lock_token = @lock_token, locked_until = @locked_until, attempt_count = attempt_count + 1
WHERE id = @work_id
RETURNING instance_id, session_id, work_item, attempt_count, heartbeat, created_at;

-- LockWork for an activity of which the caller knows the rest.
--
-- name: LockKeptWork :exec
UPDATE worker_queue
SET ready = 0, lock_token = @lock_token, locked_until = @locked_until, attempt_count = attempt_count + 1
WHERE id = @work_id;

-- FinishWork when there are no sessions. It is no part of that because RETURNING, like any list of
-- rows that a statement makes before it returns the first, costs as much as the deletion.
--
-- name: EndWork :execrows
DELETE FROM worker_queue
WHERE id = @id
  AND lock_token = @lock_token
  AND locked_until > @now;

-- Ends an activity whose lease is still live.
--
-- name: FinishWork :one
DELETE FROM worker_queue
WHERE id = @id
  AND lock_token = @lock_token
  AND locked_until > @now
RETURNING session_id;

-- Not ready, as under any lease: it would be if the clock was set back after the
-- lease had seemed to end. The details of a heartbeat stay if there are no new ones.
--
-- name: RenewWork :one
UPDATE worker_queue
SET locked_until = @locked_until, ready = 0, heartbeat = coalesce(sqlc.narg(heartbeat), heartbeat)
WHERE id = @id
  AND lock_token = @lock_token
  AND locked_until > @now
RETURNING session_id;

-- Puts an abandoned activity back. ready is 1 if it is visible at once.
--
-- name: UnlockWork :one
UPDATE worker_queue
SET
    ready = @ready,
    lock_token = NULL,
    locked_until = NULL,
    visible_at = @visible_at,
    attempt_count = max(attempt_count - CAST(@give_back AS INTEGER), 0)
WHERE id = @id
  AND lock_token = @lock_token
RETURNING session_id, tag, code_id;

-- name: WorkTokenExists :one
SELECT EXISTS (SELECT 1 FROM worker_queue AS q WHERE q.id = @id AND q.lock_token = @lock_token) AS found;

-- Which of a JSON list of [id, token] no activity has, by their place.
--
-- name: ListLostWork :many
SELECT CAST(j.key AS INTEGER) AS position
FROM json_each(CAST(@tokens AS TEXT)) AS j
WHERE NOT EXISTS (SELECT 1 FROM worker_queue AS q WHERE q.id = j.value ->> 0 AND q.lock_token = j.value ->> 1)
ORDER BY j.key;

-- name: DeleteWork :exec
DELETE FROM worker_queue
WHERE id = @id;

-- Cancels activities, locked or not. The argument is a JSON list of
-- [instance, execution, activity].
--
-- name: CancelWork :exec
DELETE FROM worker_queue
WHERE (instance_id, execution_id, activity_id) IN (
    SELECT j.value ->> 0, j.value ->> 1, j.value ->> 2
    FROM json_each(CAST(@activities AS TEXT)) AS j
);

-- When a fetch has to look again although nobody wrote; no row for never.
--
-- name: NextWorkWake :one
SELECT CAST(coalesce(locked_until, visible_at) AS INTEGER) AS wake_at
FROM worker_queue
WHERE ready = 0
ORDER BY coalesce(locked_until, visible_at)
LIMIT 1;

-- Activities that no live lease holds, visible or not.
--
-- name: CountFreeWork :one
SELECT count(*)
FROM worker_queue
WHERE lock_token IS NULL
   OR locked_until <= @now;

-- name: DeleteWorkOf :execrows
DELETE FROM worker_queue
WHERE instance_id IN (SELECT j.value FROM json_each(CAST(@instances AS TEXT)) AS j);
