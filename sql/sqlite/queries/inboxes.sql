-- Computes an inbox again after a write that added or removed messages, ended a lease
-- or changed the instance's execution. The rules are those of section 5.1 about which
-- instance may be fetched:
--
--   * An instance with a row waits while its current execution has ended as
--     ContinuedAsNew and the message that starts the next execution is hidden: the
--     fetch would drop other messages as leftovers of the old execution.
--   * An instance without a row waits while its start is hidden. Otherwise it needs
--     a visible start, or a history with a start, or nothing but queue messages:
--     nobody will read those, and the fetch drops them.
--
-- Also finds the code that the instance's next turn runs (section 5.20). For an
-- execution that was continued, the first ContinueAsNew decides; for an instance
-- without a row, the first message that starts it. While the head stays, that message
-- stays the first, so its code is taken from the inbox.
--
-- Under a live lease nothing changes: the end of the turn computes the inbox again.
-- An existing head stays if the inbox's time has not come, so adding a message to a
-- long queue costs no more than adding one to a short queue. Returns no row if nothing
-- was computed.
--
-- name: RefreshInbox :one
INSERT INTO inboxes (instance_id, version_id, code_id, head_id, wake_at)
SELECT
    s.instance_id,
    s.version_id,
    CASE
        WHEN s.status = 'Running' THEN s.code_id
        WHEN s.status = 'ContinuedAsNew' OR s.fresh THEN coalesce(
            (
                SELECT f.code_id
                FROM orchestrator_queue AS f
                WHERE f.id = (
                    SELECT min(q.id)
                    FROM orchestrator_queue AS q
                    WHERE q.instance_id = s.instance_id
                      AND q.kind = 1
                )
            ),
            (
                SELECT b.code_id
                FROM inboxes AS b
                WHERE b.instance_id = s.instance_id
                  AND s.fresh
                  AND b.code_id > 0
                  AND b.head_id IS NOT NULL
                  AND (b.wake_at IS NULL OR b.wake_at > @now)
            ),
            (
                SELECT f.code_id
                FROM orchestrator_queue AS f
                WHERE s.fresh
                  AND f.id = (
                      SELECT min(q.id)
                      FROM orchestrator_queue AS q
                      WHERE q.instance_id = s.instance_id
                        AND q.kind = 2
                  )
            ),
            0
        )
        ELSE 0
    END,
    CASE WHEN s.eligible THEN coalesce(
        (
            SELECT b.head_id
            FROM inboxes AS b
            WHERE b.instance_id = s.instance_id
              AND (b.wake_at IS NULL OR b.wake_at > @now)
        ),
        (
            SELECT min(q.id)
            FROM orchestrator_queue AS q
            WHERE q.instance_id = s.instance_id
              AND q.kind IN (0, 1, 2, 3)
              AND q.visible_at <= @now
        )
    ) END,
    (
        -- One seek for each kind, because the index has the kind before the time.
        SELECT min((
            SELECT min(q.visible_at)
            FROM orchestrator_queue AS q
            WHERE q.instance_id = s.instance_id
              AND q.kind = k.kind
              AND q.visible_at > @now
        ))
        FROM (SELECT 0 AS kind UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3) AS k
    )
FROM (
    SELECT
        t.instance_id,
        coalesce(e.version_id, 0) AS version_id,
        e.status,
        e.code_id,
        i.id IS NULL AND NOT EXISTS (SELECT 1 FROM history AS h WHERE h.instance_id = t.instance_id) AS fresh,
        CASE
            WHEN i.id IS NOT NULL THEN
                e.status IS NOT 'ContinuedAsNew'
                OR NOT EXISTS (
                    SELECT 1
                    FROM orchestrator_queue AS q
                    WHERE q.instance_id = t.instance_id
                      AND q.kind = 1
                      AND q.visible_at > @now
                )
            WHEN EXISTS (
                SELECT 1
                FROM orchestrator_queue AS q
                WHERE q.instance_id = t.instance_id
                  AND q.kind IN (1, 2)
                  AND q.visible_at > @now
            ) THEN 0
            ELSE
                EXISTS (
                    SELECT 1
                    FROM orchestrator_queue AS q
                    WHERE q.instance_id = t.instance_id
                      AND q.kind IN (1, 2)
                )
                OR NOT EXISTS (
                    SELECT 1
                    FROM orchestrator_queue AS q
                    WHERE q.instance_id = t.instance_id
                      AND q.kind IN (1, 2, 3)
                )
                OR EXISTS (
                    SELECT 1
                    FROM history AS h
                    WHERE h.instance_id = t.instance_id
                      AND h.event_type = 'OrchestrationStarted'
                      AND h.execution_id = (
                          SELECT max(l.execution_id)
                          FROM history AS l
                          WHERE l.instance_id = t.instance_id
                      )
                )
        END AS eligible
    FROM (SELECT CAST(@instance_id AS TEXT) AS instance_id) AS t
    LEFT JOIN instances AS i ON i.instance_id = t.instance_id
    LEFT JOIN executions AS e ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
) AS s
WHERE EXISTS (
        SELECT 1
        FROM orchestrator_queue AS q
        WHERE q.instance_id = s.instance_id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM inboxes AS l
        WHERE l.instance_id = s.instance_id
          AND l.locked_until > @now
    )
