-- Deletes something that was set aside because it could not be decoded.
--
-- Called by: Store.DeleteDeadLetter.
-- Transaction: its own.
--
-- Parameters:
--   @id  the letter
--
-- Result sets:
--   1 Deleted: one row. found is 0 if there is no such letter
--
-- Locks: dead_letters (the row, by pk_dead_letters).
--
-- Hints: INDEX comes to the row by its key, whatever the statistics say. ROWLOCK keeps the lock to
--   the row.
CREATE OR ALTER PROCEDURE duroxide.delete_dead_letter
    @id BIGINT
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @found BIT = 0;
BEGIN TRY
    BEGIN TRANSACTION;

    DELETE d
    FROM duroxide.dead_letters AS d WITH (ROWLOCK, INDEX (pk_dead_letters))
    WHERE d.id = @id;
    IF @@ROWCOUNT > 0
        SET @found = 1;

    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;

-- gen:result Deleted
SELECT @found AS found;
GO
GRANT EXECUTE ON duroxide.delete_dead_letter TO duroxide_admin;
