package mssql_test

import (
	"database/sql"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql"
	"github.com/duroxide/duroxide-go/provider/mssql/migrate"
	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"
)

// A gallery is a schema that its owner looks into, and a store to bring about what there is to see.
type gallery struct {
	db     *sql.DB
	schema string
	store  *mssql.Store
}

func openGallery(t *testing.T) *gallery {
	t.Helper()
	db, schema := mssqltest.Pooled(t)
	return &gallery{db: db, schema: schema, store: storeWith(t, db, schema)}
}

// scene is an instance of the gallery.
func (g *gallery) scene(t *testing.T, instance string) scene {
	t.Helper()
	return scene{t: t, store: g.store, instance: instance}
}

// change runs a statement on the tables, in which %s stands for the schema.
func (g *gallery) change(t *testing.T, statement string, args ...any) {
	t.Helper()
	result, err := g.db.ExecContext(t.Context(), fmt.Sprintf(statement, "["+g.schema+"]"), args...)
	ok(t, err)
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		t.Fatalf("%s: changed %d rows, %v, want one", statement, n, err)
	}
}

// lines reads a query, in which %s stands for the schema, as text: a line for each row, with bars between the columns.
func (g *gallery) lines(t *testing.T, query string, args ...any) (lines []string) {
	t.Helper()
	rows, err := g.db.QueryContext(t.Context(), fmt.Sprintf(query, "["+g.schema+"]"), args...)
	ok(t, err)
	defer rows.Close()
	columns, err := rows.Columns()
	ok(t, err)
	values, targets := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		targets[i] = &values[i]
	}
	for rows.Next() {
		ok(t, rows.Scan(targets...))
		words := make([]string, len(values))
		for i, value := range values {
			words[i] = word(value)
		}
		lines = append(lines, strings.Join(words, " | "))
	}
	ok(t, rows.Err())
	return lines
}

// word is a column's value as text.
func word(value any) string {
	switch value := value.(type) {
	case nil:
		return "NULL"
	case []byte:
		return string(value)
	case time.Time:
		return value.Format("2006-01-02T15:04:05.000")
	default:
		return fmt.Sprint(value)
	}
}

// wantLines compares what a query found.
func wantLines(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got)\n%s", what, diff)
	}
}

// fetchedTurn fetches an instance, which is the next one.
func (g *gallery) fetchedTurn(t *testing.T, instance string) string {
	t.Helper()
	turn := anyTurn(t, g.store)
	if turn.Item.Instance != instance {
		t.Fatalf("fetched %s, want %s", turn.Item.Instance, instance)
	}
	return turn.LockToken
}

// fetchedWork fetches the next activity, of one of the tags or without any.
func (g *gallery) fetchedWork(t *testing.T, session *provider.SessionFetchConfig, tags ...string) string {
	t.Helper()
	params := provider.FetchWorkParams{LockTimeout: lease, Session: session}
	if len(tags) > 0 {
		var err error
		params.Tags, err = provider.DefaultAndTags(tags...)
		ok(t, err)
	}
	work, err := g.store.FetchWorkItem(t.Context(), params)
	ok(t, err)
	if work == nil {
		t.Fatal("no activity is ready")
	}
	return work.LockToken
}

