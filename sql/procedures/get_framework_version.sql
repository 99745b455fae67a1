-- Finds the number of a version of the framework, and gives it one if it has none. It is called before the caller's
-- transaction begins, so that fetches wait for a new version only while it is added.
-- Helper of: ack_orchestration_item.
-- Transaction: none.
-- Locks: framework_versions (by its unique key; the key's range while a version is added).
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.get_framework_version
    @major      BIGINT,
    @minor      BIGINT,
    @patch      BIGINT,
    @version_id INT OUTPUT
AS
-- Versions are only ever added, so what is found needs no lock.
SELECT @version_id = f.id
FROM duroxide.framework_versions AS f
WHERE f.major = @major AND f.minor = @minor AND f.patch = @patch;
IF @version_id IS NOT NULL
    RETURN;
INSERT INTO duroxide.framework_versions (major, minor, patch)
SELECT @major, @minor, @patch
WHERE NOT EXISTS (
    SELECT 1 FROM duroxide.framework_versions AS f WITH (UPDLOCK, HOLDLOCK)
    WHERE f.major = @major AND f.minor = @minor AND f.patch = @patch
);
SELECT @version_id = f.id
FROM duroxide.framework_versions AS f
WHERE f.major = @major AND f.minor = @minor AND f.patch = @patch;
