-- Keeps the inbox of an instance as it is for the rest of the transaction, together with
-- others that do so, if one more message changes nothing about it: the instance is
-- fetchable already, or a turn holds it, whose end asks again. Otherwise @shared is 0, and
-- the caller ends the transaction, in which it has done nothing yet, and locks the inbox
-- (lock_inbox): who locks what it shares waits for the others that share it.
--
-- So messages to one instance are committed beside each other. Whoever changes the answer
-- waits for them, and then sees their messages: every change locks the row by a write
-- first, and asks for the messages in a later statement.
--
-- An instance without a row is never shared, as a message can make it unfetchable (function
-- inbox_state). Nor is one on Babelfish, where reads lock nothing.
--
-- Locks: inboxes, shared, by the primary key; instances, shared.
-- Hints: INDEX finds the row by its key, whatever the statistics say.
CREATE OR ALTER PROCEDURE duroxide.share_inbox
    @instance_id NVARCHAR(400),
    @now         BIGINT,
    @shared      BIT OUTPUT
AS
SET NOCOUNT ON;
SET @shared = 0;
IF CAST(SERVERPROPERTY(N'Babelfish') AS INT) = 1
    RETURN;
-- vet:allow Q12: what is read here must stay as it is; the level ends with the procedure
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
SELECT @shared = 1
FROM duroxide.inboxes AS b WITH (INDEX (pk_inboxes))
WHERE b.instance_id = @instance_id
  AND (b.head_id IS NOT NULL OR b.locked_until > @now)
  AND EXISTS (SELECT 1 FROM duroxide.instances AS i WITH (INDEX (pk_instances)) WHERE i.instance_id = b.instance_id);
