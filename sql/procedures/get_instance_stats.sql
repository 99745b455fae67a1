-- Measures an instance: the history of its current execution, and its keys as get_kv_all_values shows them. Sizes are
-- bytes of UTF-8.
-- Called by: Store.GetInstanceStats.
-- Transaction: its own.
-- Parameters:
--   @instance_id  the instance
-- Result sets:
--   1 Stats: no row if there is no such instance. first_event is event 1, which tells how many messages
--     the execution began with; NULL without one
-- Locks: inboxes (shared, by hold_instance, where reads wait for writers), then instances, history, kv_store,
--   kv_delta (shared, by the primary key).
CREATE OR ALTER PROCEDURE duroxide.get_instance_stats
    @instance_id NVARCHAR(400)
AS
SET NOCOUNT, XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
BEGIN TRY
    BEGIN TRANSACTION;
    EXEC duroxide.hold_instance @instance_id = @instance_id;

    -- gen:result Stats
    SELECT h.event_count, h.event_bytes, k.key_count, k.value_bytes, f.event_data AS first_event
    FROM duroxide.instances AS i
    CROSS APPLY (
        SELECT COUNT_BIG(*) AS event_count, COALESCE(SUM(e.data_bytes), 0) AS event_bytes
        FROM duroxide.history AS e
        WHERE e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
    ) AS h
    CROSS APPLY (
        SELECT COUNT_BIG(*) AS key_count, COALESCE(SUM(x.value_bytes), 0) AS value_bytes
        FROM (
            SELECT s.value_bytes
            FROM duroxide.kv_store AS s
            WHERE s.instance_id = i.instance_id
              AND NOT EXISTS (
                  SELECT 1 FROM duroxide.kv_delta AS t WHERE t.instance_id = s.instance_id
                    AND t.kv_key = s.kv_key
              )
            UNION ALL
            SELECT d.value_bytes
            FROM duroxide.kv_delta AS d
            WHERE d.instance_id = i.instance_id AND d.value IS NOT NULL
        ) AS x
    ) AS k
    LEFT JOIN duroxide.history AS f
        ON f.instance_id = i.instance_id AND f.execution_id = i.current_execution_id AND f.event_id = 1
    WHERE i.instance_id = @instance_id;

    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;
GO
GRANT EXECUTE ON duroxide.get_instance_stats TO duroxide_reader;