// TestRecommendedWorkers takes work through its states and asks after each how much there is: with workers of one turn
// or one activity at a time, it is how many of each kind call for a worker.
func TestRecommendedWorkers(t *testing.T) {
	t.Parallel()
	g, ctx := openGallery(t), t.Context()
	recommended := func(turns, activities any) int {
		return one[int](t, g.db, g.schema, "SELECT %s.recommended_workers(@p1, @p2)", turns, activities)
	}
	count := func(what string, turns, activities int) {
		t.Helper()
		if got := recommended(1, 0); got != turns {
			t.Errorf("%s: %d instances count, want %d", what, got, turns)
		}
		if got := recommended(0, 1); got != activities {
			t.Errorf("%s: %d activities count, want %d", what, got, activities)
		}
	}
	count("empty", 0, 0)

	for i := range 9 {
		ok(t, g.store.EnqueueForOrchestrator(ctx, start(fmt.Sprint("i", i)), 0))
	}
	count("nine instances are ready", 9, 0)
	if got := recommended(4, 8); got != 3 {
		t.Errorf("nine instances call for %d workers with four turns each, want 3", got)
	}
	tokens := make([]string, 9)
	for i := range tokens {
		tokens[i] = g.fetchedTurn(t, fmt.Sprint("i", i))
	}
	count("all of them are leased", 9, 0)
	g.change(t, "UPDATE %s.inboxes SET locked_until = 1, wake_at = 1 WHERE instance_id = N'i8'")
	count("a lease has ended", 9, 0)
	ok(t, g.store.AbandonOrchestrationItem(ctx, provider.AbandonParams{LockToken: tokens[7], Delay: time.Hour}))
	count("one is put back for an hour", 8, 0)
	session := "session"
	ok(t, g.store.AckOrchestrationItem(ctx, provider.AckOrchestrationParams{
		LockToken: tokens[0], ExecutionID: 1, Metadata: running(),
		WorkerItems: []provider.WorkItem{
			activity("i0", 2), activity("i0", 3),
			provider.ActivityExecuteItem{Instance: "i0", ExecutionID: 1, ID: 4, Name: "Charge", SessionID: &session},
		},
	}))
	count("a turn schedules three activities", 7, 3)

	owner := &provider.SessionFetchConfig{OwnerID: "owner", LockTimeout: lease}
	first := g.fetchedWork(t, owner)
	g.fetchedWork(t, owner)
	g.fetchedWork(t, owner)
	count("all activities are leased", 7, 3)
	g.change(t, "UPDATE %s.worker_queue SET locked_until = 1, wake_at = 1 WHERE activity_id = 3")
	count("the lease of an activity has ended", 7, 3)
	ok(t, g.store.AbandonWorkItem(ctx, provider.AbandonParams{LockToken: first, Delay: time.Hour}))
	count("an activity is put back for an hour", 7, 2)

	tomorrow := uint64(time.Now().Add(24 * time.Hour).UnixMilli())
	ok(t, g.store.EnqueueForOrchestrator(ctx, provider.TimerFiredItem{Instance: "i0", ExecutionID: 1, ID: 5, FireAtMs: tomorrow}, 0))
	count("a timer waits for tomorrow", 7, 2)
	ok(t, g.store.EnqueueForOrchestrator(ctx, provider.ExternalRaisedItem{Instance: "stranger", Name: "event"}, 0))
	count("an event waits for its instance to be started", 7, 2)
	g.change(t, "UPDATE %s.orchestrator_queue SET visible_at = 1 WHERE instance_id = N'i0'")
	g.change(t, "UPDATE %s.inboxes SET wake_at = 1 WHERE instance_id = N'i0'")
	count("the timer is due, and nobody has looked", 8, 2)
	g.change(t, "UPDATE %s.worker_queue SET visible_at = 1, wake_at = 1 WHERE activity_id = 2")
	count("the activity's hour is over, and nobody has looked", 8, 3)

	// Eight instances and three activities.
	for _, c := range []struct{ turns, activities, want any }{
		{4, 8, 2}, {3, 8, 3}, {8, 3, 1}, {8, 1, 3}, {8, 2, 2}, {7, 2, 2}, {9, 4, 1}, {0, 2, 2}, {8, 0, 1}, {0, 0, 0}, {-1, -1, 0}, {sql.NullInt32{}, sql.NullInt32{}, 0},
	} {
		if got := recommended(c.turns, c.activities); got != c.want {
			t.Errorf("recommended_workers(%v, %v) is %d, want %v", c.turns, c.activities, got, c.want)
		}
	}
}

