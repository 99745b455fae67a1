-- Lists what was set aside because it could not be decoded, oldest first, with the beginning of each text, which
-- names its kind.
-- Called by: Store.ListDeadLetters.
-- Transaction: none.
-- Parameters:
--   @instance_id  NULL for all instances
--   @after        the id after which to begin
-- Result sets:
--   1 Letters: the letters
-- Locks: dead_letters (read, by ix_dead_letters_instance for one instance, and by pk_dead_letters).
-- gen:null @instance_id
CREATE OR ALTER PROCEDURE duroxide.list_dead_letters
    @instance_id NVARCHAR(400),
    @after       BIGINT,
    @limit       INT
AS
SET NOCOUNT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @page TABLE (id BIGINT NOT NULL PRIMARY KEY);
IF @instance_id IS NULL
    INSERT INTO @page (id)
    SELECT TOP (@limit) d.id
    FROM duroxide.dead_letters AS d WITH (INDEX (pk_dead_letters))
    WHERE d.id > @after
    ORDER BY d.id;
ELSE
    INSERT INTO @page (id)
    SELECT TOP (@limit) d.id
    FROM duroxide.dead_letters AS d WITH (INDEX (ix_dead_letters_instance))
    WHERE d.instance_id = @instance_id AND d.id > @after
    ORDER BY d.id;
-- gen:result Letters
SELECT d.id, d.queue, d.instance_id, LEFT(d.work_item, 80) AS head, d.error, d.created_at
FROM @page AS p
INNER LOOP JOIN duroxide.dead_letters AS d WITH (INDEX (pk_dead_letters)) ON d.id = p.id
ORDER BY d.id;
GO
GRANT EXECUTE ON duroxide.list_dead_letters TO duroxide_reader;
