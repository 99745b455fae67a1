-- Deletes sessions whose lease has ended and that have no activities left. A session that is needed again is added
-- again by the next fetch, so an activity may arrive between the look at the queue and the deletion. After an error,
-- the next call deletes the rest.
-- Called by: Store.CleanupOrphanedSessions.
-- Transaction: none. Each portion of 1,000 sessions commits by itself.
-- Result sets:
--   1 Deleted: how many sessions
-- Locks: sessions (shared, by ix_sessions_end), then worker_queue (shared, by ix_worker_queue_session), then sessions
--   (by pk_sessions, in the order of ids), each in statements of its own. None is kept locked while another one is: a
--   fetch locks an activity and then its session, so the two would deadlock.
CREATE OR ALTER PROCEDURE duroxide.cleanup_orphaned_sessions
AS
SET NOCOUNT, XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
SET DEADLOCK_PRIORITY LOW;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
DECLARE @ended TABLE (session_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY);
DECLARE @orphaned TABLE (
    position   INT           NOT NULL PRIMARY KEY,
    session_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL
);
DECLARE @deleted BIGINT = 0, @position INT = 1, @count INT;

-- A session whose lease moves meanwhile may be found twice.
INSERT INTO @ended (session_id)
SELECT DISTINCT s.session_id
FROM duroxide.sessions AS s WITH (INDEX (ix_sessions_end))
WHERE s.locked_until < @now
OPTION (KEEPFIXED PLAN);
INSERT INTO @orphaned (position, session_id)
SELECT ROW_NUMBER() OVER (ORDER BY e.session_id), e.session_id
FROM @ended AS e
WHERE NOT EXISTS (
    SELECT 1 FROM duroxide.worker_queue AS q WITH (INDEX (ix_worker_queue_session)) WHERE q.ready IN (0, 1)
      AND q.session_id = e.session_id AND q.session_id IS NOT NULL
)
OPTION (LOOP JOIN, KEEPFIXED PLAN);
SET @count = @@ROWCOUNT;
WHILE @position <= @count
BEGIN
    DELETE s
    FROM @orphaned AS o
    INNER LOOP JOIN duroxide.sessions AS s WITH (ROWLOCK, FORCESEEK, INDEX (pk_sessions)) ON s.session_id = o.session_id
    WHERE o.position BETWEEN @position AND @position + 999 AND s.locked_until < @now
    OPTION (KEEPFIXED PLAN);
    SET @deleted = @deleted + @@ROWCOUNT;
    SET @position = @position + 1000;
END;

-- gen:result Deleted
SELECT @deleted AS sessions;
GO
GRANT EXECUTE ON duroxide.cleanup_orphaned_sessions TO duroxide_runtime;
