-- Tells who uses an instance id: an instance, or a start that waits for its first turn.
--
-- Result sets:
--   1 Use: used = 0 if nobody does. The name and the status are the instance's and NULL
--     without one; start is the waiting start's work item.
CREATE OR ALTER PROCEDURE duroxide.find_instance
    @instance_id NVARCHAR(400)
AS
SET NOCOUNT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @used BIT, @name NVARCHAR(MAX), @status NVARCHAR(32), @start NVARCHAR(MAX);
EXEC duroxide.id_use @instance_id = @instance_id, @used = @used OUTPUT, @name = @name OUTPUT,
    @status = @status OUTPUT, @start = @start OUTPUT;
-- gen:result Use
/* gen:columns (used bit not null, name nvarchar(max), status nvarchar(32), start_item nvarchar(max)) */
SELECT @used AS used, @name AS name, @status AS status, @start AS start_item;
