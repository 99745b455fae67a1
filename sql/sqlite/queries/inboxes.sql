-- The outcome of every write that adds or removes messages, ends a lease or
-- changes an instance's execution. It holds the rules of section 5.1 about which
-- instance may be fetched, with both hazards:
--
--   * An instance with a row waits while its current execution has ended as
--     ContinuedAsNew and the message that starts the next one is hidden:
--     whatever else arrives would be taken for leftovers of the old execution.
--   * An instance without a row waits while its start is hidden. Otherwise it
--     needs a visible start, or a history that has one, or nothing but queue
--     messages: those belong to nobody, and the fetch drops them.
--
-- Beside it stands the code that the instance's next turn runs (section 5.20). The first
-- ContinueAsNew decides over an execution that was continued, the first message that
-- starts an instance over one without a row. A start that gave the inbox its code stays
-- the first as long as the head does: it is not looked for again.
--
-- Under a live lease nothing changes: the end of the turn calls again. The head
-- is kept when there is one and nothing has come due, so that adding a message to
-- a long queue costs no more than adding one to a short queue. No row is returned
-- when nothing was computed.
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
        -- One seek per kind, as the index has the kind before the time.
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
                      AND q.kind > 0
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

-- RefreshInbox for a message that has just been added to a running instance and is
-- visible: most messages are. It is the head if there is none. Nothing else can have
-- changed but what has come due, which wake_at says: that is looked at by itself. No row
-- for an instance that is not running.
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

-- RefreshInbox for instances whose lease has ended, or of which a message has become visible:
-- those that run, which is what timers that are due together come to. If there are many, it is
-- those that have waited longest.
--
-- The limit is no parameter because SQLite would plan the statement anew for each
-- value it is bound to, which costs ten times as much as carrying it out.
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

-- The others of these, which the caller refreshes each: what waits without an instance, and
-- instances that do not run.
--
-- name: ResetDueInboxes :many
UPDATE inboxes
SET head_id = NULL, wake_at = NULL
WHERE inboxes.instance_id IN (
    SELECT b.instance_id
    FROM inboxes AS b
    WHERE b.wake_at <= @now
    ORDER BY b.wake_at
    LIMIT 256
)
RETURNING instance_id;

-- The instance that has waited longest among those whose current execution is
-- pinned to a version in the range, or to none, and whose code is in the set.
--
-- Per version this goes through the codes that instances wait for and the set has,
-- leaping over those that only one of both has, so that neither a large set nor much
-- work for others costs anything.
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
SELECT q.instance_id
FROM orchestrator_queue AS q
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

-- Per framework version and code, the oldest message of which an instance is fetchable:
-- two seeks for each.
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

-- The instance of a version and code that has waited longest, and the next after it.
--
-- name: OldestInstances :many
SELECT instance_id, CAST(head_id AS INTEGER) AS head_id
FROM inboxes
WHERE version_id = @version_id
  AND code_id = @code_id
  AND inboxes.head_id IS NOT NULL
ORDER BY inboxes.head_id
LIMIT 2;

-- The code that fetchable instances wait for and no set has that was seen since a time.
-- The versions are as in NextInstance; one seek per version and code.
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

-- The instance of a version and code that has waited longest, of those that have been
-- fetchable since a time: since the head became visible, or the last lease ended.
--
-- name: NextWaitingInstance :one
SELECT b.instance_id, h.id AS head_id
FROM inboxes AS b
JOIN orchestrator_queue AS h ON h.id = b.head_id
WHERE b.version_id = @version_id
  AND b.code_id = @code_id
  AND b.head_id IS NOT NULL
  AND max(h.visible_at, coalesce(b.locked_until, 0)) <= CAST(@ready_by AS INTEGER)
ORDER BY b.head_id
LIMIT 1;

-- How many there are of these, and since when.
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

-- name: LockInstance :exec
UPDATE inboxes
SET lock_token = @lock_token, locked_until = @locked_until, locked_at = @now, head_id = NULL, wake_at = @locked_until
WHERE instance_id = @instance_id;

-- LockInstance for a running instance that has no messages, so no inbox either, and is about to
-- get some: the caller adds them, locked. Returned is what the turn has to know of the instance;
-- no row if there is an inbox, or nothing that runs.
--
-- name: LockReceiver :one
INSERT INTO inboxes (instance_id, version_id, code_id, lock_token, locked_until, locked_at, wake_at)
SELECT
    e.instance_id, e.version_id, e.code_id, CAST(@lock_token AS TEXT), CAST(@locked_until AS INTEGER),
    CAST(@now AS INTEGER), CAST(@locked_until AS INTEGER)
FROM instances AS i
JOIN executions AS e ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
WHERE i.instance_id = @instance_id
  AND e.status = 'Running'
