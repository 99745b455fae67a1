-- Keeps the data of an instance unchanged until the end of the transaction, for a procedure that reads several
-- tables: every change of these data locks the inbox first. Under row versioning each statement reads everything as
-- of its beginning, so nothing needs to be locked.
-- Helper of: get_instance_stats, get_kv_all_values, get_kv_value.
-- Transaction: the caller's, which keeps the lock.
-- Locks: inboxes (the instance's row, shared, by pk_inboxes; none under row versioning).
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.hold_instance
    @instance_id NVARCHAR(400)
AS
DECLARE @held NVARCHAR(400);
IF EXISTS (
    SELECT 1 FROM sys.databases AS d WHERE d.name = DB_NAME() AND d.is_read_committed_snapshot_on = 0
)
    SELECT @held = b.instance_id
    FROM duroxide.inboxes AS b WITH (REPEATABLEREAD, ROWLOCK)
    WHERE b.instance_id = @instance_id
    OPTION (KEEPFIXED PLAN);
