-- Finds the parent of an instance.
-- Called by: Store.GetParentID.
-- Transaction: none.
-- Result sets:
--   1 Instance: no row if there is no such instance; the parent is NULL for a root
-- Locks: instances (read, by pk_instances).
CREATE OR ALTER PROCEDURE duroxide.get_parent_id
    @instance_id NVARCHAR(400)
AS
SET NOCOUNT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
-- gen:result Instance
SELECT i.parent_instance_id
FROM duroxide.instances AS i
WHERE i.instance_id = @instance_id;
GO
GRANT EXECUTE ON duroxide.get_parent_id TO duroxide_reader;
