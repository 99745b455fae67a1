-- Locks the inboxes of instances for the rest of the transaction, and adds those that are
-- missing: see lock_inbox. The number of statements does not depend on the number of
-- instances.
--
-- Those that are there are locked in the order of their ids, so that two callers do not
-- deadlock, and then those that are missing are added in that order. Only if somebody has
-- added one of them meanwhile, it is done again.
--
-- Locks: inboxes, by the primary key.
-- Hints: LOOP takes the rows in the order of the list, whose key is the id, and INDEX each by
-- a seek. READCOMMITTEDLOCK, ROWLOCK: see lock_inbox. UPDLOCK keeps a row that somebody has
-- just added until it is locked.
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
    INNER LOOP JOIN duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, ROWLOCK, INDEX (pk_inboxes)) ON b.instance_id = o.instance_id;
    SET @missing = @count - @@ROWCOUNT;
    IF @missing > 0
    BEGIN
        -- vet:allow P1-atomic: in the caller's transaction
        INSERT INTO duroxide.inboxes (instance_id)
        SELECT o.instance_id
        FROM @ordered AS o
        WHERE NOT EXISTS (
            SELECT 1
            -- vet:allow Q10: see lock_inbox
            FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, UPDLOCK, ROWLOCK, INDEX (pk_inboxes))
            WHERE b.instance_id = o.instance_id
        )
        ORDER BY o.instance_id;
        SET @missing = @missing - @@ROWCOUNT;
    END;
END;
