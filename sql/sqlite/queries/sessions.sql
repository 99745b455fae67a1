-- Claims a session, or renews the claim. The caller has checked in the same transaction
-- that the session is free or its own.
--
-- name: ClaimSession :exec
INSERT INTO sessions (session_id, worker_id, locked_until, last_activity_at)
VALUES (@session_id, @worker_id, @locked_until, @now)
ON CONFLICT (session_id) DO UPDATE SET
    worker_id = excluded.worker_id,
    locked_until = excluded.locked_until,
    last_activity_at = excluded.last_activity_at;

-- Records that a session is in use, if its lease is live.
--
-- name: StampSession :exec
UPDATE sessions
SET last_activity_at = @now
WHERE session_id = @session_id
  AND locked_until > @now;

-- Renews the sessions that the owners in a JSON list hold and that are neither expired nor idle.
--
-- name: RenewSessions :execrows
UPDATE sessions
SET locked_until = @locked_until
WHERE worker_id IN (SELECT j.value FROM json_each(CAST(@owners AS TEXT)) AS j)
  AND locked_until > @now
  AND last_activity_at > @idle_since;

-- Deletes expired sessions that have no activities left.
--
-- name: CleanupSessions :execrows
DELETE FROM sessions
WHERE sessions.locked_until < @now
  AND NOT EXISTS (
      SELECT 1
      FROM worker_queue AS q
      WHERE q.session_id = sessions.session_id
  );

-- Returns when the next session becomes free to claim; no row if no session has a live lease.
--
-- name: NextSessionWake :one
SELECT locked_until
FROM sessions
WHERE locked_until > @now
ORDER BY locked_until
LIMIT 1;