ON CONFLICT (instance_id) DO NOTHING
RETURNING
    version_id,
    code_id,
    (SELECT n.orchestration_name FROM instances AS n WHERE n.instance_id = @instance_id) AS orchestration_name,
    (SELECT v.orchestration_version FROM instances AS v WHERE v.instance_id = @instance_id) AS orchestration_version,
    (SELECT c.current_execution_id FROM instances AS c WHERE c.instance_id = @instance_id) AS execution_id,
    EXISTS (SELECT 1 FROM kv_store AS k WHERE k.instance_id = @instance_id) AS has_values;

-- RefreshInbox, LockInstance and LockReceiver for a running instance of which the caller knows that
-- it has no inbox, and all that goes into one: with a head, asleep, or locked. No row if there is one.
--
-- name: AddInbox :execrows
INSERT INTO inboxes (instance_id, version_id, code_id, head_id, lock_token, locked_until, locked_at, wake_at)
VALUES (@instance_id, @version_id, @code_id, @head_id, @lock_token, @locked_until, @locked_at, @wake_at)
ON CONFLICT (instance_id) DO NOTHING;

-- RefreshInbox for a start that has just been added, is visible, and has no instance: what comes of
-- it is known if it is the only message and there is no history. No row otherwise.
--
-- name: AddStartInbox :execrows
INSERT INTO inboxes (instance_id, version_id, code_id, head_id)
SELECT n.instance_id, 0, CAST(@code_id AS INTEGER), CAST(@message_id AS INTEGER)
FROM (SELECT CAST(@instance_id AS TEXT) AS instance_id) AS n
WHERE NOT EXISTS (SELECT 1 FROM history AS h WHERE h.instance_id = n.instance_id)
ON CONFLICT (instance_id) DO NOTHING;

-- AddStartInbox for an instance that is added locked, with the start as its only message, if nobody
-- uses the id and nothing else is stored under it. No row otherwise.
--
-- name: AddLockedStartInbox :execrows
INSERT INTO inboxes (instance_id, version_id, code_id, lock_token, locked_until, locked_at, wake_at)
SELECT
    n.instance_id, 0, CAST(@code_id AS INTEGER), CAST(@lock_token AS TEXT), CAST(@locked_until AS INTEGER),
    CAST(@now AS INTEGER), CAST(@locked_until AS INTEGER)
FROM (SELECT CAST(@instance_id AS TEXT) AS instance_id) AS n
WHERE NOT EXISTS (SELECT 1 FROM instances AS i WHERE i.instance_id = n.instance_id)
  AND NOT EXISTS (SELECT 1 FROM history AS h WHERE h.instance_id = n.instance_id)
  AND NOT EXISTS (SELECT 1 FROM kv_store AS k WHERE k.instance_id = n.instance_id)
ON CONFLICT (instance_id) DO NOTHING;

-- name: GetLock :one
SELECT locked_until, locked_at
FROM inboxes
WHERE instance_id = @instance_id
  AND lock_token = @lock_token;

-- Ends a live lease whose turn has all messages of the instance, which is how most turns end,
-- and returns when it began. The caller deletes the messages. No row if there are others, or
-- no such lease.
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

-- EndLock for a turn of which the caller knows that it has all messages of the instance.
--
-- name: EndLastLock :execrows
DELETE FROM inboxes
WHERE instance_id = @instance_id
  AND lock_token = @lock_token
  AND locked_until > @now;

-- Ends a live lease of an instance that goes on running and of which the caller knows the oldest
-- message that the turn does not have; all of them are visible.
--
-- name: PassLock :execrows
UPDATE inboxes
SET lock_token = NULL, locked_until = NULL, locked_at = NULL, head_id = @head_id, wake_at = NULL
WHERE instance_id = @instance_id
  AND lock_token = @lock_token
  AND locked_until > @now;

-- Without a head, as under any lease: there would be one if the clock was set back
-- after the lease had seemed to end.
--
-- name: RenewInbox :execrows
UPDATE inboxes
SET locked_until = @locked_until, head_id = NULL, wake_at = @locked_until
WHERE instance_id = @instance_id
  AND lock_token = @lock_token
  AND locked_until > @now;

-- Ends the lease; the caller refreshes the inbox. There is a head if the lease had
-- ended by itself, and what it points to may have been hidden since.
--
-- name: UnlockInbox :exec
UPDATE inboxes
SET lock_token = NULL, locked_until = NULL, locked_at = NULL, head_id = NULL, wake_at = NULL
WHERE instance_id = @instance_id;

-- Has the head looked for again by RefreshInbox. Under a live lease there is none.
--
-- name: ForgetHead :exec
UPDATE inboxes
SET head_id = NULL
WHERE instance_id = @instance_id;

-- Ends the lease of an instance that has no messages left, which is how most
-- turns end.
--
-- name: DeleteEmptyInbox :execrows
DELETE FROM inboxes
WHERE inboxes.instance_id = @instance_id
  AND NOT EXISTS (
      SELECT 1
      FROM orchestrator_queue AS q
      WHERE q.instance_id = inboxes.instance_id
  );

-- When a fetch has to look again although nobody wrote; no row for never.
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
