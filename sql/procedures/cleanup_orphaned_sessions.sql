-- Deletes sessions whose lease has ended and that have no activities left (§5.15). A session that is
-- needed again is added again by the next fetch, so an activity may arrive between the look at the
-- queue and the deletion. After an error, the next call deletes the rest.
--
-- Called by: Store.CleanupOrphanedSessions.
-- Transaction: none. Each portion of 1,000 sessions commits by itself.
--
-- Result sets:
--   1 Deleted: how many sessions
--
-- Locks: worker_queue (read, nothing is kept locked while a session is), sessions (by
--   pk_sessions).
--
-- Hints: INDEX finds sessions whose lease has ended, and the activities of one, by a seek, and reads
--   no row of an activity: ending an activity locks its row before its keys, so the two would
--   deadlock. LOOP, FORCESEEK and ROWLOCK delete each session by its key, however many the plan was
--   made for. KEEPFIXED PLAN prevents a new plan when many rows have changed, see
--   0005_storage_sqlserver.sql.
CREATE OR ALTER PROCEDURE duroxide.cleanup_orphaned_sessions
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
SET DEADLOCK_PRIORITY LOW;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
DECLARE @orphaned TABLE (session_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY);
DECLARE @deleted BIGINT = 0, @portion INT = 1000;
WHILE @portion = 1000
BEGIN
    DELETE FROM @orphaned;
    INSERT INTO @orphaned (session_id)
    SELECT TOP (1000) s.session_id
    FROM duroxide.sessions AS s WITH (INDEX (ix_sessions_end))
    WHERE s.locked_until < @now
      AND NOT EXISTS (
          SELECT 1
          FROM duroxide.worker_queue AS q WITH (INDEX (ix_worker_queue_session))
          WHERE q.ready IN (0, 1)
            AND q.session_id = s.session_id
            AND q.session_id IS NOT NULL
      )
    OPTION (KEEPFIXED PLAN);
    SET @portion = @@ROWCOUNT;
    DELETE s
    FROM @orphaned AS o
    INNER LOOP JOIN duroxide.sessions AS s WITH (ROWLOCK, FORCESEEK, INDEX (pk_sessions)) ON s.session_id = o.session_id
    WHERE s.locked_until < @now;
    SET @deleted = @deleted + @@ROWCOUNT;
END;

-- gen:result Deleted
-- gen:columns (sessions bigint not null)
SELECT @deleted AS sessions;
GO
GRANT EXECUTE ON duroxide.cleanup_orphaned_sessions TO duroxide_runtime;