ON CONFLICT (instance_id) DO UPDATE SET
    version_id = excluded.version_id,
    code_id = excluded.code_id,
    head_id = excluded.head_id,
    wake_at = excluded.wake_at
RETURNING version_id, code_id, head_id, wake_at;

-- Does what RefreshInbox does, for a visible message that has just been added to a running
-- instance, as most messages are. The message becomes the head if there is none. Only the
-- passing of time can have changed anything else, and a fetch notices that by wake_at.
-- Returns no row for an instance that is not running.
--
-- name: ReceiveMessage :one
INSERT INTO inboxes (instance_id, version_id, code_id, head_id)
SELECT e.instance_id, e.version_id, e.code_id, CAST(@message_id AS INTEGER)
FROM instances AS i
JOIN executions AS e ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
WHERE i.instance_id = @instance_id
  AND e.status = 'Running'
ON CONFLICT (instance_id) DO UPDATE SET
    head_id = CASE WHEN inboxes.lock_token IS NULL THEN coalesce(inboxes.head_id, excluded.head_id) ELSE inboxes.head_id END
RETURNING version_id, code_id, head_id;

-- How many inboxes RefreshDueInboxes and ResetDueInboxes have to look at, 1,001 for more, and when
-- the next one follows; 0 for never.
--
-- name: CountDueInboxes :one
SELECT
    (
        SELECT count(*)
        FROM (SELECT 1 FROM inboxes AS d WHERE d.wake_at <= @now LIMIT 1001) AS c
    ) AS due,
    CAST(coalesce((SELECT min(n.wake_at) FROM inboxes AS n WHERE n.wake_at > @now), 0) AS INTEGER) AS next_wake;

-- Does what RefreshInbox does, for running instances whose wake_at has come because a lease
-- ended or a message became visible: at most 256, longest wait first.
--
-- The limit is no parameter because SQLite would plan the statement again for each
-- value of the parameter, and planning costs ten times as much as execution.
--
-- name: RefreshDueInboxes :many
INSERT INTO inboxes (instance_id, version_id, code_id, head_id, wake_at)
SELECT
    b.instance_id,
    e.version_id,
    e.code_id,
    (
        SELECT min(q.id)
        FROM orchestrator_queue AS q
        WHERE q.instance_id = b.instance_id
          AND q.kind IN (0, 1, 2, 3)
          AND q.visible_at <= @now
    ),
    (
        SELECT min((
            SELECT min(q.visible_at)
            FROM orchestrator_queue AS q
            WHERE q.instance_id = b.instance_id
              AND q.kind = k.kind
              AND q.visible_at > @now
        ))
        FROM (SELECT 0 AS kind UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3) AS k
    )
FROM (
    SELECT d.instance_id, d.locked_until
    FROM inboxes AS d
    WHERE d.wake_at <= @now
    ORDER BY d.wake_at
    LIMIT 256
) AS b
JOIN instances AS i ON i.instance_id = b.instance_id
JOIN executions AS e ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
WHERE e.status = 'Running'
  AND (b.locked_until IS NULL OR b.locked_until <= @now)
ON CONFLICT (instance_id) DO UPDATE SET
    version_id = excluded.version_id,
    code_id = excluded.code_id,
    head_id = excluded.head_id,
    wake_at = excluded.wake_at
RETURNING instance_id, version_id, code_id, head_id, wake_at;

