-- Claims an instance if it is still ready, and if there is something to do for it.
-- Helper of: claim_turn.
-- Transaction: its own. The caller rolls it back after an error. A claim that a crash loses is a lease that nobody
--   has, so it need not be durable at once.
-- Parameters:
--   @candidate, @code_id, @version_id
--                 what was ready
--   @unnamed      1 if the worker named no code
--   @now          the present time, in milliseconds since 1970 UTC
--   @instance_id  the instance; NULL if it is not claimed
--   @messages     how many messages were deleted that nobody will read
-- Locks: orchestrator_queue (shared, before the claim); inboxes (the instance's row, by pk_inboxes),
--   orchestrator_queue (the instance's messages), instances, history (shared).
-- gen:internal
-- vet:allow Q1: the look takes nothing
-- vet:allow Q3: there is a head only as long as nobody holds the instance
-- vet:allow Q3-wait: if the row is passed over, the caller looks again
-- vet:allow Q9-pinned: the subquery seeks one end of a range
-- vet:allow P1-try: the caller rolls back
CREATE OR ALTER PROCEDURE duroxide.lock_turn
    @candidate   NVARCHAR(400),
    @code_id     INT,
    @version_id  INT,
    @lock_token  UNIQUEIDENTIFIER,
    @lock_ms     BIGINT,
    @holder      NVARCHAR(200),
    @unnamed     BIT,
    @now         BIGINT,
    @instance_id NVARCHAR(400) OUTPUT,
    @messages    BIGINT OUTPUT
AS
DECLARE @claimed_to BIGINT, @waiting_id BIGINT, @lost_token UNIQUEIDENTIFIER, @lost_at BIGINT, @lost_to BIGINT, @lost_unnamed BIT;
-- Of messages that wait, which may be many, the last that is visible bounds the turn.
SELECT @waiting_id = MAX(w.id), @messages = 0
FROM duroxide.orchestrator_queue AS w WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (pk_orchestrator_queue))
WHERE w.instance_id = @candidate AND w.kind = 4
  AND w.visible_at = (
      SELECT MAX(l.visible_at)
      FROM duroxide.orchestrator_queue AS l WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (pk_orchestrator_queue))
      WHERE l.instance_id = @candidate AND l.kind = 4 AND l.visible_at <= @now
  )
OPTION (KEEPFIXED PLAN);
BEGIN TRANSACTION;
UPDATE b
SET lock_token = @lock_token, locked_until = @now + @lock_ms, head_id = NULL, wake_at = @now + @lock_ms,
    claimed_at = @now, claimed_to = m.last_id, unnamed = @unnamed, holder = @holder,
    @claimed_to = m.last_id, @lost_token = b.lock_token, @lost_at = b.claimed_at, @lost_to = b.claimed_to, @lost_unnamed = b.unnamed
FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, READPAST, UPDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_inboxes))
CROSS APPLY (
    SELECT MAX(n.id) AS last_id
    FROM (
        SELECT q.id
        FROM (VALUES (CAST(0 AS TINYINT)), (CAST(1 AS TINYINT)), (CAST(2 AS TINYINT)), (CAST(3 AS TINYINT))) AS k (kind)
        INNER LOOP JOIN duroxide.orchestrator_queue AS q WITH (FORCESEEK (pk_orchestrator_queue (instance_id, kind, visible_at))) ON q.kind = k.kind
        WHERE q.instance_id = @candidate AND q.visible_at <= @now
        UNION ALL
        SELECT h.id
        FROM duroxide.orchestrator_queue AS h WITH (INDEX (ix_orchestrator_queue_held))
        WHERE h.instance_id = @candidate AND h.misfit_at IS NOT NULL
        UNION ALL
        SELECT @waiting_id
    ) AS n
) AS m
WHERE b.instance_id = @candidate AND b.code_id = @code_id AND b.version_id = @version_id AND b.head_id IS NOT NULL
OPTION (KEEPFIXED PLAN);
IF @@ROWCOUNT = 1
BEGIN
    IF @lost_token IS NOT NULL
        EXEC duroxide.count_attempt @instance_id = @candidate, @claimed_at = @lost_at, @claimed_to = @lost_to, @unnamed = @lost_unnamed;
    -- What came since the hold does not overtake what is held.
    UPDATE q
    SET visible_at = @now
    FROM duroxide.orchestrator_queue AS q WITH (ROWLOCK, INDEX (ix_orchestrator_queue_held))
    WHERE q.instance_id = @candidate AND q.misfit_at IS NOT NULL AND q.visible_at > @now
    OPTION (KEEPFIXED PLAN);
    -- It has a visible message, which starts it if it has no row yet.
    SELECT TOP (1) @instance_id = @candidate
    FROM (VALUES (CAST(0 AS TINYINT)), (CAST(1 AS TINYINT)), (CAST(2 AS TINYINT)), (CAST(3 AS TINYINT))) AS k (kind)
    INNER LOOP JOIN duroxide.orchestrator_queue AS q WITH (FORCESEEK (pk_orchestrator_queue (instance_id, kind, visible_at))) ON q.kind = k.kind
    WHERE q.instance_id = @candidate AND q.visible_at <= @now AND q.id <= @claimed_to
      AND (k.kind IN (1, 2) OR EXISTS (SELECT 1 FROM duroxide.instances AS i WITH (FORCESEEK (pk_instances (instance_id))) WHERE i.instance_id = @candidate))
    OPTION (KEEPFIXED PLAN);
    IF @instance_id IS NULL
        EXEC duroxide.claim_without_row @candidate = @candidate, @now = @now, @instance_id = @instance_id OUTPUT, @messages = @messages OUTPUT;
END;
COMMIT TRANSACTION WITH (DELAYED_DURABILITY = ON);
