-- Lists the direct children of an instance in the order of their creation.
-- Called by: Store.ListChildren.
-- Transaction: none.
-- Result sets:
--   1 Children: their ids
-- Locks: instances (read, by ix_instances_parent).
CREATE OR ALTER PROCEDURE duroxide.list_children
    @instance_id NVARCHAR(400)
AS
SET NOCOUNT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
-- gen:result Children
SELECT i.instance_id
FROM duroxide.instances AS i
WHERE i.parent_instance_id = @instance_id
  -- The filter of ix_instances_parent.
  AND i.parent_instance_id IS NOT NULL
ORDER BY i.sequence;
GO
GRANT EXECUTE ON duroxide.list_children TO duroxide_reader;
