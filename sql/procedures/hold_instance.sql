-- Keeps what an instance has as it is until the end of the transaction, for a procedure that
-- reads it from several tables: whoever changes any of it locks the inbox first.
--
-- Under row versioning there is nothing to do: a statement reads everything as of its beginning.
-- Where reads wait for writers, a statement sees one table before a change and the next one
-- after it, and would miss what moves between the two.
--
-- Helper of: get_instance_stats, get_kv_all_values, get_kv_value.
-- Transaction: the caller's, which keeps the lock.
--
-- Parameters:
--   @instance_id  the instance
--
-- Locks: inboxes (the instance's row, shared, by pk_inboxes; none under row versioning).
--
-- Hints: REPEATABLEREAD keeps the lock until the end of the transaction, ROWLOCK keeps it to the
--   row. KEEPFIXED PLAN keeps the plan however many rows change: see 0005_storage_sqlserver.sql.
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
    WHERE b.instance_id = @instance_id
    OPTION (KEEPFIXED PLAN);
