-- Writes the rows of an instance and of its execution at the end of a turn, and adds those that are missing. The
-- instance is added once its name and version are known.
-- Helper of: ack_orchestration_item.
-- Transaction: the caller's, which has locked the inbox: nobody else adds the rows.
-- Parameters: those of ack_orchestration_item, and
--   @now         the present time, in milliseconds since 1970 UTC
--   @version_id  the version of the framework; NULL leaves it
--   @finished    1 if @status ends the execution
-- Locks: code_names (shared), instances, executions (the rows, by the primary key).
-- gen:internal
-- vet:allow Q10: the inbox is locked, so nobody else adds the rows
CREATE OR ALTER PROCEDURE duroxide.write_execution
    @instance_id        NVARCHAR(400),
    @execution_id       BIGINT,
    @now                BIGINT,
    @name               NVARCHAR(MAX),
    @version            NVARCHAR(MAX),
    @code_name          NVARCHAR(401),
    @code_version       NVARCHAR(401),
    @parent_instance_id NVARCHAR(400),
    @version_id         INT,
    @status             NVARCHAR(32),
    @output             NVARCHAR(MAX),
    @finished           BIT,
    @set_custom_status  BIT,
    @custom_status      NVARCHAR(MAX)
AS
DECLARE @named BIT = CASE WHEN @name IS NOT NULL AND @version IS NOT NULL THEN 1 ELSE 0 END,
    @code_id INT = COALESCE((SELECT c.id FROM duroxide.code_names AS c WITH (INDEX (uq_code_names)) WHERE c.name = @code_name AND c.version = @code_version), 0);
UPDATE i
SET current_execution_id = CASE WHEN i.current_execution_id < @execution_id THEN @execution_id ELSE i.current_execution_id END,
    updated_at = @now,
    orchestration_name = CASE WHEN @named = 1 THEN @name ELSE i.orchestration_name END,
    orchestration_version = CASE WHEN @named = 1 THEN @version ELSE i.orchestration_version END,
    custom_status = CASE WHEN @set_custom_status = 1 THEN @custom_status ELSE i.custom_status END,
    custom_status_version = i.custom_status_version + CASE WHEN @set_custom_status = 1 THEN 1 ELSE 0 END
FROM duroxide.instances AS i WITH (ROWLOCK, INDEX (pk_instances))
WHERE i.instance_id = @instance_id;
IF @@ROWCOUNT = 0 AND @named = 1
    INSERT INTO duroxide.instances
        (instance_id, orchestration_name, orchestration_version, current_execution_id, parent_instance_id, custom_status, custom_status_version,
        created_at, updated_at)
    VALUES (
        @instance_id, @name, @version, @execution_id, @parent_instance_id, CASE WHEN @set_custom_status = 1 THEN @custom_status END,
        CASE WHEN @set_custom_status = 1 THEN 1 ELSE 0 END, @now, @now
    );
UPDATE e
SET status = COALESCE(@status, e.status),
    output = CASE WHEN @status IS NULL THEN e.output ELSE @output END,
    version_id = COALESCE(@version_id, e.version_id),
    code_id = CASE WHEN @named = 1 THEN @code_id ELSE e.code_id END,
    completed_at = CASE WHEN @status IS NULL THEN e.completed_at WHEN @finished = 1 THEN @now END
FROM duroxide.executions AS e WITH (ROWLOCK, INDEX (pk_executions))
WHERE e.instance_id = @instance_id AND e.execution_id = @execution_id;
IF @@ROWCOUNT = 0
    INSERT INTO duroxide.executions (instance_id, execution_id, status, output, version_id, code_id, started_at, completed_at)
    VALUES (
        @instance_id, @execution_id, COALESCE(@status, N'Running'), CASE WHEN @status IS NULL THEN NULL ELSE @output END,
        COALESCE(@version_id, 0), CASE WHEN @named = 1 THEN @code_id ELSE 0 END, @now, CASE WHEN @finished = 1 THEN @now END
    );
