-- Deletes a list of instances, all or none (§6.16). Ids that no instance has are
-- ignored, except that what is queued for them is deleted too. Turns and activities in
-- progress lose their leases. Without @force nothing is deleted while one of the
-- instances runs. Nothing is deleted either, with or without it, while an instance
-- outside the list has its parent in it; one that is created later is as if it had
-- been created after the deletion.
--
-- Result sets:
--   1 Conflict: why nothing was deleted, none if it was. Without a parent: the instance
--     that still runs. With one: the instance outside the list whose parent is in it
--   2 Counts: what was deleted; messages are those of both queues
--
-- Locks: inboxes (in the order of their ids), orchestrator_queue, instances,
-- executions, history, kv_store, kv_delta, worker_queue.
-- Hints: LOOP and INDEX come to the rows of the list by seeks, and to an execution by its
-- instance, even if the plan was made for other lists (rule Q9). See also lock_inbox, which
-- this calls.
CREATE OR ALTER PROCEDURE duroxide.delete_instances
    @list  duroxide.id_list_v1 READONLY,
    @force BIT
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
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
        WHERE i.parent_instance_id IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM @list AS k WHERE k.id = i.instance_id)
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
-- gen:columns (instances bigint not null, executions bigint not null, events bigint not null, messages bigint not null)
SELECT @instances AS instances, @executions AS executions, @events AS events, @messages AS messages;
