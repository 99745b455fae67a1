-- Lists the direct children of an instance in the order of their creation.
--
-- Called by: Store.ListChildren.
-- Transaction: none.
--
-- Parameters:
--   @instance_id  the parent
--
-- Result sets:
--   1 Children: their ids
--
-- Locks: instances (shared, by ix_instances_parent, while it reads; none under row versioning).
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
