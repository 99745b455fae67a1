-- Counts an attempt for the messages of a turn that was given up, or whose lease ended by itself.
-- Helper of: abandon_orchestration_item, lock_turn.
-- Transaction: the caller's, which has locked the inbox.
-- Parameters:
--   @claimed_at, @claimed_to
--                when the turn was claimed, and its last message
--   @unnamed     1 if the claim named no code. One that did takes off the attempts of those that did not
-- Locks: orchestrator_queue (the messages, by the primary key).
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.count_attempt
    @instance_id NVARCHAR(400),
    @claimed_at  BIGINT,
    @claimed_to  BIGINT,
    @unnamed     BIT
AS
UPDATE q
SET attempt_count = q.attempt_count + 1 - CASE @unnamed WHEN 1 THEN 0 ELSE q.unnamed_count END,
    unnamed_count = CASE @unnamed WHEN 1 THEN q.unnamed_count + 1 ELSE 0 END
FROM (VALUES (CAST(0 AS TINYINT)), (CAST(1 AS TINYINT)), (CAST(2 AS TINYINT)), (CAST(3 AS TINYINT))) AS k (kind)
INNER LOOP JOIN duroxide.orchestrator_queue AS q WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_orchestrator_queue)) ON q.kind = k.kind
WHERE q.instance_id = @instance_id AND q.visible_at <= @claimed_at AND q.id <= @claimed_to
OPTION (KEEPFIXED PLAN);
