-- Deletes something that was set aside because it could not be decoded.
-- Called by: Store.DeleteDeadLetter.
-- Transaction: none.
-- Result sets:
--   1 Deleted: found is 0 if there is no such letter
-- Locks: dead_letters (the row, by pk_dead_letters).
CREATE OR ALTER PROCEDURE duroxide.delete_dead_letter
    @id BIGINT
AS
SET NOCOUNT, XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DELETE d
FROM duroxide.dead_letters AS d WITH (ROWLOCK, INDEX (pk_dead_letters))
WHERE d.id = @id;
-- gen:result Deleted
SELECT CAST(@@ROWCOUNT AS BIT) AS found;
GO
GRANT EXECUTE ON duroxide.delete_dead_letter TO duroxide_admin;
