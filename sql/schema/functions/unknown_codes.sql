-- Lists the names of code that no set which a fetch has named since @since has, of
-- activities or of orchestrations.
--
-- Hints: INDEX finds the sets that have a name by a seek, even if the plan was made for
-- empty tables (rule Q9).
CREATE OR ALTER FUNCTION duroxide.unknown_codes (@activity BIT, @since BIGINT)
RETURNS TABLE
AS
RETURN (
    SELECT n.id AS code_id, n.name, n.version
    FROM duroxide.code_names AS n
    WHERE NOT EXISTS (
        SELECT 1
        FROM duroxide.known_code_names AS kn WITH (INDEX (ix_known_code_names_code))
        INNER JOIN duroxide.known_code AS k ON k.id = kn.known_id
        WHERE kn.code_id = n.id
          AND k.activity = @activity
          AND k.seen_at > @since
    )
);
