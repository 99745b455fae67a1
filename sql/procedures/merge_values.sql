-- Makes the key-value changes of an execution that has ended part of the state that
-- the next one begins with (§5.2 step 11). The caller holds the instance's lease and
-- is inside a transaction.
--
-- Locks: kv_store, kv_delta.
CREATE OR ALTER PROCEDURE duroxide.merge_values
    @instance_id NVARCHAR(400)
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
IF NOT EXISTS (SELECT 1 FROM duroxide.kv_delta AS d WHERE d.instance_id = @instance_id)
    RETURN;
DELETE s
FROM duroxide.kv_store AS s
INNER JOIN duroxide.kv_delta AS d ON d.instance_id = s.instance_id AND d.kv_key = s.kv_key
WHERE s.instance_id = @instance_id;
-- vet:allow P1-atomic: in the caller's transaction
INSERT INTO duroxide.kv_store (instance_id, kv_key, value, value_bytes, last_updated_at_ms)
SELECT d.instance_id, d.kv_key, d.value, d.value_bytes, d.last_updated_at_ms
FROM duroxide.kv_delta AS d
WHERE d.instance_id = @instance_id
  AND d.value IS NOT NULL;
-- vet:allow P1-atomic: in the caller's transaction
DELETE FROM duroxide.kv_delta
WHERE instance_id = @instance_id;
