-- Appends events to a history outside of a turn, for tests and tools: all of them, or none. It needs no lease and
-- creates no instance.
-- Called by: Store.AppendWithExecution.
-- Transaction: its own.
-- Locks: inboxes (the instance's row, by lock_inbox), history (the new events, by pk_history).
-- Errors:
--   50013 duplicate_event: the execution already has an event with one of the ids, or @events has an id twice
CREATE OR ALTER PROCEDURE duroxide.append_with_execution
    @instance_id  NVARCHAR(400),
    @execution_id BIGINT,
    @events       duroxide.event_list_v1 READONLY
AS
SET NOCOUNT, XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
BEGIN TRY
    BEGIN TRANSACTION;

    -- A history that has a start makes an instance without a row fetchable.
    EXEC duroxide.lock_inbox @instance_id = @instance_id;

    IF EXISTS (
        SELECT 1 FROM @events AS e
        -- vet:allow Q10: the inbox is locked, so nobody else adds events
        INNER LOOP JOIN duroxide.history AS h WITH (INDEX (pk_history))
            ON h.instance_id = @instance_id AND h.execution_id = @execution_id AND h.event_id = e.event_id
    )
        THROW 50013, N'The execution already has an event with one of the ids.', 1;
    IF EXISTS (SELECT 1 FROM @events AS e GROUP BY e.event_id HAVING COUNT(*) > 1)
        THROW 50013, N'Two of the events have the same id.', 1;

    INSERT INTO duroxide.history WITH (ROWLOCK) (instance_id, execution_id, event_id, event_type, event_data, data_bytes, created_at)
    SELECT @instance_id, @execution_id, e.event_id, e.event_type, e.event_data, e.data_bytes, @now
    FROM @events AS e;
    EXEC duroxide.refresh_inbox @instance_id = @instance_id, @now = @now;

    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;
GO
GRANT EXECUTE ON duroxide.append_with_execution TO duroxide_runtime;
