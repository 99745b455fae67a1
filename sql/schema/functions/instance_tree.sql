-- Lists an instance and its descendants, level by level and each level in the order of creation. The instance itself
-- need not exist. Each id is listed once, so a cycle of parents ends. Each instance costs one seek.
-- Helper of: get_instance_tree.
-- Parameters:
--   @instance_id  the root of the tree
-- Returns: the ids with their positions, from 1, and their depths, 0 for the root.
-- Locks: instances (read, by ix_instances_parent).
CREATE OR ALTER FUNCTION duroxide.instance_tree (@instance_id NVARCHAR(400))
RETURNS @tree TABLE (
    -- From 1, without gaps.
    position    INT           NOT NULL PRIMARY KEY,
    instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL UNIQUE,
    -- 0 for the instance itself.
    depth       INT           NOT NULL
)
AS
BEGIN
    DECLARE @depth INT = 0, @size INT = 1, @added INT = 1;
    INSERT INTO @tree (position, instance_id, depth)
    VALUES (1, @instance_id, 0);
    WHILE @added > 0
    BEGIN
        INSERT INTO @tree (position, instance_id, depth)
        SELECT @size + ROW_NUMBER() OVER (ORDER BY i.sequence), i.instance_id, @depth + 1
        FROM @tree AS t
        INNER LOOP JOIN duroxide.instances AS i ON i.parent_instance_id = t.instance_id
        -- The second condition is the filter of ix_instances_parent.
        WHERE t.depth = @depth AND i.parent_instance_id IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM @tree AS k WHERE k.instance_id = i.instance_id);
        SET @added = @@ROWCOUNT;
        SET @size = @size + @added;
        SET @depth = @depth + 1;
    END;
    RETURN;
END;
