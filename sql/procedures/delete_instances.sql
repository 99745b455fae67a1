-- Deletes a list of instances, all or none. For an id that no instance has, the queued messages and activities are
-- deleted. Turns and activities in progress lose their leases. If an instance outside of the list has its parent in
-- the list, nothing is deleted. An instance that is created later counts as created after the deletion.
-- Called by: Store.DeleteInstancesAtomic.
-- Transaction: its own, rolled back if there is a conflict.
-- Parameters:
--   @force  0 deletes nothing while an instance of the list runs
-- Result sets:
--   1 Conflict: why nothing was deleted; no row if it was. Without a parent, the instance that runs; with one, the
--     instance outside of the list whose parent is in it
--   2 Counts: how many rows were deleted; messages are those of both queues
-- Locks: inboxes (in the order of ids, by lock_inboxes); instances, executions (shared, by the primary key and
--   ix_instances_parent); and by delete_list all tables of an instance.
CREATE OR ALTER PROCEDURE duroxide.delete_instances
    @list  duroxide.id_list_v1 READONLY,
    @force BIT
AS
SET NOCOUNT, XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
SET DEADLOCK_PRIORITY LOW;
DECLARE @conflict NVARCHAR(400), @parent NVARCHAR(400);
DECLARE @instances BIGINT = 0, @executions BIGINT = 0, @events BIGINT = 0, @messages BIGINT = 0;
BEGIN TRY
    BEGIN TRANSACTION;
    EXEC duroxide.lock_inboxes @instances = @list;

    IF @force = 0
        SELECT TOP (1) @conflict = i.instance_id
        FROM @list AS l
        INNER LOOP JOIN duroxide.instances AS i WITH (INDEX (pk_instances)) ON i.instance_id = l.id
        INNER LOOP JOIN duroxide.executions AS e WITH (INDEX (pk_executions))
            ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
        WHERE e.status = N'Running'
        ORDER BY i.sequence;

    IF @conflict IS NULL
        SELECT TOP (1) @conflict = i.instance_id, @parent = i.parent_instance_id
        FROM @list AS l
        INNER LOOP JOIN duroxide.instances AS i WITH (INDEX (ix_instances_parent)) ON i.parent_instance_id = l.id
        -- The first condition is the filter of ix_instances_parent.
        WHERE i.parent_instance_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM @list AS k WHERE k.id = i.instance_id)
        ORDER BY i.sequence;

    IF @conflict IS NULL
    BEGIN
        EXEC duroxide.delete_list @list = @list, @instances = @instances OUTPUT, @executions = @executions OUTPUT,
            @events = @events OUTPUT, @messages = @messages OUTPUT;
        COMMIT TRANSACTION;
    END
    ELSE
        ROLLBACK TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;

-- gen:result Conflict
-- gen:columns (instance_id nvarchar(400) not null, parent_instance_id nvarchar(400))
SELECT @conflict AS instance_id, @parent AS parent_instance_id
WHERE @conflict IS NOT NULL;

-- gen:result Counts
SELECT @instances AS instances, @executions AS executions, @events AS events, @messages AS messages;
GO
GRANT EXECUTE ON duroxide.delete_instances TO duroxide_admin;
