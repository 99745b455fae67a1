-- Lists the code that no worker has known since a time: no fetch since then has named a set that has the code's name.
-- Helper of: unknown_work, work_codes.
-- Parameters:
--   @activity  1 looks at sets of activities, 0 at sets of orchestrations
--   @since     milliseconds since 1970 UTC
-- Returns: the codes, by number, name and version.
-- Locks: code_names, and those of known_codes (read).
CREATE OR ALTER FUNCTION duroxide.unknown_codes (@activity BIT, @since BIGINT)
RETURNS TABLE
AS
RETURN (
    SELECT n.id AS code_id, n.name, n.version
    FROM duroxide.code_names AS n
    WHERE NOT EXISTS (SELECT 1 FROM duroxide.known_codes(@activity, @since) AS k WHERE k.code_id = n.id)
);
