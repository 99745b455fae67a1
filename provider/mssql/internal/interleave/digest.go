package interleave

import (
	"fmt"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// A digest is what all tables hold, a line a row, without what two orders of the same operations may differ in: numbers
// that count rows, and times. A time that matters, the end of a lease or of a delay, is there in units of ten seconds
// from the beginning. Names of code and versions of the framework are not there: they are added ahead of transactions,
// and never taken back.
const digest = `
DECLARE @start BIGINT = 1704110400000 - 5000, @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
SELECT N'instance', i.instance_id, i.orchestration_name, i.orchestration_version, i.current_execution_id, i.custom_status, i.custom_status_version, i.parent_instance_id
FROM duroxide.instances AS i;
SELECT N'execution', e.instance_id, e.execution_id, e.status, e.output, CASE WHEN e.completed_at IS NULL THEN 0 ELSE 1 END AS ended
FROM duroxide.executions AS e;
SELECT N'event', h.instance_id, h.execution_id, h.event_id, h.event_type, h.event_data
FROM duroxide.history AS h;
SELECT N'value', s.instance_id, s.kv_key, s.value
FROM duroxide.kv_store AS s;
SELECT N'change', d.instance_id, d.kv_key, d.value
FROM duroxide.kv_delta AS d;
SELECT N'inbox', b.instance_id, q.work_item, (b.wake_at - @start) / 10000 AS wake, CASE WHEN b.locked_until > @now THEN CONCAT(b.lock_token, N' ', (b.locked_until - @start) / 10000) END AS lease
FROM duroxide.inboxes AS b
LEFT JOIN duroxide.orchestrator_queue AS q ON q.instance_id = b.instance_id AND q.id = b.head_id;
SELECT N'message', q.instance_id, ROW_NUMBER() OVER (PARTITION BY q.instance_id ORDER BY q.id) AS position, q.kind, q.work_item, (q.visible_at - @start) / 10000 AS visible,
    CASE WHEN b.locked_until > @now AND q.visible_at <= b.claimed_at AND q.id <= b.claimed_to THEN 1 ELSE 0 END AS locked, q.attempt_count
FROM duroxide.orchestrator_queue AS q
LEFT JOIN duroxide.inboxes AS b ON b.instance_id = q.instance_id;
SELECT N'work', w.instance_id, w.execution_id, w.activity_id, w.session_id, w.tag, w.work_item, w.ready, (w.wake_at - @start) / 10000 AS wake,
    CASE WHEN w.locked_until > @now THEN w.lock_token END AS lease, w.attempt_count
FROM duroxide.worker_queue AS w;
SELECT N'session', s.session_id, s.worker_id, (s.locked_until - @start) / 10000 AS ends, (s.last_activity_at - @start) / 10000 AS active
FROM duroxide.sessions AS s;
SELECT N'letter', d.queue, d.instance_id, d.work_item, d.error
FROM duroxide.dead_letters AS d;
SELECT N'known', k.activity, k.digest, (SELECT COUNT(*) FROM duroxide.known_code_names AS n WHERE n.known_id = k.id) AS names
FROM duroxide.known_code AS k;
SELECT N'order', o.id, o.n FROM dbo.orders AS o;
`

// digestOf is the digest of what a schedule has come to.
func digestOf(e *tsqltest.End) (string, error) {
	r, err := e.Exec(digest)
	if err != nil {
		return "", err
	}
	var lines []string
	for _, set := range r.Sets {
		for _, row := range set.Rows {
			lines = append(lines, strings.TrimRight(fmt.Sprintln(row...), "\n"))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n"), nil
}

// compare tells what is in one digest only, with the sign of a difference.
func compare(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	var text strings.Builder
	for _, line := range a {
		if !slices.Contains(b, line) {
			text.WriteString("\n  + " + line)
		}
	}
	for _, line := range b {
		if !slices.Contains(a, line) {
			text.WriteString("\n  - " + line)
		}
	}
	return text.String()
}
