-- Finds the fetchable instance with the oldest head that has one of the versions and
-- one of the codes: first the version and the code with the oldest head, without keeping
-- anything locked, and then an instance of those, which it locks. If others are taking
-- all there is of a version and a code, the next is looked at.
--
-- Heads less than @from_head are left out. With @patient = 1 none is, and it waits for
-- instances that somebody is taking, to see whether they are really taken; it locks nothing
-- then.
--
-- Locks: inboxes.
-- Hints: READPAST with UPDLOCK and ROWLOCK passes over instances that another call is
-- writing, READCOMMITTEDLOCK makes them mean that under row versioning too; the caller's
-- transaction holds what is found (see fetch_orchestration_item). INDEX keeps a plan that
-- was made for an empty table from reading the whole of it later (rule Q9). The end of
-- the lease is no condition: who has a head has no lease. It is not in the index, so
-- that asking for it makes the hints look at the row itself, and not only at its key in
-- the index: an instance that another call is writing is passed over instead of waited
-- for.
-- KEEPFIXED PLAN keeps the plan however many rows change: see 0005_storage_sqlserver.sql.
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
        -- vet:allow Q1: a look that takes nothing
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
        -- vet:allow Q2: in the caller's transaction
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
