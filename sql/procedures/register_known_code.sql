-- Registers a set of names that a worker knows, so that its fetches can name the set by its digest, and removes sets
-- that no fetch has named for a week.
-- Called by: Store.FetchOrchestrationItem, Store.FetchWorkItem, Store.Claim, Store.AckTurnAndClaim,
--   Store.AckWorkAndClaim.
-- Transaction: its own. Names are added before it begins.
-- Parameters:
--   @activity  1 for a set of activities, 0 for one of orchestrations
--   @any_tag   1 for activities with any tag or none
--   @tags      the empty text is for activities without a tag
-- Locks: code_names (by add_codes), known_code (the key's range of the digest, and the removed sets),
--   known_code_names, known_code_tags (the new and the removed rows).
CREATE OR ALTER PROCEDURE duroxide.register_known_code
    @digest   VARBINARY(32),
    @activity BIT,
    @codes    duroxide.code_list_v1 READONLY,
    @any_tag  BIT,
    @tags     duroxide.id_list_v1 READONLY
AS
SET NOCOUNT, XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
DECLARE @known_id INT;
DECLARE @old TABLE (id INT NOT NULL PRIMARY KEY);
BEGIN TRY
    EXEC duroxide.add_codes @codes = @codes;
    -- A few at a time: the next registration takes the next. It comes before the
    -- transaction, since two that have added a set would wait for each other here.
    INSERT INTO @old (id)
    SELECT TOP (100) k.id
    FROM duroxide.known_code AS k WITH (INDEX (pk_known_code))
    WHERE k.seen_at < @now - 604800000
    ORDER BY k.id;
    BEGIN TRANSACTION;

    INSERT INTO duroxide.known_code (activity, digest, seen_at)
    SELECT @activity, @digest, @now
    WHERE NOT EXISTS (
        SELECT 1 FROM duroxide.known_code AS k WITH (UPDLOCK, HOLDLOCK, INDEX (uq_known_code))
        WHERE k.digest = @digest AND k.activity = @activity
    );
    IF @@ROWCOUNT = 1
    BEGIN
        SELECT @known_id = k.id
        FROM duroxide.known_code AS k WITH (INDEX (uq_known_code))
        WHERE k.digest = @digest AND k.activity = @activity;
        INSERT INTO duroxide.known_code_names (known_id, code_id)
        SELECT DISTINCT @known_id, n.id
        FROM @codes AS c
        INNER LOOP JOIN duroxide.code_names AS n WITH (INDEX (uq_code_names)) ON n.name = c.name AND n.version = c.version;
        INSERT INTO duroxide.known_code_tags (known_id, tag)
        SELECT @known_id, N'*'
        WHERE @any_tag = 1
        UNION
        SELECT @known_id, N'+' + t.id
        FROM @tags AS t;

        DELETE k
        FROM @old AS o
        INNER LOOP JOIN duroxide.known_code AS k WITH (ROWLOCK, FORCESEEK, INDEX (pk_known_code)) ON k.id = o.id
        WHERE k.seen_at < @now - 604800000;
        DELETE kn
        FROM @old AS o
        INNER LOOP JOIN duroxide.known_code_names AS kn ON kn.known_id = o.id
        WHERE NOT EXISTS (SELECT 1 FROM duroxide.known_code AS k WITH (INDEX (pk_known_code)) WHERE k.id = o.id);
        DELETE kt
        FROM @old AS o
        INNER LOOP JOIN duroxide.known_code_tags AS kt ON kt.known_id = o.id
        WHERE NOT EXISTS (SELECT 1 FROM duroxide.known_code AS k WITH (INDEX (pk_known_code)) WHERE k.id = o.id);
    END;

    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;
GO
GRANT EXECUTE ON duroxide.register_known_code TO duroxide_runtime;