// TestRecommendedWorkersForTheRole asks with the rights that the manual gives to what scales the workers.
func TestRecommendedWorkersForTheRole(t *testing.T) {
	t.Parallel()
	g := openGallery(t)
	g.scene(t, "instance").enqueue()
	_, dsn := loginWithRole(t, migrate.ScalerRoleName(g.schema))
	db := connect(t, dsn)
	if got := one[int](t, db, g.schema, "SELECT %s.recommended_workers(4, 8)"); got != 1 {
		t.Errorf("one instance calls for %d workers", got)
	}
	// The role sees the sizes of the queues, too: they would be 0 without the right.
	depths, err := queriesOn(db, g.schema).GetQueueDepths(t.Context(), mssqldb.GetQueueDepthsParams{UnknownMs: 1000})
	ok(t, err)
	if depths.Depths.OrchestratorQueue != 1 {
		t.Errorf("the role sees %d messages, want 1", depths.Depths.OrchestratorQueue)
	}
}

// TestTimesOfViews turns milliseconds into what people read.
func TestTimesOfViews(t *testing.T) {
	t.Parallel()
	g := openGallery(t)
	for _, c := range []struct {
		ms   any
		want string
	}{
		{sql.NullInt64{}, "NULL"},
		{0, "1970-01-01T00:00:00.000"},
		{1, "1970-01-01T00:00:00.001"},
		{86_399_999, "1970-01-01T23:59:59.999"},
		{int64(951_868_799_999), "2000-02-29T23:59:59.999"},
		{int64(951_868_800_000), "2000-03-01T00:00:00.000"},
		// What an int of seconds, of milliseconds or of days would have trouble with.
		{int64(math.MaxInt32) + 1, "1970-01-25T20:31:23.648"},
		{(int64(math.MaxInt32) + 1) * 1000, "2038-01-19T03:14:08.000"},
		{int64(253_402_300_799_000), "9999-12-31T23:59:59.000"},
		{int64(253_402_300_800_000), "9999-12-31T23:59:59.000"},
		{int64(math.MaxInt64), "9999-12-31T23:59:59.000"},
	} {
		wantLines(t, fmt.Sprint(c.ms), g.lines(t, "SELECT u.utc FROM %s.utc_time(@p1) AS u", c.ms), c.want)
	}
}

// documented finds the columns in the comment above a view: a line for each, or for a few with commas between.
var documented = regexp.MustCompile(`(?m)^-- {3}([a-z_]+(?:, [a-z_]+)*)(?: {2}.*)?$`)

// TestColumnsOfViews compares what the comments of the views say with what the views have.
func TestColumnsOfViews(t *testing.T) {
	t.Parallel()
	g := openGallery(t)
	files, err := filepath.Glob(repository + "/sql/schema/views/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("no views: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".sql")
		comment, _, _ := strings.Cut(readText(t, file), "\nCREATE ")
		var want []string
		for _, match := range documented.FindAllStringSubmatch(comment, -1) {
			want = append(want, strings.Split(match[1], ", ")...)
		}
		got := g.lines(t, `SELECT c.name FROM sys.columns AS c WHERE c.object_id = OBJECT_ID(N'%s.' + @p1) ORDER BY c.column_id`, name)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: the columns are others than the comment says (-comment +view)\n%s", name, diff)
		}
	}
}

// TestViewOfMigrations wants what a migration has applied, of each kind.
func TestViewOfMigrations(t *testing.T) {
	t.Parallel()
	g := openGallery(t)
	wantLines(t, "kinds", g.lines(t, "SELECT DISTINCT m.kind FROM %s.v_migrations AS m ORDER BY m.kind"),
		"FUNCTION", "PROCEDURE", "REVISION", "SCRIPT", "VIEW")
	wantLines(t, "a view", g.lines(t, "SELECT m.kind, m.version FROM %s.v_migrations AS m WHERE m.name = N'v_queues'"), "VIEW | 0")
}

