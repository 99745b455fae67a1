-- Lists an instance and its descendants, level by level. The instance is listed even if it does not exist.
-- Called by: Store.GetInstanceTree.
-- Transaction: none.
-- Parameters:
--   @instance_id  the instance
-- Result sets:
--   1 Tree: the ids, the instance's own first
-- Locks: those of function instance_tree.
CREATE OR ALTER PROCEDURE duroxide.get_instance_tree
    @instance_id NVARCHAR(400)
AS
SET NOCOUNT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
-- gen:result Tree
SELECT t.instance_id
FROM duroxide.instance_tree(@instance_id) AS t
ORDER BY t.position;
GO
GRANT EXECUTE ON duroxide.get_instance_tree TO duroxide_reader;
