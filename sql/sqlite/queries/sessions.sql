-- Claims a session or renews the claim. The caller has found the session free or
-- its own, in the same transaction.
--
-- name: ClaimSession :exec
INSERT INTO sessions (session_id, worker_id, locked_until, last_activity_at)
VALUES (@session_id, @worker_id, @locked_until, @now)
ON CONFLICT (session_id) DO UPDATE SET
    worker_id = excluded.worker_id,
    locked_until = excluded.locked_until,
    last_activity_at = excluded.last_activity_at;

-- name: StampSession :exec
UPDATE sessions
SET last_activity_at = @now
WHERE session_id = @session_id
  AND locked_until > @now;

-- Renews the sessions of a JSON list of owners that are neither expired nor idle.
--
-- name: RenewSessions :execrows
UPDATE sessions
SET locked_until = @locked_until
WHERE worker_id IN (SELECT j.value FROM json_each(CAST(@owners AS TEXT)) AS j)
  AND locked_until > @now
  AND last_activity_at > @idle_since;

-- name: CleanupSessions :execrows
DELETE FROM sessions
WHERE sessions.locked_until < @now
  AND NOT EXISTS (
      SELECT 1
      FROM worker_queue AS q
      WHERE q.session_id = sessions.session_id
  );

-- When the next session becomes free to claim; no row for never.
--
-- name: NextSessionWake :one
SELECT locked_until
FROM sessions
WHERE locked_until > @now
ORDER BY locked_until
LIMIT 1;
