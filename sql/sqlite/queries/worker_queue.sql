-- Adds an activity, either ready or locked by the call that adds it.
--
-- name: EnqueueWork :execlastid
INSERT INTO worker_queue (
    instance_id, execution_id, activity_id, session_id, tag, code_id, work_item, payload_id, visible_at, created_at,
    ready, lock_token, locked_until, attempt_count, unnamed_count
)
VALUES (
    @instance_id, @execution_id, @activity_id, @session_id, @tag, @code_id, @work_item, @payload_id, @now, @now,
    @ready, @lock_token, @locked_until, @attempt_count, @unnamed_count
);

-- Makes activities ready whose delay or lease has ended, at most 256, longest wait
-- first. The lease's token stays until the next fetch, because an abandon may still
-- present it. RefreshDueInboxes says why the limit is no parameter.
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

-- Finds the oldest activity without a session that has the tag and a code of the set; 0
-- if there is none. A NULL tag finds untagged activities. The query goes from code to code
-- as NextInstance does.
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

-- Lists the codes of the set that activities of sessions with the tag wait for, for
-- NextSessionWork. The list may have codes that no activity waits for.
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

-- Lists the oldest ready activity of each code with a tag, without a session (in_session 0)
-- and in a session (1). Each row costs two seeks. A NULL tag finds untagged activities.
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

-- Lists the two oldest ready activities of a tag and code without a session.
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

-- Finds two ready activities of a tag and code: oldest is the oldest in any session, id the
-- oldest in a session that the owner has or may claim; 0 if there is none. id is usually
-- among the 20 oldest, so the query looks at these first. If they all belong to other
-- owners' sessions, one of which may have a very long queue, the query looks at each session
-- once instead.
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

-- Lists the tags of ready activities, for a worker that takes any tag. Each tag costs one
-- seek.
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

-- Lists the code that ready activities of a tag wait for, and that is in no set that was seen
-- since a time. With a mark of known_code_tags, only sets count that take the tag.
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
      AND (
          CAST(@mark AS TEXT) = ''
          OR EXISTS (SELECT 1 FROM known_code_tags AS g WHERE g.known_id = s.id AND g.tag IN ('*', @mark))
      )
);

-- Finds the oldest activity of a tag and code that has been ready since a time or longer; 0
-- if there is none.
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

-- Counts the activities among which NextWaitingWork finds the oldest. since is when the first of
-- them became ready.
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

-- Lists the instances whose activities CountWaitingWork counts, or only the one whose id is given.
--
-- name: ListWaitingWork :many
SELECT
    w.instance_id,
    count(*) AS waiting,
    CAST(min(w.ready_at) AS INTEGER) AS since
FROM (
    SELECT q.instance_id, coalesce(q.locked_until, q.visible_at) AS ready_at
    FROM worker_queue AS q
    WHERE q.ready = 1
      AND q.session_id IS NULL
      AND q.tag IS sqlc.narg(tag)
      AND q.code_id = @code_id
    UNION ALL
    SELECT q.instance_id, coalesce(q.locked_until, q.visible_at) AS ready_at
    FROM worker_queue AS q
    WHERE q.ready = 1
      AND q.session_id IS NOT NULL
      AND q.tag IS sqlc.narg(tag)
      AND q.code_id = @code_id
) AS w
WHERE w.ready_at <= CAST(@ready_by AS INTEGER)
  AND (CAST(@instance_id AS TEXT) = '' OR w.instance_id = @instance_id)
GROUP BY w.instance_id;

-- Locks an activity that the caller has chosen in the same transaction. A fetch that names its
-- code forgets the attempts of those that named none.
--
-- name: LockWork :one
UPDATE worker_queue
SET
    ready = 0,
    lock_token = @lock_token,
    locked_until = @locked_until,
    attempt_count = attempt_count + 1 - CASE WHEN CAST(@unnamed AS INTEGER) THEN 0 ELSE unnamed_count END,
    unnamed_count = CASE WHEN CAST(@unnamed AS INTEGER) THEN unnamed_count + 1 ELSE 0 END
WHERE id = @work_id
RETURNING instance_id, session_id, work_item, payload_id, attempt_count, heartbeat, created_at;

-- Does what LockWork does, for a caller that has the activity's data in memory.
--
-- name: LockKeptWork :exec
UPDATE worker_queue
SET
    ready = 0,
    lock_token = @lock_token,
    locked_until = @locked_until,
    attempt_count = attempt_count + 1 - CASE WHEN CAST(@unnamed AS INTEGER) THEN 0 ELSE unnamed_count END,
    unnamed_count = CASE WHEN CAST(@unnamed AS INTEGER) THEN unnamed_count + 1 ELSE 0 END
WHERE id = @work_id;

-- Does what FinishWork does when no activity has a session. A statement of its own saves the
-- RETURNING, which costs as much as the deletion.
--
-- name: EndWork :execrows
DELETE FROM worker_queue
WHERE id = @id
  AND lock_token = @lock_token
  AND locked_until > @now;

-- Deletes an activity whose lease is live, and returns its session.
--
-- name: FinishWork :one
DELETE FROM worker_queue
WHERE id = @id
  AND lock_token = @lock_token
  AND locked_until > @now
RETURNING session_id;

-- Renews a live lease. Sets ready to 0 again, because a fetch may have set it to 1 if the clock
-- was set back after the lease had seemed to end. A NULL heartbeat keeps the details of the last
-- one.
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
    attempt_count = max(attempt_count - CAST(@give_back AS INTEGER), 0),
    unnamed_count = max(unnamed_count - CAST(@give_back AS INTEGER), 0)
WHERE id = @id
  AND lock_token = @lock_token
RETURNING session_id, tag, code_id, unnamed_count;

-- Gives the attempt of a fetch that named no code back, for an activity whose code others have named.
--
-- name: GiveUnnamedBack :exec
UPDATE worker_queue
SET attempt_count = attempt_count - 1, unnamed_count = unnamed_count - 1
WHERE id = @id
  AND unnamed_count > 0;

-- name: WorkTokenExists :one
SELECT EXISTS (SELECT 1 FROM worker_queue AS q WHERE q.id = @id AND q.lock_token = @lock_token) AS found;

-- Lists the positions of those pairs in a JSON list of [id, token] that no activity has.
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
-- [instance, execution, activity] triples.
--
-- name: CancelWork :exec
DELETE FROM worker_queue
WHERE (instance_id, execution_id, activity_id) IN (
    SELECT j.value ->> 0, j.value ->> 1, j.value ->> 2
    FROM json_each(CAST(@activities AS TEXT)) AS j
);

-- Returns when the next activity becomes ready without a write; no row for never.
--
-- name: NextWorkWake :one
SELECT CAST(coalesce(locked_until, visible_at) AS INTEGER) AS wake_at
FROM worker_queue
WHERE ready = 0
ORDER BY coalesce(locked_until, visible_at)
LIMIT 1;

-- Counts activities without a live lease, visible or not.
--
-- name: CountFreeWork :one
SELECT count(*)
FROM worker_queue
WHERE lock_token IS NULL
   OR locked_until <= @now;

-- name: DeleteWorkOf :execrows
DELETE FROM worker_queue
WHERE instance_id IN (SELECT j.value FROM json_each(CAST(@instances AS TEXT)) AS j);
