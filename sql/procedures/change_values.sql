-- Stores the changes of a turn to the key-value map. They are kept in kv_delta, beside the values that the execution
-- began with: a replay makes the changes again, so it must begin without them.
-- Helper of: ack_orchestration_item.
-- Transaction: the caller's, which has locked the inbox.
-- Parameters:
--   @clear  1 first marks every key as cleared
-- Locks: kv_store (read by ix_kv_store_instance), kv_delta (the instance's rows, by ix_kv_delta_instance and
--   pk_kv_delta).
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.change_values
    @instance_id NVARCHAR(400),
    @now         BIGINT,
    @clear       BIT,
    @changes     duroxide.kv_list_v1 READONLY
AS
IF @clear = 1
BEGIN
    UPDATE d
    SET value = NULL, value_bytes = 0, last_updated_at_ms = @now
    FROM duroxide.kv_delta AS d WITH (ROWLOCK, INDEX (ix_kv_delta_instance))
    WHERE d.instance_id = @instance_id;
    INSERT INTO duroxide.kv_delta WITH (ROWLOCK) (instance_id, kv_key, value, value_bytes, last_updated_at_ms)
    SELECT s.instance_id, s.kv_key, NULL, 0, @now
    FROM duroxide.kv_store AS s WITH (INDEX (ix_kv_store_instance))
    WHERE s.instance_id = @instance_id
      AND NOT EXISTS (
          SELECT 1
          -- vet:allow Q10: the inbox is locked, so nobody else adds keys
          FROM duroxide.kv_delta AS d WITH (INDEX (pk_kv_delta))
          WHERE d.instance_id = s.instance_id AND d.kv_key = s.kv_key
      )
    OPTION (LOOP JOIN);
END;
UPDATE d
SET value = c.value, value_bytes = c.value_bytes, last_updated_at_ms = COALESCE(c.last_updated_at_ms, @now)
FROM @changes AS c
INNER LOOP JOIN duroxide.kv_delta AS d WITH (ROWLOCK, INDEX (pk_kv_delta)) ON d.instance_id = @instance_id AND d.kv_key = c.kv_key;
INSERT INTO duroxide.kv_delta WITH (ROWLOCK) (instance_id, kv_key, value, value_bytes, last_updated_at_ms)
SELECT @instance_id, c.kv_key, c.value, c.value_bytes, COALESCE(c.last_updated_at_ms, @now)
FROM @changes AS c
WHERE NOT EXISTS (
    SELECT 1
    -- vet:allow Q10: the inbox is locked, so nobody else adds keys
    FROM duroxide.kv_delta AS d WITH (INDEX (pk_kv_delta))
    WHERE d.instance_id = @instance_id AND d.kv_key = c.kv_key
)
OPTION (LOOP JOIN);
