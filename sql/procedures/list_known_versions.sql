-- Lists the versions of an orchestration that workers have known since a time.
-- Called by: Store.KnownVersions.
-- Transaction: none.
-- Parameters:
--   @since_ms  how long ago the time is
-- Result sets:
--   1 Versions: in the order of their text
-- Locks: code_names, known_code_names, known_code (read).
CREATE OR ALTER PROCEDURE duroxide.list_known_versions
    @name     NVARCHAR(401),
    @since_ms BIGINT
AS
SET NOCOUNT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
-- gen:result Versions
SELECT n.version
FROM duroxide.code_names AS n WITH (INDEX (uq_code_names))
WHERE n.name = @name AND n.version <> N''
  AND EXISTS (
      SELECT 1 FROM duroxide.known_code_names AS kn WITH (INDEX (ix_known_code_names_code))
      INNER JOIN duroxide.known_code AS k ON k.id = kn.known_id
      WHERE kn.code_id = n.id AND k.activity = 0 AND k.seen_at >= @now - @since_ms
  )
ORDER BY n.version;
GO
GRANT EXECUTE ON duroxide.list_known_versions TO duroxide_reader;
