-- Deletes sessions that have expired and have no activities left (§5.15). One that is
-- needed again is made again by the next fetch: so it does not matter if an activity
-- arrives between the look at the queue and the deletion, and no lock on the queue is
-- held while a session is locked. Each portion is a transaction of its own; what an
-- error leaves behind, the next call finds.
--
-- Result sets:
--   1 Deleted: how many sessions
--
-- Locks: sessions.
--
-- Hints: LOOP, FORCESEEK and ROWLOCK delete each by its key, whatever number of them the
-- plan was made for, and INDEX finds those that have ended (rule Q9).
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
          FROM duroxide.worker_queue AS q
          WHERE q.ready IN (0, 1)
            AND q.session_id = s.session_id
            AND q.session_id IS NOT NULL
      );
    SET @portion = @@ROWCOUNT;
    DELETE s
    FROM @orphaned AS o
    INNER LOOP JOIN duroxide.sessions AS s WITH (ROWLOCK, FORCESEEK (pk_sessions (session_id))) ON s.session_id = o.session_id
    WHERE s.locked_until < @now;
    SET @deleted = @deleted + @@ROWCOUNT;
END;

-- gen:result Deleted
-- gen:columns (sessions bigint not null)
SELECT @deleted AS sessions;
