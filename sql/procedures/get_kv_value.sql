-- Reads one key of an instance: the value from the current execution, otherwise the value from earlier executions.
-- Called by: Store.GetKVValue.
-- Transaction: its own.
-- Result sets:
--   1 Value: no row for an unknown instance or key; NULL if the key was cleared
-- Locks: inboxes (by hold_instance), kv_delta, kv_store (read, by the primary key).
CREATE OR ALTER PROCEDURE duroxide.get_kv_value
    @instance_id NVARCHAR(400),
    @kv_key      NVARCHAR(400)
AS
SET NOCOUNT, XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
BEGIN TRY
    BEGIN TRANSACTION;
    EXEC duroxide.hold_instance @instance_id = @instance_id;

    -- gen:result Value
    SELECT TOP (1) x.value
    FROM (
        SELECT d.value, 0 AS place
        FROM duroxide.kv_delta AS d WITH (INDEX (pk_kv_delta))
        WHERE d.instance_id = @instance_id AND d.kv_key = @kv_key
        UNION ALL
        SELECT s.value, 1 AS place
        FROM duroxide.kv_store AS s WITH (INDEX (pk_kv_store))
        WHERE s.instance_id = @instance_id AND s.kv_key = @kv_key
    ) AS x
    ORDER BY x.place;

    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;
GO
GRANT EXECUTE ON duroxide.get_kv_value TO duroxide_reader;
