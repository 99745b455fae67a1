-- Returns something that was set aside because it could not be decoded, with its text.
-- Called by: Store.GetDeadLetter, Store.RequeueDeadLetter.
-- Transaction: none.
-- Result sets:
--   1 Letter: no row, or the letter
-- Locks: dead_letters (read, by pk_dead_letters).
CREATE OR ALTER PROCEDURE duroxide.get_dead_letter
    @id BIGINT
AS
SET NOCOUNT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
-- gen:result Letter
SELECT TOP (1) d.id, d.queue, d.instance_id, d.work_item, d.error, d.created_at
FROM duroxide.dead_letters AS d WITH (INDEX (pk_dead_letters))
WHERE d.id = @id;
GO
GRANT EXECUTE ON duroxide.get_dead_letter TO duroxide_reader;
