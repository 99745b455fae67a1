-- Makes the key-value changes of an execution that has ended part of the values that the next execution begins with.
-- Helper of: ack_orchestration_item.
-- Transaction: the caller's, which has locked the inbox.
-- Locks: kv_store (the changed keys, by pk_kv_store), kv_delta (the instance's rows, by ix_kv_delta_instance).
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.merge_values
    @instance_id NVARCHAR(400)
AS
IF NOT EXISTS (SELECT 1 FROM duroxide.kv_delta AS d WITH (INDEX (ix_kv_delta_instance)) WHERE d.instance_id = @instance_id)
    RETURN;
DELETE s
FROM duroxide.kv_delta AS d WITH (INDEX (ix_kv_delta_instance))
INNER LOOP JOIN duroxide.kv_store AS s WITH (ROWLOCK, INDEX (pk_kv_store)) ON s.instance_id = @instance_id AND s.kv_key = d.kv_key
WHERE d.instance_id = @instance_id;
INSERT INTO duroxide.kv_store WITH (ROWLOCK) (instance_id, kv_key, value, value_bytes, last_updated_at_ms)
SELECT d.instance_id, d.kv_key, d.value, d.value_bytes, d.last_updated_at_ms
FROM duroxide.kv_delta AS d WITH (INDEX (ix_kv_delta_instance))
WHERE d.instance_id = @instance_id AND d.value IS NOT NULL;
DELETE d
FROM duroxide.kv_delta AS d WITH (ROWLOCK, INDEX (ix_kv_delta_instance))
WHERE d.instance_id = @instance_id;