// TestViewOfQueues has a row in each state, and one of each kind.
func TestViewOfQueues(t *testing.T) {
	t.Parallel()
	g, ctx := openGallery(t), t.Context()
	send := func(item provider.WorkItem, after time.Duration) {
		t.Helper()
		ok(t, g.store.EnqueueForOrchestrator(ctx, item, after))
	}
	send(start("leased"), 0)
	g.fetchedTurn(t, "leased")
	send(provider.ExternalRaisedItem{Instance: "leased", Name: "event"}, 0)
	send(start("expired"), 0)
	g.fetchedTurn(t, "expired")
	g.change(t, "UPDATE %s.inboxes SET locked_until = 1, wake_at = 1 WHERE instance_id = N'expired'")
	send(start("put back"), 0)
	// What has expired comes first again.
	g.fetchedTurn(t, "expired")
	ok(t, g.store.AbandonOrchestrationItem(ctx, provider.AbandonParams{LockToken: g.fetchedTurn(t, "put back"), Delay: time.Hour}))
	g.change(t, "UPDATE %s.inboxes SET locked_until = 1, wake_at = 1 WHERE instance_id = N'expired'")
	send(start("new "), 0)
	send(start("later"), time.Hour)
	send(provider.ContinueAsNewItem{Instance: "again", Orchestration: "Order"}, 0)
	send(provider.QueueMessageItem{Instance: "queue", Name: "queue"}, 0)
	send(provider.ExternalRaisedItem{Instance: "stranger", Name: "event"}, 0)
	send(provider.TimerFiredItem{Instance: "never", ExecutionID: 1, ID: 2, FireAtMs: math.MaxInt64}, 0)

	const queues = `SELECT q.instance_id, q.kind, q.state, q.attempt_count, q.tag, q.session_id,
		CASE WHEN q.locked_until IS NULL THEN N'free' WHEN q.locked_until > SYSUTCDATETIME() THEN N'locked' ELSE N'expired' END,
		CASE WHEN q.visible_at >= N'99991231' THEN N'never' WHEN q.visible_at > SYSUTCDATETIME() THEN N'later' ELSE N'now' END
		FROM %s.v_queues AS q `
	// Who has a lease is named, and nobody else.
	process := "/" + strconv.Itoa(os.Getpid())
	wantLines(t, "holders", g.lines(t, "SELECT DISTINCT CASE WHEN q.locked_until IS NULL THEN N'free' ELSE N'leased' END, "+
		"REPLACE(RIGHT(q.holder, "+strconv.Itoa(len(process))+"), N'"+process+"', N'this process') FROM %s.v_queues AS q ORDER BY 1"),
		"free | NULL", "leased | this process")
	wantLines(t, "messages", g.lines(t, queues+"WHERE q.queue = N'orchestrator' ORDER BY q.id"),
		"leased | StartOrchestration | leased | 1 | NULL | NULL | locked | now",
		"leased | Other | ready | 0 | NULL | NULL | free | now",
		"expired | StartOrchestration | ready | 2 | NULL | NULL | free | now",
		"put back | StartOrchestration | hidden | 1 | NULL | NULL | free | later",
		"new ␟ | StartOrchestration | ready | 0 | NULL | NULL | free | now",
		"later | StartOrchestration | hidden | 0 | NULL | NULL | free | later",
		"again | ContinueAsNew | ready | 0 | NULL | NULL | free | now",
		"queue | QueueMessage | ready | 0 | NULL | NULL | free | now",
		"stranger | Other | ready | 0 | NULL | NULL | free | now",
		"never | Other | hidden | 0 | NULL | NULL | free | never")

	tag, session := "gpu", "s"
	for i, item := range []provider.ActivityExecuteItem{
		{Tag: &tag}, {SessionID: &session}, {}, {}, {Tag: &tag},
	} {
		item.Instance, item.ExecutionID, item.ID, item.Name = fmt.Sprint("work", i), 1, 2, "Charge"
		ok(t, g.store.EnqueueForWorker(ctx, item))
	}
	g.fetchedWork(t, nil, tag) // the first
	g.fetchedWork(t, &provider.SessionFetchConfig{OwnerID: "owner", LockTimeout: lease})
	g.fetchedWork(t, nil)
	ok(t, g.store.AbandonWorkItem(ctx, provider.AbandonParams{LockToken: g.fetchedWork(t, nil), Delay: time.Hour, IgnoreAttempt: true}))
	g.change(t, "UPDATE %s.worker_queue SET locked_until = 1, wake_at = 1 WHERE instance_id = N'work2'")
	wantLines(t, "activities", g.lines(t, queues+"WHERE q.queue = N'worker' ORDER BY q.id"),
		"work0 | Activity | leased | 1 | gpu | NULL | locked | now",
		"work1 | Activity | leased | 1 | NULL | s | locked | now",
		"work2 | Activity | ready | 1 | NULL | NULL | free | now",
		"work3 | Activity | hidden | 0 | NULL | NULL | free | later",
		"work4 | Activity | ready | 0 | gpu | NULL | free | now")
	wantLines(t, "other queues", g.lines(t, "SELECT q.queue FROM %s.v_queues AS q WHERE q.queue NOT IN (N'orchestrator', N'worker')"))
	g.wantTimes(t, "v_queues", "orchestrator_queue", "created_at", "queue = N'orchestrator'")
}

