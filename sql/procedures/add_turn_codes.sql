-- Gives a number to each name of code in a turn that has none.
-- Helper of: ack_orchestration_item.
-- Transaction: none.
-- Parameters:
--   @name, @version  the code of the turn's execution; NULL for none
-- Locks: code_names (shared), those of add_codes.
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.add_turn_codes
    @name       NVARCHAR(401),
    @version    NVARCHAR(401),
    @messages   duroxide.message_list_v1 READONLY,
    @activities duroxide.work_list_v1 READONLY
AS
DECLARE @codes duroxide.code_list_v1;
INSERT INTO @codes (position, name, version)
SELECT ROW_NUMBER() OVER (ORDER BY n.name, n.version), n.name, n.version
FROM (
    SELECT @name AS name, @version AS version
    WHERE @name IS NOT NULL
    UNION
    SELECT m.name, m.version
    FROM @messages AS m
    WHERE m.name IS NOT NULL
    UNION
    SELECT a.name, N'' AS version
    FROM @activities AS a
    WHERE a.name IS NOT NULL
) AS n
WHERE NOT EXISTS (
    SELECT 1 FROM duroxide.code_names AS c WITH (INDEX (uq_code_names)) WHERE c.name = n.name
      AND c.version = n.version
);
IF @@ROWCOUNT > 0
    EXEC duroxide.add_codes @codes = @codes;
