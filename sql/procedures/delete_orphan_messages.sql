-- Deletes messages for instances that never began, as count_orphan_messages counts them. No fetch
-- returns such messages, so they would stay for ever.
--
-- A page of 100 ids that have messages is read, and each that never began is a transaction of its
-- own. The call ends when it has taken @budget_ms, looked at after each id and each page, or at the
-- first error if something was deleted before it. The next call continues.
--
-- Called by: Store.DeleteOrphanMessages.
-- Transaction: its own, one for each id.
--
-- Parameters:
--   @older_than_ms  only messages that have been visible for so many milliseconds
--   @budget_ms      the time in milliseconds after which no other id is begun
--   @after          the id after which to begin; NULL for the first
--
-- Result sets:
--   1 Orphans: how many ids the deleted messages named, how many messages were deleted, and the id after
--     which to continue; NULL if there are no more
--
-- Locks: orchestrator_queue, instances, history (shared, while it looks for ids); then for each
--   id inboxes (by lock_inbox) and orchestrator_queue (by pk_orchestrator_queue).
--
-- Hints: INDEX reads a page of ids, and the messages of one, by one index each. ROWLOCK keeps the
--   locks to rows. KEEPFIXED PLAN prevents a new plan when many rows have changed, see
--   0005_storage.sql.
--
-- gen:null @after
CREATE OR ALTER PROCEDURE duroxide.delete_orphan_messages
    @older_than_ms BIGINT,
    @budget_ms     BIGINT,
    @after         NVARCHAR(400)
AS
SET NOCOUNT, XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
SET DEADLOCK_PRIORITY LOW;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
DECLARE @before BIGINT = @now - @older_than_ms;
DECLARE @ids TABLE (
    instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY,
    -- It has messages to delete, and no start.
    orphan      BIT           NOT NULL
);
-- No stored id has this character, so the first is behind it. It would not be behind the empty
-- text, see list_instance_page.
DECLARE @last NVARCHAR(400) = COALESCE(@after, NCHAR(1)), @page NVARCHAR(400), @id NVARCHAR(400);
DECLARE @found INT = 100, @portion INT, @of_id BIGINT;
DECLARE @queues duroxide.queue_list_v1;
DECLARE @instances BIGINT = 0, @messages BIGINT = 0, @in_time BIT = 1;
BEGIN TRY
    WHILE @found = 100 AND @in_time = 1
    BEGIN
        -- A page of ids, and which of them never began.
        DELETE FROM @ids;
        INSERT INTO @ids (instance_id, orphan)
        SELECT TOP (100) q.instance_id,
            MIN(CASE WHEN q.kind IN (1, 2) THEN 0 ELSE 1 END) * MAX(CASE WHEN q.kind IN (0, 3, 4) AND q.visible_at <= @before THEN 1 ELSE 0 END)
        FROM duroxide.orchestrator_queue AS q WITH (INDEX (pk_orchestrator_queue))
        WHERE q.instance_id > @last
        GROUP BY q.instance_id
        ORDER BY q.instance_id
        OPTION (KEEPFIXED PLAN);
        SET @found = @@ROWCOUNT;
        SELECT @page = MAX(k.instance_id) FROM @ids AS k;
        UPDATE k
        SET orphan = 0
        FROM @ids AS k
        WHERE k.orphan = 1
          AND (EXISTS (SELECT 1 FROM duroxide.instances AS i WITH (INDEX (pk_instances)) WHERE i.instance_id = k.instance_id)
              OR EXISTS (SELECT 1 FROM duroxide.history AS h WITH (INDEX (pk_history)) WHERE h.instance_id = k.instance_id));

        SELECT @id = MIN(k.instance_id) FROM @ids AS k WHERE k.orphan = 1;
        WHILE @id IS NOT NULL AND @in_time = 1
        BEGIN
            SET @of_id = 0;
            BEGIN TRANSACTION;
            EXEC duroxide.lock_inbox @instance_id = @id;
            -- Since it was found it may have been started; from here on it cannot be.
            IF NOT EXISTS (
                SELECT 1 FROM duroxide.instances AS i WITH (INDEX (pk_instances)) WHERE i.instance_id = @id
            )
            AND NOT EXISTS (
                SELECT 1 FROM duroxide.orchestrator_queue AS s WITH (INDEX (pk_orchestrator_queue))
                WHERE s.instance_id = @id AND s.kind IN (1, 2)
            )
            BEGIN
                SET @portion = 1000;
                WHILE @portion = 1000
                BEGIN
                    DELETE TOP (1000) q
                    FROM duroxide.orchestrator_queue AS q WITH (ROWLOCK, INDEX (pk_orchestrator_queue))
                    WHERE q.instance_id = @id
                      AND q.kind IN (0, 3, 4)
                      AND q.visible_at <= @before
                    OPTION (KEEPFIXED PLAN);
                    SET @portion = @@ROWCOUNT;
                    SET @of_id = @of_id + @portion;
                END;
                IF NOT EXISTS (
                    SELECT 1 FROM duroxide.orchestrator_queue AS q WITH (INDEX (pk_orchestrator_queue)) WHERE q.instance_id = @id
                )
                    -- vet:allow Q6-order: lock_inbox has locked the row before
                    DELETE b
                    FROM duroxide.inboxes AS b WITH (ROWLOCK, INDEX (pk_inboxes))
                    WHERE b.instance_id = @id
                      AND (b.lock_token IS NULL OR b.locked_until <= @now)
                    OPTION (KEEPFIXED PLAN);
            END;
            -- The head may be one of those deleted.
            EXEC duroxide.await_queues @instance_id = @id, @all = 1, @queues = @queues;
            EXEC duroxide.refresh_inbox @instance_id = @id, @now = @now, @keep_head = 0;
            COMMIT TRANSACTION;

            SET @messages = @messages + @of_id;
            IF @of_id > 0
                SET @instances = @instances + 1;
            -- How long the call has taken so far.
            IF DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) - @now >= @budget_ms
                SET @in_time = 0;
            SET @last = @id;
            SELECT @id = MIN(k.instance_id) FROM @ids AS k WHERE k.instance_id > @last AND k.orphan = 1;
        END;
        IF @id IS NULL AND @found > 0
            SET @last = @page;
        IF DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) - @now >= @budget_ms
            SET @in_time = 0;
    END;
END TRY
BEGIN CATCH
    -- vet:allow P5-swallow: the next call goes on at the same place and meets the error again
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    IF @instances = 0
        THROW;
    SET @in_time = 0;
END CATCH;

-- gen:result Orphans
/* gen:columns (instances bigint not null, messages bigint not null, after_instance_id nvarchar(400)) */
SELECT @instances AS instances, @messages AS messages, CASE WHEN @in_time = 0 THEN @last END AS after_instance_id;
GO
GRANT EXECUTE ON duroxide.delete_orphan_messages TO duroxide_admin;
