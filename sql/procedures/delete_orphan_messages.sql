-- Deletes messages for instances that never began, as count_orphan_messages counts them. No claim returns such
-- messages, so they would stay for ever. It looks at 1,000 ids that have messages, and deletes those of up to 50 that
-- never began.
-- Called by: Store.DeleteOrphanMessages.
-- Transaction: its own.
-- Parameters:
--   @older_than_ms  only messages that have been visible for so long
--   @after          the id after which to begin; NULL for the first
-- Result sets:
--   1 Orphans: how many ids the deleted messages named, how many messages were deleted, and the id after which to
--     continue; NULL if there are no more
-- Locks: orchestrator_queue, instances, history (shared, while it looks for ids); then inboxes (by lock_inboxes) and
--   orchestrator_queue (by pk_orchestrator_queue).
-- gen:null @after
CREATE OR ALTER PROCEDURE duroxide.delete_orphan_messages
    @older_than_ms BIGINT,
    @after         NVARCHAR(400)
AS
SET NOCOUNT, XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
SET DEADLOCK_PRIORITY LOW;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
DECLARE @before BIGINT = @now - @older_than_ms;
-- An orphan has messages to delete, and no start.
DECLARE @page TABLE (instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY, orphan BIT NOT NULL);
DECLARE @orphans duroxide.id_list_v1, @queues duroxide.queue_list_v1;
DECLARE @gone TABLE (instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL);
DECLARE @emptied TABLE (instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY);
DECLARE @read INT, @found INT, @id NVARCHAR(400), @next NVARCHAR(400);
INSERT INTO @page (instance_id, orphan)
SELECT TOP (1000) q.instance_id,
    MIN(CASE WHEN q.kind IN (1, 2) THEN 0 ELSE 1 END) * MAX(CASE WHEN q.kind IN (0, 3, 4) AND q.visible_at <= @before THEN 1 ELSE 0 END)
FROM duroxide.orchestrator_queue AS q WITH (INDEX (pk_orchestrator_queue))
-- No stored id has this character, so the first is behind it, see list_instance_page.
WHERE q.instance_id > COALESCE(@after, NCHAR(1))
GROUP BY q.instance_id
ORDER BY q.instance_id
OPTION (KEEPFIXED PLAN);
SET @read = @@ROWCOUNT;
INSERT INTO @orphans (position, id)
SELECT TOP (50) ROW_NUMBER() OVER (ORDER BY k.instance_id), k.instance_id
FROM @page AS k
WHERE k.orphan = 1
  AND NOT EXISTS (SELECT 1 FROM duroxide.instances AS i WITH (INDEX (pk_instances)) WHERE i.instance_id = k.instance_id)
  AND NOT EXISTS (SELECT 1 FROM duroxide.history AS h WITH (INDEX (pk_history)) WHERE h.instance_id = k.instance_id)
ORDER BY k.instance_id
OPTION (LOOP JOIN);
SET @found = @@ROWCOUNT;
IF @found = 50
    SELECT @next = MAX(o.id) FROM @orphans AS o;
ELSE IF @read = 1000
    SELECT @next = MAX(k.instance_id) FROM @page AS k;
BEGIN TRY
    BEGIN TRANSACTION;
    EXEC duroxide.lock_inboxes @instances = @orphans;
    -- Since it was found one may have been started; from here on it cannot be.
    DELETE o
    FROM @orphans AS o
    WHERE EXISTS (SELECT 1 FROM duroxide.instances AS i WITH (INDEX (pk_instances)) WHERE i.instance_id = o.id)
       OR EXISTS (
           SELECT 1 FROM duroxide.orchestrator_queue AS s WITH (INDEX (pk_orchestrator_queue)) WHERE s.instance_id = o.id AND s.kind IN (1, 2)
       )
    OPTION (LOOP JOIN, KEEPFIXED PLAN);
    -- vet:allow Q7-top: they are those of ids that nobody waits for, and never become a lock of the table
    DELETE q
    OUTPUT deleted.instance_id INTO @gone (instance_id)
    FROM @orphans AS o
    INNER LOOP JOIN duroxide.orchestrator_queue AS q WITH (ROWLOCK, INDEX (pk_orchestrator_queue)) ON q.instance_id = o.id
    WHERE q.kind IN (0, 3, 4) AND q.visible_at <= @before
    OPTION (LOOP JOIN, KEEPFIXED PLAN);
    -- vet:allow Q6-order: lock_inboxes has locked the rows before
    DELETE TOP (50) b
    OUTPUT deleted.instance_id INTO @emptied (instance_id)
    FROM @orphans AS o
    INNER LOOP JOIN duroxide.inboxes AS b WITH (ROWLOCK, INDEX (pk_inboxes)) ON b.instance_id = o.id
    WHERE (b.lock_token IS NULL OR b.locked_until <= @now)
      AND NOT EXISTS (SELECT 1 FROM duroxide.orchestrator_queue AS q WITH (INDEX (pk_orchestrator_queue)) WHERE q.instance_id = o.id)
    OPTION (LOOP JOIN, KEEPFIXED PLAN);
    -- The head of the others may be one of those deleted.
    SELECT @id = MIN(o.id) FROM @orphans AS o WHERE o.id NOT IN (SELECT e.instance_id FROM @emptied AS e);
    WHILE @id IS NOT NULL
    BEGIN
        EXEC duroxide.await_queues @instance_id = @id, @all = 1, @queues = @queues;
        EXEC duroxide.refresh_inbox @instance_id = @id, @now = @now, @keep_head = 0;
        SELECT @id = MIN(o.id) FROM @orphans AS o WHERE o.id > @id AND o.id NOT IN (SELECT e.instance_id FROM @emptied AS e);
    END;
    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;

-- gen:result Orphans
SELECT COUNT_BIG(DISTINCT g.instance_id) AS instances, COUNT_BIG(*) AS messages, @next AS after_instance_id
FROM @gone AS g;
GO
GRANT EXECUTE ON duroxide.delete_orphan_messages TO duroxide_admin;
