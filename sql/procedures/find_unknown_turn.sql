-- Finds the fetchable instance with the oldest head whose code no worker has known since a time.
-- What others are writing is passed over.
--
-- Helper of: fetch_orchestration_item.
-- Transaction: the caller's.
--
-- Parameters:
--   @versions     versions of the framework to look at, as framework_versions.id
--   @codes        codes to look at, as code_names.id
--   @since        the time, in milliseconds since 1970 UTC
--   @ready_by     the instance has been fetchable since this time or longer, in milliseconds since 1970 UTC
--   @cancelled    1 takes only an instance with a visible request to cancel it
--   @now          the present time, in milliseconds since 1970 UTC
--   @instance_id  the instance; NULL for none
--   @version_id   its version of the framework
--   @code_id      its code
--
-- Locks: code_names (by uq_code_names), inboxes (by ix_inboxes_ready), orchestrator_queue (shared, by
--   pk_orchestrator_queue and ix_orchestrator_queue_kind). Nothing stays locked.
--
-- Hints: READPAST, READCOMMITTEDLOCK, ROWLOCK and INDEX are those of find_turn. LOOP seeks the
--   message of each instance, and FORCESEEK its requests. KEEPFIXED PLAN prevents a new plan when
--   many rows have changed, see 0005_storage.sql.
--
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.find_unknown_turn
    @versions    duroxide.version_id_list_v1 READONLY,
    @codes       duroxide.code_id_list_v1 READONLY,
    @since       BIGINT,
    @ready_by    BIGINT,
    @cancelled   BIT,
    @now         BIGINT,
    @instance_id NVARCHAR(400) OUTPUT,
    @version_id  INT OUTPUT,
    @code_id     INT OUTPUT
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
SET @instance_id = NULL;
DECLARE @cancel_id INT;
SELECT @cancel_id = n.id
FROM duroxide.code_names AS n WITH (INDEX (uq_code_names))
WHERE n.name = N'duroxide:cancel'
  AND n.version = N'';
SELECT TOP (1) @instance_id = h.instance_id, @version_id = v.version_id, @code_id = c.code_id
FROM duroxide.unknown_codes(0, @since) AS u
INNER JOIN @codes AS c ON c.code_id = u.code_id
CROSS JOIN @versions AS v
CROSS APPLY (
    SELECT TOP (1) b.instance_id, b.head_id
    -- vet:allow Q1: it only looks; the claim tests again that the instance is ready
    FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_inboxes_ready))
    INNER LOOP JOIN duroxide.orchestrator_queue AS q WITH (INDEX (pk_orchestrator_queue)) ON q.instance_id = b.instance_id AND q.id = b.head_id
    WHERE b.code_id = c.code_id
      AND b.version_id = v.version_id
      AND b.head_id IS NOT NULL
      AND COALESCE(b.locked_until, 0) <= @ready_by
      AND q.visible_at <= @ready_by
      AND (
          @cancelled = 0
          OR EXISTS (
              SELECT 1
              FROM duroxide.orchestrator_queue AS r WITH (FORCESEEK (ix_orchestrator_queue_kind (instance_id, kind, visible_at)))
              WHERE r.instance_id = b.instance_id
                AND r.kind = 3
                AND r.visible_at <= @now
                AND r.code_id = @cancel_id
          )
      )
    ORDER BY b.head_id
) AS h
ORDER BY h.head_id
OPTION (KEEPFIXED PLAN);
