-- Decides about a claimed instance that has no row yet. It is claimed if a message starts it, or if its history says
-- that it began. If it never began and has only queue messages, those are deleted, as nobody will read them (pitfall
-- P3). Otherwise the claim is undone.
-- Helper of: lock_turn.
-- Transaction: the caller's, which has claimed the instance.
-- Parameters:
--   @candidate    the instance
--   @now          when it was claimed
--   @instance_id  the instance if it is claimed; NULL otherwise
--   @messages     how many messages were deleted
-- Locks: inboxes (the instance's row), orchestrator_queue (the instance's messages), history (shared), each by the
--   primary key.
-- gen:internal
-- vet:allow Q3: the caller has claimed the instance
-- vet:allow Q6-order: the caller has locked the inbox before
CREATE OR ALTER PROCEDURE duroxide.claim_without_row
    @candidate   NVARCHAR(400),
    @now         BIGINT,
    @instance_id NVARCHAR(400) OUTPUT,
    @messages    BIGINT OUTPUT
AS
SET @messages = 0;
DECLARE @visible BIT = 0, @starts BIT = 0, @hidden_starts BIT = 0, @began BIT = 0;
SELECT @visible = MAX(CASE WHEN q.visible_at <= @now AND q.kind < 4 THEN 1 ELSE 0 END),
    @starts = MAX(CASE WHEN q.visible_at <= @now AND q.kind IN (1, 2) THEN 1 ELSE 0 END),
    @hidden_starts = MAX(CASE WHEN q.visible_at > @now AND q.kind IN (1, 2) THEN 1 ELSE 0 END)
FROM duroxide.orchestrator_queue AS q WITH (FORCESEEK (pk_orchestrator_queue (instance_id)))
WHERE q.instance_id = @candidate
OPTION (KEEPFIXED PLAN);
SELECT TOP (1) @began = 1
FROM duroxide.history AS h WITH (FORCESEEK (pk_history (instance_id, execution_id)))
WHERE h.instance_id = @candidate
  AND h.event_type = N'OrchestrationStarted'
  AND h.execution_id = (
      SELECT MAX(l.execution_id)
      FROM duroxide.history AS l WITH (FORCESEEK (pk_history (instance_id)))
      WHERE l.instance_id = @candidate
  )
OPTION (KEEPFIXED PLAN);
SET @instance_id = CASE WHEN @starts = 1 OR (@visible = 1 AND @began = 1) THEN @candidate END;
IF @instance_id IS NOT NULL
    RETURN;
-- A start that is hidden, as after a clock was set back, will want them.
IF @visible = 1 AND @hidden_starts = 0
BEGIN
    DELETE q
    FROM duroxide.orchestrator_queue AS q WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_orchestrator_queue))
    WHERE instance_id = @candidate AND (visible_at <= @now OR kind = 4)
    OPTION (KEEPFIXED PLAN);
    SET @messages = @@ROWCOUNT;
END;
DELETE b
FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_inboxes))
WHERE instance_id = @candidate
  AND NOT EXISTS (
      SELECT 1 FROM duroxide.orchestrator_queue AS q WITH (FORCESEEK (pk_orchestrator_queue (instance_id)))
      WHERE q.instance_id = @candidate
  )
OPTION (KEEPFIXED PLAN);
UPDATE b
SET lock_token = NULL, locked_until = NULL, claimed_at = NULL, claimed_to = NULL, unnamed = 0, holder = NULL, wake_at = NULL
FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_inboxes))
WHERE instance_id = @candidate
OPTION (KEEPFIXED PLAN);
EXEC duroxide.refresh_inbox @instance_id = @candidate, @now = @now;
