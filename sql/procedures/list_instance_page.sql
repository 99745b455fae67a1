-- Lists a page of instances, in the order of their ids.
-- Called by: Store.ListInstancePage.
-- Transaction: none.
-- Parameters:
--   @after  the id after which to begin, NULL for the first
--   @limit  the largest number of instances
-- Result sets:
--   1 Instances: their ids
-- Locks: instances (read, by pk_instances).
-- gen:null @after
CREATE OR ALTER PROCEDURE duroxide.list_instance_page
    @after NVARCHAR(400),
    @limit INT
AS
SET NOCOUNT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
-- No stored id has this character. The empty text would not do: it is compared as if it were a
-- blank, and a tab comes before a blank.
SET @after = COALESCE(@after, NCHAR(1));
-- gen:result Instances
SELECT TOP (@limit) i.instance_id
FROM duroxide.instances AS i WITH (INDEX (pk_instances))
WHERE i.instance_id > @after
ORDER BY i.instance_id;
GO
GRANT EXECUTE ON duroxide.list_instance_page TO duroxide_reader;
