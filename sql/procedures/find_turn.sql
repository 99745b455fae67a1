-- Finds the fetchable instance with the oldest head that has one of the versions and one of the
-- codes. It first finds the version and the code with the oldest head, and then locks an
-- instance of those. If others are taking all there is of them, it goes on with the next version
-- and code.
--
-- Helper of: fetch_orchestration_item.
-- Transaction: the caller's, which keeps the instance locked.
--
-- Parameters:
--   @versions     versions of the framework to look at, as framework_versions.id; 0 is none
--   @codes        codes to look at, as code_names.id; 0 is what any worker may take
--   @from_head    leaves out heads with a lower id
--   @patient      1 skips nothing, and waits for instances that others are taking, to see whether they
--                 are really taken; then it locks nothing
--   @instance_id  the instance; NULL for none
--   @version_id   its version of the framework
--   @code_id      its code
--
-- Locks: inboxes (the found row for update, by ix_inboxes_ready and then pk_inboxes).
--
-- Hints: READPAST with UPDLOCK and ROWLOCK passes over instances that others are writing, and
--   READCOMMITTEDLOCK takes locks under row versioning as well. INDEX seeks the oldest head. A plan
--   that was made for an empty table would read all of it. The condition on locked_until is always
--   true, as whoever has a head has no lease. The column is not in the index, so the hints are
--   applied to the row and not only to its key in the index: an instance that another call is
--   writing is passed over instead of waited for. KEEPFIXED PLAN prevents a new plan when many rows
--   have changed, see 0005_storage.sql.
--
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.find_turn
    @versions    duroxide.version_id_list_v1 READONLY,
    @codes       duroxide.code_id_list_v1 READONLY,
    @from_head   BIGINT,
    @patient     BIT,
    @instance_id NVARCHAR(400) OUTPUT,
    @version_id  INT OUTPUT,
    @code_id     INT OUTPUT
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
DECLARE @busy TABLE (version_id INT NOT NULL, code_id INT NOT NULL, PRIMARY KEY (version_id, code_id));
SET @instance_id = NULL;
IF @patient = 1
BEGIN
    SELECT TOP (1) @instance_id = h.instance_id, @version_id = v.version_id, @code_id = c.code_id
    FROM @codes AS c
    CROSS JOIN @versions AS v
    CROSS APPLY (
        SELECT TOP (1) b.instance_id, b.head_id
        FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, ROWLOCK, INDEX (ix_inboxes_ready))
        WHERE b.code_id = c.code_id
          AND b.version_id = v.version_id
          AND b.head_id IS NOT NULL
        ORDER BY b.head_id
    ) AS h
    ORDER BY h.head_id
    OPTION (KEEPFIXED PLAN);
    RETURN;
END;
SET @code_id = 0;
WHILE @instance_id IS NULL AND @code_id IS NOT NULL
BEGIN
    SET @code_id = NULL;
    SELECT TOP (1) @version_id = v.version_id, @code_id = c.code_id
    FROM @codes AS c
    CROSS JOIN @versions AS v
    CROSS APPLY (
        SELECT TOP (1) b.head_id
        -- vet:allow Q1: it only looks, and takes nothing
        FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_inboxes_ready))
        WHERE b.code_id = c.code_id
          AND b.version_id = v.version_id
          AND b.head_id IS NOT NULL
          AND b.head_id >= @from_head
          AND COALESCE(b.locked_until, 0) >= 0
        ORDER BY b.head_id
    ) AS h
    WHERE NOT EXISTS (SELECT 1 FROM @busy AS y WHERE y.version_id = v.version_id AND y.code_id = c.code_id)
    ORDER BY h.head_id
    OPTION (KEEPFIXED PLAN);
    IF @code_id IS NOT NULL
        SELECT TOP (1) @instance_id = b.instance_id
        FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, READPAST, UPDLOCK, ROWLOCK, INDEX (ix_inboxes_ready))
        WHERE b.code_id = @code_id
          AND b.version_id = @version_id
          AND b.head_id IS NOT NULL
          AND b.head_id >= @from_head
          AND COALESCE(b.locked_until, 0) >= 0
        ORDER BY b.head_id
        OPTION (KEEPFIXED PLAN);
    IF @code_id IS NOT NULL AND @instance_id IS NULL
        INSERT INTO @busy (version_id, code_id)
        VALUES (@version_id, @code_id);
END;
