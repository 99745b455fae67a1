-- Reads all keys of an instance: those that the current execution has set, and those that earlier executions left and
-- the current one has not touched.
-- Called by: Store.GetKVAllValues.
-- Transaction: its own.
-- Result sets:
--   1 Values: in no order
-- Locks: inboxes (by hold_instance), kv_store, kv_delta (read, by the instance's index and the primary key).
CREATE OR ALTER PROCEDURE duroxide.get_kv_all_values
    @instance_id NVARCHAR(400)
AS
SET NOCOUNT, XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
BEGIN TRY
    BEGIN TRANSACTION;
    EXEC duroxide.hold_instance @instance_id = @instance_id;

    -- gen:result Values
    SELECT x.kv_key, x.value
    FROM (
        SELECT s.kv_key, s.value
        FROM duroxide.kv_store AS s WITH (INDEX (ix_kv_store_instance))
        WHERE s.instance_id = @instance_id
          AND NOT EXISTS (
              SELECT 1 FROM duroxide.kv_delta AS t WITH (INDEX (pk_kv_delta))
              WHERE t.instance_id = s.instance_id AND t.kv_key = s.kv_key
          )
        UNION ALL
        SELECT d.kv_key, d.value
        FROM duroxide.kv_delta AS d WITH (INDEX (ix_kv_delta_instance))
        WHERE d.instance_id = @instance_id
    ) AS x
    WHERE x.value IS NOT NULL;

    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;
GO
GRANT EXECUTE ON duroxide.get_kv_all_values TO duroxide_reader;
