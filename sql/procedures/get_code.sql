-- Finds the number of a name of code, and gives it one if it has none; 0 for NULL, which
-- any worker may take. It is called before the caller's transaction begins, so that
-- nobody waits for a name longer than it takes to add it. In a transaction of the
-- client's (enqueue_for_orchestrator) a new name is locked until that ends.
--
-- gen:null @name @version
--
-- Locks: code_names.
-- Hints: UPDLOCK, HOLDLOCK keep a second caller waiting between the test and the
-- insert (rule Q10). Where hints are ignored one of the two fails with 2627, and the
-- whole call is safe to repeat. INDEX keeps a plan that was made for an empty table from
-- reading the whole of it later (rule Q9).
CREATE OR ALTER PROCEDURE duroxide.get_code
    @name    NVARCHAR(401),
    @version NVARCHAR(401),
    @code_id INT OUTPUT
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
SET @code_id = NULL;
IF @name IS NULL OR @version IS NULL
BEGIN
    SET @code_id = 0;
    RETURN;
END;
-- Names are only ever added, so what is found needs no lock.
SELECT @code_id = n.id
FROM duroxide.code_names AS n WITH (INDEX (uq_code_names))
WHERE n.name = @name
  AND n.version = @version;
IF @code_id IS NOT NULL
    RETURN;
INSERT INTO duroxide.code_names (name, version)
SELECT @name, @version
WHERE NOT EXISTS (
    SELECT 1
    FROM duroxide.code_names AS n WITH (UPDLOCK, HOLDLOCK, INDEX (uq_code_names))
    WHERE n.name = @name
      AND n.version = @version
);
SELECT @code_id = n.id
FROM duroxide.code_names AS n WITH (INDEX (uq_code_names))
WHERE n.name = @name
  AND n.version = @version;
