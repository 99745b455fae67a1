-- Moves the end of all live sessions of owners to a time from now. Sessions that have ended, or have been idle for
-- too long, are not renewed.
-- Called by: Store.RenewSessionLock.
-- Transaction: its own.
-- Parameters:
--   @owners     the owners
--   @extend_ms  how long the sessions last from now on, in milliseconds
--   @idle_ms    leaves out sessions in which nothing has happened for so many milliseconds
-- Result sets:
--   1 Renewed: how many sessions
-- Locks: sessions (the owners' rows, exclusive, by pk_sessions in the order of ids; they are found by
--   ix_sessions_owner alone, without a lock). A wait for a lock ends after a second with error 1222 (LOCK_TIMEOUT,
--   see README.md).
CREATE OR ALTER PROCEDURE duroxide.renew_session_lock
    @owners    duroxide.id_list_v1 READONLY,
    @extend_ms BIGINT,
    @idle_ms   BIGINT
AS
SET NOCOUNT, XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
IF @@LOCK_TIMEOUT = -1
    SET LOCK_TIMEOUT 1000;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
DECLARE @mine TABLE (session_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY);
DECLARE @renewed BIGINT;
BEGIN TRY
    BEGIN TRANSACTION;

    -- Found by the owner, written by the id: whoever writes the row locks it first and its
    -- keys in the indexes after it, so nobody may come the other way. A session that
    -- changes hands meanwhile may be found twice.
    INSERT INTO @mine (session_id)
    SELECT DISTINCT s.session_id
    FROM @owners AS o
    INNER LOOP JOIN duroxide.sessions AS s WITH (INDEX (ix_sessions_owner)) ON s.worker_id = o.id
    WHERE s.locked_until > @now
    OPTION (KEEPFIXED PLAN);
    -- vet:allow Q3: a session's lease has an owner instead of a token
    UPDATE s
    SET locked_until = @now + @extend_ms
    FROM @mine AS m
    INNER LOOP JOIN duroxide.sessions AS s WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_sessions)) ON s.session_id = m.session_id
    WHERE s.worker_id IN (SELECT o.id FROM @owners AS o) AND s.locked_until > @now
      AND s.last_activity_at > @now - @idle_ms
    OPTION (KEEPFIXED PLAN);
    SET @renewed = @@ROWCOUNT;

    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;

-- gen:result Renewed
SELECT @renewed AS sessions;
GO
GRANT EXECUTE ON duroxide.renew_session_lock TO duroxide_runtime;
