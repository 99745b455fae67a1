-- Keeps what an instance has as it is until the end of the transaction, for a procedure
-- that reads it from several places: whoever changes any of it locks the inbox first.
--
-- Under row versioning there is nothing to do, as a statement reads everything as of
-- its beginning, and nobody waits. Where reads wait for writers instead, a statement
-- sees one table before such a change and the next one after it, and what moves between
-- the two is in neither.
--
-- Locks: inboxes, shared.
-- Hints: REPEATABLEREAD keeps the lock until the end of the transaction, ROWLOCK keeps
-- it to the row.
CREATE OR ALTER PROCEDURE duroxide.hold_instance
    @instance_id NVARCHAR(400)
AS
SET NOCOUNT ON;
DECLARE @held NVARCHAR(400);
IF EXISTS (
    SELECT 1
    FROM sys.databases AS d
    WHERE d.database_id = DB_ID()
      AND d.is_read_committed_snapshot_on = 0
)
    SELECT @held = b.instance_id
    FROM duroxide.inboxes AS b WITH (REPEATABLEREAD, ROWLOCK)
    WHERE b.instance_id = @instance_id;
