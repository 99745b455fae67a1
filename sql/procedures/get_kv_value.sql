-- Reads a key (§5.17): what the running execution has made of it, else what earlier
-- ones left.
--
-- Result sets:
--   1 Value: none for an unknown instance or key; NULL if the key was cleared
--
-- Locks: see hold_instance, which this calls: a reader comes to a row by its key in an index,
-- and whoever writes the row locks it first and its keys in the indexes after it.
-- Hints: INDEX finds the key by a seek, whatever the statistics say.
CREATE OR ALTER PROCEDURE duroxide.get_kv_value
    @instance_id NVARCHAR(400),
    @kv_key      NVARCHAR(400)
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
BEGIN TRY
    BEGIN TRANSACTION;
    EXEC duroxide.hold_instance @instance_id = @instance_id;

    -- gen:result Value
    SELECT TOP (1) x.value
    FROM (
        SELECT d.value, 0 AS place
        FROM duroxide.kv_delta AS d WITH (INDEX (pk_kv_delta))
        WHERE d.instance_id = @instance_id
          AND d.kv_key = @kv_key
        UNION ALL
        SELECT s.value, 1 AS place
        FROM duroxide.kv_store AS s WITH (INDEX (pk_kv_store))
        WHERE s.instance_id = @instance_id
          AND s.kv_key = @kv_key
    ) AS x
    ORDER BY x.place;

    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;
