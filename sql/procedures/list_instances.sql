-- Lists all instances, newest first (§6.3).
--
-- Result sets:
--   1 Instances: their ids
CREATE OR ALTER PROCEDURE duroxide.list_instances
AS
SET NOCOUNT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
-- gen:result Instances
SELECT i.instance_id
FROM duroxide.instances AS i
ORDER BY i.created_at DESC, i.sequence DESC;
