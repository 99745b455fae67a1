package interleave

import (
	"fmt"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// unsound are rows which say something about themselves that is not so. What has come due is not among them: the next
// fetch sees to it.
const unsound = `
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
SELECT CONCAT(N'a message of ', q.instance_id, N' has no inbox') AS what
FROM duroxide.orchestrator_queue AS q
WHERE NOT EXISTS (SELECT 1 FROM duroxide.inboxes AS b WHERE b.instance_id = q.instance_id)
UNION ALL
SELECT CONCAT(b.instance_id, N' is held and would not be looked at when its lease ends')
FROM duroxide.inboxes AS b
WHERE b.locked_until > @now
  AND (b.wake_at IS NULL OR b.wake_at > b.locked_until OR b.head_id IS NOT NULL)
UNION ALL
SELECT CONCAT(b.instance_id, N' has the head ', b.head_id, N' and wakes at ', b.wake_at, N' of code ', b.code_id, N', but should have ', s.head_id, N' and ', s.wake_at, N' of code ', s.code_id)
FROM duroxide.inboxes AS b
CROSS APPLY duroxide.inbox_state(b.instance_id, @now, NULL) AS s
WHERE (b.locked_until IS NULL OR b.locked_until <= @now)
  AND (b.wake_at IS NULL OR b.wake_at > @now)
  AND (CASE WHEN b.head_id IS NULL THEN 0 ELSE 1 END <> CASE WHEN s.head_id IS NULL THEN 0 ELSE 1 END
      OR COALESCE(b.wake_at, 9223372036854775807) > COALESCE(s.wake_at, 9223372036854775807)
      OR b.head_id IS NOT NULL AND (b.code_id <> s.code_id OR b.version_id <> s.version_id)
      OR b.head_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM duroxide.orchestrator_queue AS q WHERE q.instance_id = b.instance_id AND q.id = b.head_id))
UNION ALL
SELECT CONCAT(N'activity ', w.activity_id, N' of ', w.instance_id, N' is ready and held')
FROM duroxide.worker_queue AS w
WHERE w.ready = 1
  AND w.locked_until > @now
UNION ALL
SELECT CONCAT(N'activity ', w.activity_id, N' of ', w.instance_id, N' is not ready, and would not be looked at in time')
FROM duroxide.worker_queue AS w
WHERE w.ready = 0
  AND w.wake_at > @now
  AND w.wake_at > COALESCE(w.locked_until, w.visible_at);
`

// consistent checks what holds for every state of the store.
func consistent(e *tsqltest.End) error {
	if what := e.Value(unsound); what != nil {
		return fmt.Errorf("%v", what)
	}
	return fetchedOnce(e)
}

// drained fetches and acknowledges all that there is, when leases and delays have ended. A message that comes twice
// violates the key of @seen.
const drained = `
DECLARE @token UNIQUEIDENTIFIER, @id NVARCHAR(400), @execution BIGINT, @claimed_at BIGINT, @claimed_to BIGINT, @n INT = 0, @work BIGINT;
DECLARE @turn duroxide.turn_claim_v1, @acks duroxide.completion_list_v1;
DECLARE @seen TABLE (id BIGINT NOT NULL PRIMARY KEY);
DECLARE @ask duroxide.take_list_v1;
DECLARE @before TABLE (id BIGINT NOT NULL PRIMARY KEY);
INSERT INTO @before (id) SELECT q.id FROM duroxide.orchestrator_queue AS q;
WHILE @n < 100
BEGIN
    SET @n += 1; SET @token = NEWID(); SET @id = NULL; SET @execution = NULL;
    DELETE FROM @turn;
    INSERT INTO @turn VALUES (0, @token, 30000, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, 0, 0, 0);
    EXEC duroxide.take @turn = @turn;
    SELECT @id = b.instance_id, @claimed_at = b.claimed_at, @claimed_to = b.claimed_to FROM duroxide.inboxes AS b WHERE b.lock_token = @token;
    IF @id IS NULL BREAK;
    INSERT INTO @seen (id) SELECT q.id FROM duroxide.orchestrator_queue AS q WHERE q.instance_id = @id AND q.visible_at <= @claimed_at AND q.id <= @claimed_to;
    SELECT @execution = i.current_execution_id FROM duroxide.instances AS i WHERE i.instance_id = @id;
    SET @execution = COALESCE(@execution, 1);
    EXEC duroxide.ack_orchestration_item @instance_id = @id, @lock_token = @token, @execution_id = @execution, @name = NULL, @version = NULL, @code_name = NULL, @code_version = NULL,
        @parent_instance_id = NULL, @major = NULL, @minor = NULL, @patch = NULL, @status = NULL, @output = NULL, @set_custom_status = 0, @custom_status = NULL,
        @clear_values = 0, @drop_timers = 0;
END;
WHILE @n < 200
BEGIN
    SET @n += 1; SET @token = NEWID(); SET @work = NULL;
    DELETE FROM @ask;
    INSERT INTO @ask (position, selection, lock_token, lock_ms, owner, session_ms, any_tag, unknown_ms, from_id, due_from) VALUES (0, 0, @token, 30000, N'drain', 30000, 1, 0, 0, 0);
    EXEC duroxide.fetch_work_item @work = @ask;
    SELECT @work = w.id FROM duroxide.worker_queue AS w WHERE w.lock_token = @token;
    IF @work IS NULL BREAK;
    DELETE FROM @acks;
    INSERT INTO @acks VALUES (0, @work, @token, NULL, NULL);
    EXEC duroxide.ack_work_item @acks = @acks;
END;
DELETE FROM @before WHERE id IN (SELECT s.id FROM @seen AS s);
SELECT N'left' AS word, (SELECT COUNT(*) FROM @before) - COUNT(*) AS messages, (SELECT COUNT(*) FROM duroxide.worker_queue) AS activities
FROM duroxide.orchestrator_queue AS q
WHERE NOT EXISTS (SELECT 1 FROM duroxide.instances AS i WHERE i.instance_id = q.instance_id);
`

// drains checks that fetches get all there is, exactly once, when leases and delays have ended. What is left belongs to
// instances that nobody has started.
func drains(e *tsqltest.End) error {
	e.Advance(aLongTime)
	r, err := e.Exec(drained)
	if err != nil {
		return fmt.Errorf("draining: %w", err)
	}
	left := r.Sets[len(r.Sets)-1].Rows[0]
	if left[1] != int64(0) || left[2] != int64(0) {
		return fmt.Errorf("%v messages and %v activities are never fetched", left[1], left[2])
	}
	return nil
}
