-- Reads the custom status of an instance if it is newer than the version that the
-- caller has seen (§5.16). It is made to be polled: the same version costs one seek.
--
-- Result sets:
--   1 Status: none if it is not newer; the status is NULL after a reset
CREATE OR ALTER PROCEDURE duroxide.get_custom_status
    @instance_id NVARCHAR(400),
    @last_seen   BIGINT
AS
SET NOCOUNT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
-- gen:result Status
SELECT i.custom_status, i.custom_status_version
FROM duroxide.instances AS i
WHERE i.instance_id = @instance_id
  AND i.custom_status_version > @last_seen;
