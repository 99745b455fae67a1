-- Notes the key-value changes of a turn beside the state that the execution began
-- with: a replay makes them again, so they must not be in what it starts from
-- (pitfall P14). The caller holds the instance's lease and is inside a transaction.
--
-- Parameters: @clear = 1 first marks every key as cleared, with @now as the time of
-- the change.
--
-- Locks: kv_store, kv_delta.
CREATE OR ALTER PROCEDURE duroxide.change_values
    @instance_id NVARCHAR(400),
    @now         BIGINT,
    @clear       BIT,
    @changes     duroxide.kv_list_v1 READONLY
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
IF @clear = 1
BEGIN
    UPDATE duroxide.kv_delta
    SET value = NULL, value_bytes = 0, last_updated_at_ms = @now
    WHERE instance_id = @instance_id;
    -- vet:allow P1-atomic: in the caller's transaction
    INSERT INTO duroxide.kv_delta (instance_id, kv_key, value, value_bytes, last_updated_at_ms)
    SELECT s.instance_id, s.kv_key, NULL, 0, @now
    FROM duroxide.kv_store AS s
    WHERE s.instance_id = @instance_id
      AND NOT EXISTS (
          SELECT 1
          -- vet:allow Q10: the instance's lease is held, so nobody else adds keys
          FROM duroxide.kv_delta AS d
          WHERE d.instance_id = s.instance_id
            AND d.kv_key = s.kv_key
      );
END;
-- vet:allow P1-atomic: in the caller's transaction
UPDATE d
SET value = c.value, value_bytes = c.value_bytes, last_updated_at_ms = COALESCE(c.last_updated_at_ms, @now)
FROM duroxide.kv_delta AS d
INNER JOIN @changes AS c ON c.kv_key = d.kv_key
WHERE d.instance_id = @instance_id;
-- vet:allow P1-atomic: in the caller's transaction
INSERT INTO duroxide.kv_delta (instance_id, kv_key, value, value_bytes, last_updated_at_ms)
SELECT @instance_id, c.kv_key, c.value, c.value_bytes, COALESCE(c.last_updated_at_ms, @now)
FROM @changes AS c
WHERE NOT EXISTS (
    SELECT 1
    -- vet:allow Q10: the instance's lease is held, so nobody else adds keys
    FROM duroxide.kv_delta AS d
    WHERE d.instance_id = @instance_id
      AND d.kv_key = c.kv_key
);
