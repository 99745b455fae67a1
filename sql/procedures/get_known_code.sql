-- Finds the number of a set of names that a worker knows, and records when the set was last seen: at most every 20
-- seconds, so that fetches do not queue for the row.
-- Helper of: claim_turn, fetch_work_item.
-- Transaction: none.
-- Parameters:
--   @digest    NULL for a worker that knows all names: then @known_id is NULL
--   @activity  1 for a set of activities, 0 for one of orchestrations
--   @always    1 records each time
-- Locks: known_code (read by uq_known_code, written by pk_known_code).
-- Errors:
--   50014 unregistered_code: the set of names has to be registered first
-- gen:internal
-- gen:null @digest
CREATE OR ALTER PROCEDURE duroxide.get_known_code
    @digest   VARBINARY(32),
    @activity BIT,
    @always   BIT,
    @now      BIGINT,
    @known_id INT OUTPUT
AS
DECLARE @seen_at BIGINT;
SET @known_id = NULL;
IF @digest IS NULL
    RETURN;
SELECT @known_id = k.id, @seen_at = k.seen_at
FROM duroxide.known_code AS k WITH (INDEX (uq_known_code))
WHERE k.digest = @digest AND k.activity = @activity;
IF @known_id IS NULL
    THROW 50014, N'The set of names has to be registered first.', 1;
IF @always = 0 AND @seen_at > @now - 20000
    RETURN;
UPDATE k
SET seen_at = @now
FROM duroxide.known_code AS k WITH (ROWLOCK, FORCESEEK, INDEX (pk_known_code))
WHERE id = @known_id AND (@always = 1 OR seen_at <= @now - 20000);
-- It may be removed at this moment.
IF @@ROWCOUNT = 0 AND NOT EXISTS (SELECT 1 FROM duroxide.known_code AS k WITH (INDEX (pk_known_code)) WHERE k.id = @known_id)
    THROW 50014, N'The set of names has to be registered first.', 1;