// wantTimes compares the times of a view with the milliseconds of the table.
func (g *gallery) wantTimes(t *testing.T, view, table, column, where string) {
	t.Helper()
	shown := g.lines(t, "SELECT v."+column+" FROM %s."+view+" AS v WHERE "+where+" ORDER BY v."+column)
	var want []string
	for _, text := range g.lines(t, "SELECT s."+column+" FROM %s."+table+" AS s WHERE s."+column+" IS NOT NULL ORDER BY s."+column) {
		ms, err := strconv.ParseInt(text, 10, 64)
		ok(t, err)
		want = append(want, word(time.UnixMilli(ms).UTC()))
	}
	if len(want) == 0 {
		t.Errorf("no row of %s has a time in %s", table, column)
	}
	wantLines(t, view+"."+column, shown, want...)
}

// end takes an instance to some end, without activities or messages.
func (g *gallery) end(t *testing.T, instance string, status provider.Status, output string) {
	t.Helper()
	params := firstTurn(instance, g.scene(t, instance).turn())
	params.WorkerItems, params.CancelledActivities, params.OrchestratorItems = nil, nil, nil
	params.Metadata.Status, params.Metadata.Output = &status, &output
	ok(t, g.store.AckOrchestrationItem(t.Context(), params))
}

// child begins an instance that has a parent and is pinned to a version.
func (g *gallery) child(t *testing.T, instance, parent string) {
	t.Helper()
	params := firstTurn(instance, g.scene(t, instance).turn())
	params.Metadata.ParentInstanceID, params.Metadata.PinnedDuroxideVersion = &parent, &provider.Version{Major: 1, Minor: 2, Patch: 3}
	params.HistoryDelta[1].Kind = provider.ActivityScheduled{Name: "Charge", Input: "é😀"}
	ok(t, g.store.AckOrchestrationItem(t.Context(), params))
}

