-- Reports what uses an instance id: an instance, or a start that waits for its first turn. It reads under the
-- isolation level of the session.
-- Called by: Store.FindInstance, Store.FindInstanceTx.
-- Transaction: none.
-- Result sets:
--   1 Use: one row. used is 0 if nobody uses the id. name and status are the instance's, NULL without one; start_item
--     is the message of a start that waits, NULL without one
-- Locks: those of id_use.
-- vet:allow Q12-set: a caller's transaction under SNAPSHOT could not go on after another level (error 3951)
CREATE OR ALTER PROCEDURE duroxide.find_instance
    @instance_id NVARCHAR(400)
AS
SET NOCOUNT ON;
DECLARE @used BIT = 0, @name NVARCHAR(MAX), @status NVARCHAR(32), @start NVARCHAR(MAX);
EXEC duroxide.id_use @instance_id = @instance_id, @used = @used OUTPUT, @name = @name OUTPUT,
    @status = @status OUTPUT, @start = @start OUTPUT;
-- gen:result Use
SELECT COALESCE(@used, CAST(0 AS BIT)) AS used, @name AS name, @status AS status, @start AS start_item;
GO
GRANT EXECUTE ON duroxide.find_instance TO duroxide_reader;