-- Lists the other inboxes whose wake_at has come: ids without an instance, and instances that
-- do not run. The caller refreshes each of them.
--
-- name: ResetDueInboxes :many
UPDATE inboxes
SET head_id = NULL, wake_at = NULL
WHERE inboxes.id IN (
    SELECT b.id
    FROM inboxes AS b
    WHERE b.wake_at <= @now
    ORDER BY b.wake_at
    LIMIT 256
)
RETURNING instance_id;

-- Finds the inbox of the instance that has waited longest among those whose current execution is
-- pinned to a version in the range, or to none, and whose code is in the set.
--
-- For each version the query goes through the codes that are in the set and that
-- instances wait for. It skips codes that are only in the set, or only in the queue, so
-- that neither a large set nor much work for other workers costs anything.
--
-- name: NextInstance :one
WITH RECURSIVE codes AS (
    SELECT
        v.id AS version_id,
        (
            SELECT min(k.code_id)
            FROM known_code_names AS k
            WHERE k.known_id = @known_id
              AND k.code_id >= (
                  SELECT min(b.code_id)
                  FROM inboxes AS b
                  WHERE b.version_id = v.id
                    AND b.head_id IS NOT NULL
              )
        ) AS code_id
    FROM (
        SELECT 0 AS id
        UNION ALL
        SELECT f.id
        FROM framework_versions AS f
        WHERE (f.major, f.minor, f.patch) >= (@min_major, @min_minor, @min_patch)
          AND (f.major, f.minor, f.patch) <= (@max_major, @max_minor, @max_patch)
    ) AS v
    UNION ALL
    SELECT
        c.version_id,
        (
            SELECT min(k.code_id)
            FROM known_code_names AS k
            WHERE k.known_id = @known_id
              AND k.code_id >= (
                  SELECT min(b.code_id)
                  FROM inboxes AS b
                  WHERE b.version_id = c.version_id
                    AND b.code_id > c.code_id
                    AND b.head_id IS NOT NULL
              )
        ) AS code_id
    FROM codes AS c
    WHERE c.code_id IS NOT NULL
)
SELECT i.id, i.wake_at
FROM orchestrator_queue AS q
JOIN inboxes AS i ON i.instance_id = q.instance_id
WHERE q.id = (
    SELECT min((
        SELECT min(b.head_id)
        FROM inboxes AS b
        WHERE b.version_id = c.version_id
          AND b.code_id = c.code_id
          AND b.head_id IS NOT NULL
    ))
    FROM codes AS c
);

-- Lists the oldest head of the fetchable instances for each framework version and code. Each row
-- costs two seeks.
--
-- name: ListInstanceHeads :many
WITH RECURSIVE codes AS (
    SELECT
        v.id AS version_id,
        (
            SELECT min(b.code_id)
            FROM inboxes AS b
            WHERE b.version_id = v.id
              AND b.head_id IS NOT NULL
        ) AS code_id
    FROM (SELECT 0 AS id UNION ALL SELECT f.id FROM framework_versions AS f) AS v
    UNION ALL
    SELECT
        c.version_id,
        (
            SELECT min(b.code_id)
            FROM inboxes AS b
            WHERE b.version_id = c.version_id
              AND b.code_id > c.code_id
              AND b.head_id IS NOT NULL
        ) AS code_id
    FROM codes AS c
    WHERE c.code_id IS NOT NULL
)
SELECT
    CAST(c.version_id AS INTEGER) AS version_id,
    CAST(c.code_id AS INTEGER) AS code_id,
    CAST((
        SELECT min(b.head_id)
        FROM inboxes AS b
        WHERE b.version_id = c.version_id
          AND b.code_id = c.code_id
          AND b.head_id IS NOT NULL
    ) AS INTEGER) AS head_id
FROM codes AS c
WHERE c.code_id IS NOT NULL;

-- Lists the inboxes of the two instances of a version and code that have waited longest.
--
-- name: OldestInstances :many
SELECT id, CAST(head_id AS INTEGER) AS head_id, wake_at
FROM inboxes
WHERE version_id = @version_id
  AND code_id = @code_id
  AND inboxes.head_id IS NOT NULL
ORDER BY inboxes.head_id
LIMIT 2;

