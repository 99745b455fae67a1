-- Lists the code that is in a set which a fetch has named since a time.
-- Helper of: unknown_codes, claim_turn, work_codes, abandon_orchestration_item, abandon_work_item.
-- Parameters:
--   @activity  1 looks at sets of activities, 0 at sets of orchestrations
--   @since     milliseconds since 1970 UTC
-- Returns: the codes, as code_names.id, each once for each of its sets.
-- Locks: known_code_names, known_code (read).
CREATE OR ALTER FUNCTION duroxide.known_codes (@activity BIT, @since BIGINT)
RETURNS TABLE
AS
RETURN (
    SELECT kn.code_id
    FROM duroxide.known_code_names AS kn WITH (INDEX (ix_known_code_names_code))
    INNER JOIN duroxide.known_code AS k ON k.id = kn.known_id
    WHERE k.activity = @activity AND k.seen_at > @since
);