// TestViewsOfInstances has an instance in each state.
func TestViewsOfInstances(t *testing.T) {
	t.Parallel()
	g := openGallery(t)
	g.end(t, "completed", provider.StatusCompleted, "42")
	g.end(t, "failed", provider.StatusFailed, "declined")
	g.end(t, "between", provider.StatusContinuedAsNew, "next")
	g.scene(t, "runs again").runTwice()
	g.scene(t, "parent ").run()
	g.child(t, "child", "parent ")
	g.change(t, `INSERT INTO %s.instances (instance_id, orchestration_name, current_execution_id, created_at, updated_at)
		VALUES (N'lost', N'Order', 1, 1, 2)`)

	wantLines(t, "instances", g.lines(t, `SELECT i.instance_id, i.parent_instance_id, i.orchestration_name, i.orchestration_version,
		i.current_execution_id, i.status, i.output, i.custom_status, i.custom_status_version,
		CASE WHEN i.completed_at IS NULL THEN N'open' ELSE N'ended' END
		FROM %s.v_instances AS i ORDER BY i.instance_id`),
		"between | NULL | Order | 1.0.0 | 1 | ContinuedAsNew | next | halfway | 1 | ended",
		"child | parent ␟ | Order | 1.0.0 | 1 | Running | NULL | halfway | 1 | open",
		"completed | NULL | Order | 1.0.0 | 1 | Completed | 42 | halfway | 1 | ended",
		"failed | NULL | Order | 1.0.0 | 1 | Failed | declined | halfway | 1 | ended",
		"lost | NULL | Order | NULL | 1 | Unknown | NULL | NULL | 0 | open",
		"parent ␟ | NULL | Order | 1.0.0 | 1 | Running | NULL | halfway | 1 | open",
		"runs again | NULL | Order | 1.0.0 | 2 | Running | NULL | halfway | 2 | open")
	g.wantTimes(t, "v_instances", "instances", "created_at", "1 = 1")
	g.wantTimes(t, "v_instances", "instances", "updated_at", "1 = 1")

	const ended = "SELECT e.instance_id, e.parent_instance_id, e.orchestration_name, e.orchestration_version, e.execution_id, e.status, e.output FROM %s.ended_between"
	wantLines(t, "what has ended", g.lines(t, ended+"(NULL, NULL) AS e ORDER BY e.instance_id"),
		"between | NULL | Order | 1.0.0 | 1 | ContinuedAsNew | next",
		"completed | NULL | Order | 1.0.0 | 1 | Completed | 42",
		"failed | NULL | Order | 1.0.0 | 1 | Failed | declined")
	g.change(t, "UPDATE %s.executions SET completed_at = 86400000 WHERE instance_id = N'failed'")
	wantLines(t, "what ended on the second day", g.lines(t, ended+"('1970-01-02', '1970-01-02 00:00:00.001') AS e"), "failed | NULL | Order | 1.0.0 | 1 | Failed | declined")
	wantLines(t, "what ended on the first day", g.lines(t, ended+"('1970-01-01', '1970-01-02') AS e"))
	wantLines(t, "what ended later", g.lines(t, ended+"('1970-01-02 00:00:00.001', NULL) AS e ORDER BY e.instance_id"),
		"between | NULL | Order | 1.0.0 | 1 | ContinuedAsNew | next",
		"completed | NULL | Order | 1.0.0 | 1 | Completed | 42")

	wantLines(t, "executions", g.lines(t, `SELECT e.instance_id, e.execution_id, e.is_current, e.status, e.output,
		e.major, e.minor, e.patch, e.event_count, CASE WHEN e.completed_at IS NULL THEN N'open' ELSE N'ended' END
		FROM %s.v_executions AS e ORDER BY e.instance_id, e.execution_id`),
		"between | 1 | true | ContinuedAsNew | next | NULL | NULL | NULL | 4 | ended",
		"child | 1 | true | Running | NULL | 1 | 2 | 3 | 4 | open",
		"completed | 1 | true | Completed | 42 | NULL | NULL | NULL | 4 | ended",
		"failed | 1 | true | Failed | declined | NULL | NULL | NULL | 4 | ended",
		"parent ␟ | 1 | true | Running | NULL | NULL | NULL | NULL | 4 | open",
		"runs again | 1 | false | ContinuedAsNew | again | NULL | NULL | NULL | 4 | ended",
		"runs again | 2 | true | Running | NULL | NULL | NULL | NULL | 4 | open")
	g.wantTimes(t, "v_executions", "executions", "started_at", "1 = 1")
	g.wantTimes(t, "v_executions", "executions", "completed_at", "v.completed_at IS NOT NULL")

	wantLines(t, "history", g.lines(t, `SELECT h.execution_id, h.event_id, h.event_type
		FROM %s.v_history AS h WHERE h.instance_id = N'child' ORDER BY h.execution_id, h.event_id`),
		"1 | 1 | OrchestrationStarted", "1 | 2 | ActivityScheduled", "1 | 3 | KeyValueSet", "1 | 4 | CustomStatusUpdated")
	const event = "FROM %s.v_history AS h WHERE h.instance_id = N'child' AND h.event_id = 2"
	data := g.lines(t, "SELECT h.event_data "+event)
	wantLines(t, "the length of an event", g.lines(t, "SELECT h.data_bytes "+event), strconv.Itoa(len(data[0])))
	if !strings.Contains(data[0], "é😀") {
		t.Errorf("the event is %s", data[0])
	}
	g.wantTimes(t, "v_history", "history", "created_at", "1 = 1")
}