-- Lists the code that fetchable instances wait for, and that is in no set that was seen since
-- a time. The range of versions is as in NextInstance. Each version and code costs one seek.
--
-- name: UnknownInstanceCodes :many
WITH RECURSIVE codes AS (
    SELECT
        v.id AS version_id,
        (
            SELECT min(b.code_id)
            FROM inboxes AS b
            WHERE b.version_id = v.id
              AND b.code_id > 0
              AND b.head_id IS NOT NULL
        ) AS code_id
    FROM (
        SELECT 0 AS id
        UNION ALL
        SELECT f.id
        FROM framework_versions AS f
        WHERE (f.major, f.minor, f.patch) >= (@min_major, @min_minor, @min_patch)
          AND (f.major, f.minor, f.patch) <= (@max_major, @max_minor, @max_patch)
    ) AS v
    UNION ALL
    SELECT
        c.version_id,
        (
            SELECT min(b.code_id)
            FROM inboxes AS b
            WHERE b.version_id = c.version_id
              AND b.code_id > c.code_id
              AND b.head_id IS NOT NULL
        ) AS code_id
    FROM codes AS c
    WHERE c.code_id IS NOT NULL
)
SELECT CAST(c.version_id AS INTEGER) AS version_id, n.id, n.name, n.version
FROM codes AS c
JOIN code_names AS n ON n.id = c.code_id
WHERE NOT EXISTS (
    SELECT 1
    FROM known_code AS s
    JOIN known_code_names AS k ON k.known_id = s.id
    WHERE s.kind = 0
      AND s.seen_at > @seen_after
      AND k.code_id = c.code_id
);

-- Finds the inbox of the instance that has waited longest among those of a version and code that
-- have been fetchable since a time or longer. An instance is fetchable from when its head became visible
-- and its last lease ended. With the code of requests to cancel, only an instance with a visible one
-- counts; 0 is any.
--
-- name: NextWaitingInstance :one
SELECT b.id, h.id AS head_id, b.wake_at
FROM inboxes AS b
JOIN orchestrator_queue AS h ON h.id = b.head_id
WHERE b.version_id = @version_id
  AND b.code_id = @code_id
  AND b.head_id IS NOT NULL
  AND max(h.visible_at, coalesce(b.locked_until, 0)) <= CAST(@ready_by AS INTEGER)
  AND (
      CAST(@cancel_id AS INTEGER) = 0
      OR EXISTS (
          SELECT 1
          FROM orchestrator_queue AS r
          WHERE r.instance_id = b.instance_id
            AND r.kind = 3
            AND r.visible_at <= @now
            AND r.code_id = @cancel_id
      )
  )
ORDER BY b.head_id
LIMIT 1;

-- Counts the instances among which NextWaitingInstance finds the oldest. since is when the first
-- of them became fetchable.
--
-- name: CountWaitingInstances :one
SELECT
    count(*) AS waiting,
    CAST(coalesce(min(max(h.visible_at, coalesce(b.locked_until, 0))), 0) AS INTEGER) AS since
FROM inboxes AS b
JOIN orchestrator_queue AS h ON h.id = b.head_id
WHERE b.version_id = @version_id
  AND b.code_id = @code_id
  AND b.head_id IS NOT NULL
  AND max(h.visible_at, coalesce(b.locked_until, 0)) <= CAST(@ready_by AS INTEGER);

-- Lists the instances that CountWaitingInstances counts, or only the one whose id is given, and
-- since when each is fetchable.
--
-- name: ListWaitingInstances :many
SELECT
    b.instance_id,
    CAST(max(h.visible_at, coalesce(b.locked_until, 0)) AS INTEGER) AS since
FROM inboxes AS b
JOIN orchestrator_queue AS h ON h.id = b.head_id
WHERE b.version_id = @version_id
  AND b.code_id = @code_id
  AND b.head_id IS NOT NULL
  AND max(h.visible_at, coalesce(b.locked_until, 0)) <= CAST(@ready_by AS INTEGER)
  AND (CAST(@instance_id AS TEXT) = '' OR b.instance_id = @instance_id);

-- name: LockInstance :one
UPDATE inboxes
SET lock_token = @lock_token, locked_until = @locked_until, locked_at = @now, head_id = NULL, wake_at = @locked_until
WHERE id = @id
RETURNING instance_id;

