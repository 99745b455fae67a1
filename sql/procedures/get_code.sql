-- Finds the number of a name of code, and gives it one if it has none. It is called before the caller's transaction
-- begins, so that others wait for a new name only while it is added. In a client's own transaction the new name stays
-- locked until that ends.
-- Helper of: add_codes, enqueue_for_orchestrator, enqueue_for_worker, requeue_work, start_instance.
-- Transaction: none.
-- Parameters:
--   @name, @version  NULL for what any worker may take: then @code_id is 0
-- Locks: code_names (by uq_code_names; the key's range while a name is added).
-- gen:internal
-- gen:null @name @version
CREATE OR ALTER PROCEDURE duroxide.get_code
    @name    NVARCHAR(401),
    @version NVARCHAR(401),
    @code_id INT OUTPUT
AS
SET @code_id = NULL;
IF @name IS NULL OR @version IS NULL
BEGIN
    SET @code_id = 0;
    RETURN;
END;
-- Names are only ever added, so what is found needs no lock.
SELECT @code_id = n.id
FROM duroxide.code_names AS n WITH (INDEX (uq_code_names))
WHERE n.name = @name AND n.version = @version;
IF @code_id IS NOT NULL
    RETURN;
INSERT INTO duroxide.code_names (name, version)
SELECT @name, @version
WHERE NOT EXISTS (
    SELECT 1 FROM duroxide.code_names AS n WITH (UPDLOCK, HOLDLOCK, INDEX (uq_code_names))
    WHERE n.name = @name AND n.version = @version
);
SELECT @code_id = n.id
FROM duroxide.code_names AS n WITH (INDEX (uq_code_names))
WHERE n.name = @name AND n.version = @version;
