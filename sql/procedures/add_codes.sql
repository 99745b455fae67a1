-- Gives a number to each name of code that has none. Each name commits by itself, before the caller's transaction
-- begins, so that two callers with the same names in another order do not deadlock.
-- Helper of: add_turn_codes, register_known_code.
-- Transaction: none.
-- Locks: code_names (read by uq_code_names; get_code locks the one that it adds).
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.add_codes
    @codes duroxide.code_list_v1 READONLY
AS
DECLARE @position INT, @name NVARCHAR(401), @version NVARCHAR(401), @code_id INT;
SELECT @position = MIN(c.position)
FROM @codes AS c
WHERE NOT EXISTS (
    SELECT 1 FROM duroxide.code_names AS n WITH (INDEX (uq_code_names))
    WHERE n.name = c.name AND n.version = c.version
);
WHILE @position IS NOT NULL
BEGIN
    SELECT @name = c.name, @version = c.version
    FROM @codes AS c
    WHERE c.position = @position;
    EXEC duroxide.get_code @name = @name, @version = @version, @code_id = @code_id OUTPUT;
    SELECT @position = MIN(c.position) FROM @codes AS c WHERE c.position > @position;
END;