-- Adds an inbox for a running instance, for a caller that knows that there is none and knows what
-- the inbox should contain. It may have a head, or wait. Adds no row if there is an inbox.
--
-- name: AddInbox :execresult
INSERT INTO inboxes (instance_id, version_id, code_id, head_id, wake_at)
VALUES (@instance_id, @version_id, @code_id, @head_id, @wake_at)
ON CONFLICT (instance_id) DO NOTHING;

-- Adds an inbox for a visible start that has just been added and has no instance, if the start is
-- the only message of its id and there is no history. Adds no row otherwise.
--
-- name: AddStartInbox :execrows
INSERT INTO inboxes (instance_id, version_id, code_id, head_id)
SELECT n.instance_id, 0, CAST(@code_id AS INTEGER), CAST(@message_id AS INTEGER)
FROM (SELECT CAST(@instance_id AS TEXT) AS instance_id) AS n
WHERE NOT EXISTS (SELECT 1 FROM history AS h WHERE h.instance_id = n.instance_id)
ON CONFLICT (instance_id) DO NOTHING;

-- name: GetLock :one
SELECT locked_until, locked_at, code_id
FROM inboxes
WHERE instance_id = @instance_id
  AND lock_token = @lock_token;

-- Ends a live lease whose turn has all messages of the instance, as most turns have at their end,
-- and returns when the lease began. The caller deletes the messages. Returns no row if there are
-- other messages, or no such lease.
--
-- name: EndLock :one
DELETE FROM inboxes
WHERE inboxes.instance_id = @instance_id
  AND inboxes.lock_token = @lock_token
  AND inboxes.locked_until > @now
  AND NOT EXISTS (
      SELECT 1
      FROM orchestrator_queue AS q
      WHERE q.instance_id = inboxes.instance_id
        AND q.lock_token IS NOT inboxes.lock_token
  )
RETURNING locked_at;

-- Does what EndLock does, for a caller that knows that the turn has all messages of the instance.
--
-- name: EndLastLock :execrows
DELETE FROM inboxes
WHERE instance_id = @instance_id
  AND lock_token = @lock_token
  AND locked_until > @now;

-- Ends a live lease of an instance that keeps running and has messages that the turn does not have.
-- They are all visible, and the caller knows the oldest.
--
-- name: PassLock :execrows
UPDATE inboxes
SET lock_token = NULL, locked_until = NULL, locked_at = NULL, head_id = @head_id, wake_at = NULL
WHERE instance_id = @instance_id
  AND lock_token = @lock_token
  AND locked_until > @now;

-- Renews a live lease. Sets head_id to NULL again, because a fetch may have set it if the
-- clock was set back after the lease had seemed to end.
--
-- name: RenewInbox :execrows
UPDATE inboxes
SET locked_until = @locked_until, head_id = NULL, wake_at = @locked_until
WHERE instance_id = @instance_id
  AND lock_token = @lock_token
  AND locked_until > @now;

-- Ends the lease; the caller refreshes the inbox. An inbox whose lease has run out may
-- have a head, which may have been hidden since, so the head is removed.
--
-- name: UnlockInbox :exec
UPDATE inboxes
SET lock_token = NULL, locked_until = NULL, locked_at = NULL, head_id = NULL, wake_at = NULL
WHERE instance_id = @instance_id;

-- Makes RefreshInbox look for the head again. Under a live lease, RefreshInbox does nothing and there
-- is no head, except when the clock was set back after the lease had seemed to end: the head stays.
--
-- name: ForgetHead :exec
UPDATE inboxes
SET head_id = NULL
WHERE instance_id = @instance_id
  AND (locked_until IS NULL OR locked_until <= @now);

-- Deletes the inbox of an instance that has no messages left, and its lease with it.
--
-- name: DeleteEmptyInbox :execrows
DELETE FROM inboxes
WHERE inboxes.instance_id = @instance_id
  AND NOT EXISTS (
      SELECT 1
      FROM orchestrator_queue AS q
      WHERE q.instance_id = inboxes.instance_id
  );

-- Returns when the next inbox changes without a write; no row for never.
--
-- name: NextInboxWake :one
SELECT wake_at
FROM inboxes
WHERE wake_at IS NOT NULL
ORDER BY wake_at
LIMIT 1;

-- name: DeleteInboxesOf :exec
DELETE FROM inboxes
WHERE instance_id IN (SELECT j.value FROM json_each(CAST(@instances AS TEXT)) AS j);
