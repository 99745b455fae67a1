-- Reads a key (§5.17): what the running execution has made of it, else what earlier
-- ones left.
--
-- Result sets:
--   1 Value: none for an unknown instance or key; NULL if the key was cleared
CREATE OR ALTER PROCEDURE duroxide.get_kv_value
    @instance_id NVARCHAR(400),
    @kv_key      NVARCHAR(400)
AS
SET NOCOUNT ON;
-- gen:result Value
SELECT TOP (1) x.value
FROM (
    SELECT d.value, 0 AS place
    FROM duroxide.kv_delta AS d
    WHERE d.instance_id = @instance_id
      AND d.kv_key = @kv_key
    UNION ALL
    SELECT s.value, 1 AS place
    FROM duroxide.kv_store AS s
    WHERE s.instance_id = @instance_id
      AND s.kv_key = @kv_key
) AS x
ORDER BY x.place;
