-- Locks the inboxes of instances, and adds those that are missing: lock_inbox for many. The
-- number of statements does not depend on the number of instances.
--
-- Rows that exist are locked in the order of their ids, so that two callers do not deadlock, and
-- then missing ones are added in that order. The procedure repeats this only if somebody else
-- has added one of them meanwhile.
--
-- Helper of: ack_orchestration_item, delete_instance, delete_instance_bulk, delete_instances.
-- Transaction: the caller's, which keeps the locks.
--
-- Parameters:
--   @instances  the instances; an id may be there twice
--
-- Locks: inboxes (the instances' rows, exclusive, by pk_inboxes in the order of ids).
--
-- Hints: LOOP takes the rows in the order of the list, whose key is the id, and INDEX each by a
--   seek. READCOMMITTEDLOCK and ROWLOCK are explained in lock_inbox. UPDLOCK keeps a row that
--   somebody has just added until it is locked. KEEPFIXED PLAN keeps the plan however many rows
--   change: see 0005_storage_sqlserver.sql.
CREATE OR ALTER PROCEDURE duroxide.lock_inboxes
    @instances duroxide.id_list_v1 READONLY
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
DECLARE @ordered TABLE (instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY);
DECLARE @missing INT = 1, @count INT;
INSERT INTO @ordered (instance_id)
SELECT DISTINCT n.id
FROM @instances AS n;
SET @count = @@ROWCOUNT;
WHILE @missing > 0
BEGIN
    UPDATE b
    SET version_id = b.version_id
    FROM @ordered AS o
    INNER LOOP JOIN duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, ROWLOCK, INDEX (pk_inboxes)) ON b.instance_id = o.instance_id
    OPTION (KEEPFIXED PLAN);
    SET @missing = @count - @@ROWCOUNT;
    IF @missing > 0
    BEGIN
        INSERT INTO duroxide.inboxes (instance_id)
        SELECT o.instance_id
        FROM @ordered AS o
        WHERE NOT EXISTS (
            SELECT 1
            -- vet:allow Q10: see lock_inbox
            FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, UPDLOCK, ROWLOCK, INDEX (pk_inboxes))
            WHERE b.instance_id = o.instance_id
        )
        ORDER BY o.instance_id
        OPTION (KEEPFIXED PLAN);
        SET @missing = @missing - @@ROWCOUNT;
    END;
END;
