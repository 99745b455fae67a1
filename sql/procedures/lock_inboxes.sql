-- Locks the inboxes of instances for the rest of the transaction, in the order of
-- their ids, and adds those that are missing: see lock_inbox.
--
-- Locks: inboxes.
-- Hints: see lock_inbox, which this calls.
CREATE OR ALTER PROCEDURE duroxide.lock_inboxes
    @instances duroxide.id_list_v1 READONLY
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
DECLARE @ordered TABLE (instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY);
DECLARE @next NVARCHAR(400);
INSERT INTO @ordered (instance_id)
SELECT DISTINCT n.id
FROM @instances AS n;
SELECT @next = MIN(o.instance_id) FROM @ordered AS o;
WHILE @next IS NOT NULL
BEGIN
    EXEC duroxide.lock_inbox @instance_id = @next;
    SELECT @next = MIN(o.instance_id) FROM @ordered AS o WHERE o.instance_id > @next;
END;
