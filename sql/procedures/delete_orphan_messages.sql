-- Deletes messages for instances that never began, as count_orphan_messages counts them.
-- Nobody fetches them, so without this they stay for ever.
--
-- The ids are found a hundred at a time, in order, by the index of the queue, and each is
-- a transaction of its own. After each the call ends if it has taken @budget_ms
-- milliseconds: the next goes on.
--
-- Result sets:
--   1 Orphans: how many instance ids the deleted messages named, how many messages were
--     deleted, and whether there may be more
--
-- Locks: inboxes, orchestrator_queue.
-- Hints: see lock_inbox, which this calls.
--
-- Errors:
--   50001 wrong_isolation_level: the session is not under READ COMMITTED; do not set
--         an isolation level on the connections that the store uses
CREATE OR ALTER PROCEDURE duroxide.delete_orphan_messages
    @older_than_ms BIGINT,
    @budget_ms     BIGINT
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
SET DEADLOCK_PRIORITY LOW;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
DECLARE @before BIGINT = @now - @older_than_ms;
DECLARE @ids TABLE (instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY);
-- No id is empty, so the first is behind this.
DECLARE @id NVARCHAR(400) = N'', @last NVARCHAR(400) = N'';
DECLARE @found INT = 100, @portion INT, @of_id BIGINT;
DECLARE @instances BIGINT = 0, @messages BIGINT = 0, @in_time BIT = 1;
BEGIN TRY
    EXEC duroxide.require_read_committed;
    WHILE @found = 100 AND @in_time = 1
    BEGIN
        DELETE FROM @ids;
        INSERT INTO @ids (instance_id)
        SELECT TOP (100) q.instance_id
        FROM duroxide.orchestrator_queue AS q
        WHERE q.instance_id > @last
          AND q.kind IN (0, 3)
          AND q.visible_at <= @before
          AND NOT EXISTS (SELECT 1 FROM duroxide.instances AS i WHERE i.instance_id = q.instance_id)
          AND NOT EXISTS (SELECT 1 FROM duroxide.history AS h WHERE h.instance_id = q.instance_id)
          AND NOT EXISTS (
              SELECT 1
              FROM duroxide.orchestrator_queue AS s
              WHERE s.instance_id = q.instance_id
                AND s.kind IN (1, 2)
          )
        GROUP BY q.instance_id
        ORDER BY q.instance_id;
        SET @found = @@ROWCOUNT;
        SELECT @last = MAX(k.instance_id) FROM @ids AS k;

        SELECT @id = MIN(k.instance_id) FROM @ids AS k;
        WHILE @id IS NOT NULL AND @in_time = 1
        BEGIN
            SET @of_id = 0;
            BEGIN TRANSACTION;
            EXEC duroxide.lock_inbox @instance_id = @id;
            -- Since it was found it may have been started; from here on it cannot be.
            IF NOT EXISTS (
                SELECT 1 FROM duroxide.instances AS i WHERE i.instance_id = @id
            )
            AND NOT EXISTS (
                SELECT 1 FROM duroxide.orchestrator_queue AS s WHERE s.instance_id = @id AND s.kind IN (1, 2)
            )
            BEGIN
                SET @portion = 1000;
                WHILE @portion = 1000
                BEGIN
                    DELETE TOP (1000) FROM duroxide.orchestrator_queue
                    WHERE instance_id = @id
                      AND kind IN (0, 3)
                      AND visible_at <= @before;
                    SET @portion = @@ROWCOUNT;
                    SET @of_id = @of_id + @portion;
                END;
                IF NOT EXISTS (
                    SELECT 1 FROM duroxide.orchestrator_queue AS q WHERE q.instance_id = @id
                )
                    -- vet:allow Q6-order: lock_inbox has locked the row before
                    DELETE FROM duroxide.inboxes
                    WHERE instance_id = @id
                      AND (lock_token IS NULL OR locked_until <= @now);
            END;
            EXEC duroxide.refresh_inbox @instance_id = @id, @now = @now;
            COMMIT TRANSACTION;

            SET @messages = @messages + @of_id;
            IF @of_id > 0
                SET @instances = @instances + 1;
            -- How long the call has taken so far.
            IF DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) - @now >= @budget_ms
                SET @in_time = 0;
            SELECT @id = MIN(k.instance_id) FROM @ids AS k WHERE k.instance_id > @id;
        END;
    END;
END TRY
BEGIN CATCH
    -- vet:allow P5-swallow: the next call meets the error again, as there are more
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    IF @instances = 0
        THROW;
    SET @in_time = 0;
END CATCH;

-- gen:result Orphans
/* gen:columns (instances bigint not null, messages bigint not null, more bit not null) */
SELECT @instances AS instances, @messages AS messages, CAST(CASE WHEN @in_time = 1 THEN 0 ELSE 1 END AS BIT) AS more;
