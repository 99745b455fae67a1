-- Reads the custom status of an instance if it is newer than the version that the caller has seen. It is cheap to
-- poll: an unchanged version costs one seek.
-- Called by: Store.GetCustomStatus.
-- Transaction: none.
-- Parameters:
--   @last_seen  0 for none
-- Result sets:
--   1 Status: no row if there is nothing newer; the status is NULL after a reset
-- Locks: instances (read, by pk_instances).
CREATE OR ALTER PROCEDURE duroxide.get_custom_status
    @instance_id NVARCHAR(400),
    @last_seen   BIGINT
AS
SET NOCOUNT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
-- gen:result Status
SELECT i.custom_status, i.custom_status_version
FROM duroxide.instances AS i
WHERE i.instance_id = @instance_id AND i.custom_status_version > @last_seen;
GO
GRANT EXECUTE ON duroxide.get_custom_status TO duroxide_reader;