// TestViewOfDeadLetters damages a message and an activity, which fetches then set aside.
func TestViewOfDeadLetters(t *testing.T) {
	t.Parallel()
	g, ctx := openGallery(t), t.Context()
	const damaged = `{"StartOrchestration":`
	_, reason := provider.DecodeWorkItem([]byte(damaged))
	if reason == nil {
		t.Fatal("what is damaged can be decoded")
	}
	ok(t, g.store.EnqueueForOrchestrator(ctx, start("order "), 0))
	ok(t, g.store.EnqueueForWorker(ctx, activity("order ", 2)))
	var want []string
	for _, queue := range []string{"orchestrator", "worker"} {
		g.change(t, "UPDATE %s."+queue+"_queue SET work_item = @p1", damaged)
		id := g.lines(t, "SELECT q.id FROM %s."+queue+"_queue AS q")[0]
		want = append(want, fmt.Sprintf("%s | %s | order ␟ | %s | %v", queue, id, damaged, reason))
	}
	turn, err := fetchTurn(t.Context(), g.store)
	ok(t, err)
	work, err := fetchWork(t.Context(), g.store)
	ok(t, err)
	if turn != nil || work != nil {
		t.Errorf("fetched what is damaged: %+v, %+v", turn, work)
	}
	wantLines(t, "dead letters", g.lines(t, `SELECT d.queue, d.queue_id, d.instance_id, d.work_item, d.error
		FROM %s.v_dead_letters AS d ORDER BY d.id`), want...)
	g.wantTimes(t, "v_dead_letters", "dead_letters", "created_at", "1 = 1")
	wantLines(t, "queues", g.lines(t, "SELECT q.id FROM %s.v_queues AS q"))
}

// The manual's statements: blocks of SQL, and the query of a scaler.
var (
	sqlBlock    = regexp.MustCompile("(?s)\n```sql\n(.*?)\n```\n")
	scalerQuery = regexp.MustCompile(`(?m)^ +query: "([^"]+)"`)
)

// manualQueries are the queries of the manual, which has them for the default schema.
func manualQueries(t *testing.T) (queries []string) {
	t.Helper()
	manual := readText(t, repository+"/docs/sqlserver.md")
	statements := []string{}
	for _, block := range sqlBlock.FindAllStringSubmatch(manual, -1) {
		statements = append(statements, strings.Split(lineComment.ReplaceAllString(block[1], ""), ";")...)
	}
	for _, query := range scalerQuery.FindAllStringSubmatch(manual, -1) {
		statements = append(statements, query[1])
	}
	for _, statement := range statements {
		if statement = strings.TrimSpace(statement); strings.HasPrefix(statement, "SELECT ") {
			queries = append(queries, statement)
		}
	}
	return queries
}

// TestQueriesOfTheManual runs each of them on a schema in which it finds something.
func TestQueriesOfTheManual(t *testing.T) {
	t.Parallel()
	queries := manualQueries(t)
	for _, part := range []string{"ended_between", "v_history", "v_queues", "recommended_workers"} {
		if !slices.ContainsFunc(queries, func(query string) bool { return strings.Contains(query, "duroxide."+part) }) {
			t.Errorf("no query of the manual reads %s: is it still written as this test looks for it?", part)
		}
	}
	g := openGallery(t)
	g.end(t, "failed", provider.StatusFailed, "declined")
	g.scene(t, "order-42").run()
	g.change(t, "UPDATE %s.worker_queue SET attempt_count = 4")
	for _, query := range queries {
		if found := g.lines(t, strings.NewReplacer("%", "%%", "duroxide.", "%[1]s.").Replace(query)); len(found) == 0 {
			t.Errorf("finds nothing: %s", query)
		}
	}
}
