-- Counts what was set aside because it could not be decoded.
-- Called by: Store.CountDeadLetters.
-- Transaction: none.
-- Result sets:
--   1 Letters: how many
-- Locks: dead_letters (read, by ix_dead_letters_instance alone: the rows have the whole texts).
CREATE OR ALTER PROCEDURE duroxide.count_dead_letters
AS
SET NOCOUNT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
-- gen:result Letters
SELECT COUNT_BIG(*) AS letters
FROM duroxide.dead_letters AS d WITH (INDEX (ix_dead_letters_instance));
GO
GRANT EXECUTE ON duroxide.count_dead_letters TO duroxide_reader;
