-- Finds the parent of an instance (§6.13).
--
-- Result sets:
--   1 Instance: none if there is no such instance; the parent is NULL for a root
CREATE OR ALTER PROCEDURE duroxide.get_parent_id
    @instance_id NVARCHAR(400)
AS
SET NOCOUNT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
-- gen:result Instance
SELECT i.parent_instance_id
FROM duroxide.instances AS i
WHERE i.instance_id = @instance_id;
