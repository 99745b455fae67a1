-- Lists all instances, newest first.
-- Called by: Store.ListInstances.
-- Transaction: none.
-- Result sets:
--   1 Instances: their ids
-- Locks: instances (shared, row by row, while it reads; none under row versioning).
CREATE OR ALTER PROCEDURE duroxide.list_instances
AS
SET NOCOUNT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
-- gen:result Instances
SELECT i.instance_id
FROM duroxide.instances AS i
ORDER BY i.created_at DESC, i.sequence DESC;
GO
GRANT EXECUTE ON duroxide.list_instances TO duroxide_reader;
