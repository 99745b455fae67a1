-- Notes the key-value changes of a turn beside the state that the execution began
-- with: a replay makes them again, so they must not be in what it starts from
-- (pitfall P14). The caller holds the instance's lease and is inside a transaction.
--
-- Parameters: @clear = 1 first marks every key as cleared, with @now as the time of
-- the change.
--
-- Locks: kv_store, kv_delta.
-- Hints: INDEX finds the rows of the instance, and LOOP JOIN each changed key, by a seek, even if
-- the plan was made for other lists (rule Q9): a scan would wait for other instances' rows.
-- ROWLOCK keeps the locks to rows.
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
    UPDATE d
    SET value = NULL, value_bytes = 0, last_updated_at_ms = @now
    FROM duroxide.kv_delta AS d WITH (ROWLOCK, INDEX (ix_kv_delta_instance))
    WHERE d.instance_id = @instance_id;
    -- vet:allow P1-atomic: in the caller's transaction
    INSERT INTO duroxide.kv_delta WITH (ROWLOCK) (instance_id, kv_key, value, value_bytes, last_updated_at_ms)
    SELECT s.instance_id, s.kv_key, NULL, 0, @now
    FROM duroxide.kv_store AS s WITH (INDEX (ix_kv_store_instance))
    WHERE s.instance_id = @instance_id
      AND NOT EXISTS (
          SELECT 1
          -- vet:allow Q10: the instance's lease is held, so nobody else adds keys
          FROM duroxide.kv_delta AS d WITH (INDEX (pk_kv_delta))
          WHERE d.instance_id = s.instance_id
            AND d.kv_key = s.kv_key
      )
    OPTION (LOOP JOIN);
END;
-- vet:allow P1-atomic: in the caller's transaction
UPDATE d
SET value = c.value, value_bytes = c.value_bytes, last_updated_at_ms = COALESCE(c.last_updated_at_ms, @now)
FROM @changes AS c
INNER LOOP JOIN duroxide.kv_delta AS d WITH (ROWLOCK, INDEX (pk_kv_delta)) ON d.instance_id = @instance_id AND d.kv_key = c.kv_key;
-- vet:allow P1-atomic: in the caller's transaction
INSERT INTO duroxide.kv_delta WITH (ROWLOCK) (instance_id, kv_key, value, value_bytes, last_updated_at_ms)
SELECT @instance_id, c.kv_key, c.value, c.value_bytes, COALESCE(c.last_updated_at_ms, @now)
FROM @changes AS c
WHERE NOT EXISTS (
    SELECT 1
    -- vet:allow Q10: the instance's lease is held, so nobody else adds keys
    FROM duroxide.kv_delta AS d WITH (INDEX (pk_kv_delta))
    WHERE d.instance_id = @instance_id
      AND d.kv_key = c.kv_key
)
OPTION (LOOP JOIN);
