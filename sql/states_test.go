package scripts_test

import (
	"database/sql"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql"
	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// mermaid returns the picture under a heading of the README.
func mermaid(t *testing.T, heading string) string {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\n## "+heading+"\n")
	rest, _, _ = strings.Cut(rest, "\n## ")
	_, picture, ok := strings.Cut(rest, "```mermaid\n")
	picture, _, _ = strings.Cut(picture, "```")
	if !ok {
		t.Fatalf("the README has no picture under %s", heading)
	}
	return picture
}

// lease is the length of all leases of these tests.
const lease = time.Minute

// A machine checks the arrows of a picture of states, one after the other.
type machine struct {
	t     *testing.T
	store *mssql.Store
	clock *tsqltest.Clock
	state func() string
	seen  []string
}

func newMachine(t *testing.T) (*machine, *sql.DB) {
	t.Helper()
	clock := tsqltest.NewClock(time.Date(2024, time.May, 1, 12, 0, 0, 0, time.UTC))
	server := tsqltest.New(t, tsqltest.Options{Clock: clock})
	store, err := mssql.Open(t.Context(), server.DSN(), mssql.Options{AutoMigrate: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return &machine{t: t, store: store, clock: clock}, server.DB()
}

// query makes the state of a query with the present time as its parameter; [*] if there is no row.
func (m *machine) query(db *sql.DB, query string, args ...any) {
	m.state = func() string {
		m.t.Helper()
		var state string
		err := db.QueryRowContext(m.t.Context(), query, append([]any{m.clock.Now().UnixMilli()}, args...)...).Scan(&state)
		if errors.Is(err, sql.ErrNoRows) {
			return "[*]"
		}
		m.ok(err)
		return state
	}
}

func (m *machine) ok(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

// step does what an arrow says and compares the states before and after.
func (m *machine) step(arrow string, do func()) {
	m.t.Helper()
	m.seen = append(m.seen, arrow)
	from, rest, _ := strings.Cut(arrow, " --> ")
	to, _, _ := strings.Cut(rest, ": ")
	if state := m.state(); state != from {
		m.t.Fatalf("before %q the state is %s", arrow, state)
	}
	do()
	if state := m.state(); state != to {
		m.t.Fatalf("after %q the state is %s", arrow, state)
	}
}

// covers compares the arrows that were checked with those of the picture.
func (m *machine) covers(heading string) {
	m.t.Helper()
	arrows := regexp.MustCompile(`(?m)^ +(\S+ --> .*)$`).FindAllStringSubmatch(mermaid(m.t, heading), -1)
	for _, arrow := range arrows {
		if !slices.Contains(m.seen, arrow[1]) {
			m.t.Errorf("no step checks %q", arrow[1])
		}
	}
	for _, arrow := range m.seen {
		if !slices.ContainsFunc(arrows, func(a []string) bool { return a[1] == arrow }) {
			m.t.Errorf("the picture has no arrow %q", arrow)
		}
	}
}

// turn locks the instance.
func (m *machine) turn() string {
	m.t.Helper()
	turn, err := m.store.FetchOrchestrationItem(m.t.Context(), provider.FetchOrchestrationParams{LockTimeout: lease})
	m.ok(err)
	if turn == nil {
		m.t.Fatal("there is no turn")
	}
	return turn.LockToken
}

// ack commits a turn of the first execution.
func (m *machine) ack(token string, work ...provider.WorkItem) {
	m.t.Helper()
	name, version, status := "Order", "1.0.0", provider.StatusRunning
	m.ok(m.store.AckOrchestrationItem(m.t.Context(), provider.AckOrchestrationParams{
		LockToken: token, ExecutionID: 1, WorkerItems: work,
		Metadata: provider.ExecutionMetadata{OrchestrationName: &name, OrchestrationVersion: &version, Status: &status},
	}))
}

// start sends the start of an instance.
func (m *machine) start(instance string, after time.Duration) {
	m.t.Helper()
	m.ok(m.store.EnqueueForOrchestrator(m.t.Context(), provider.StartOrchestrationItem{
		Instance: instance, Orchestration: "Order", ExecutionID: 1,
	}, after))
}

// raise sends an event.
func (m *machine) raise(instance string) {
	m.t.Helper()
	m.ok(m.store.EnqueueForOrchestrator(m.t.Context(), provider.ExternalRaisedItem{Instance: instance, Name: "paid"}, 0))
}

// other is the code of another worker, whose fetches do everything but take this code.
var other = provider.Know(provider.CodeName{Name: "Other", Version: "1.0.0"})

func TestStatesOfAnInbox(t *testing.T) {
	t.Parallel()
	m, db := newMachine(t)
	inbox := func(instance string) {
		m.query(db, `SELECT CASE WHEN b.head_id IS NOT NULL THEN 'Ready' WHEN b.lock_token IS NULL THEN 'Waiting' WHEN b.locked_until > @p1 THEN 'Leased' ELSE 'Ended' END
			FROM duroxide.inboxes AS b WHERE b.instance_id = @p2`, instance)
	}
	look := func() {
		t.Helper()
		turn, err := m.store.FetchOrchestrationItem(t.Context(), provider.FetchOrchestrationParams{LockTimeout: lease, Known: other})
		m.ok(err)
		if turn != nil {
			t.Fatal("a worker with other code has got the turn")
		}
	}
	var token string
	fetch := func() { token = m.turn() }

	inbox("later")
	m.step("[*] --> Waiting: a hidden message comes", func() { m.start("later", time.Hour) })
	m.step("Waiting --> Ready: wake_at comes (ready_due_inboxes)", func() { m.clock.Advance(2 * time.Hour); look() })
	m.step("Ready --> Leased: claim_turn", fetch)
	m.step("Leased --> Waiting: ack_orchestration_item", func() { m.ack(token) })
	m.step("Waiting --> Ready: a message comes", func() { m.raise("later") })
	m.step("Ready --> Leased: claim_turn", fetch)
	m.ack(token)

	inbox("now")
	m.step("[*] --> Ready: a message comes", func() { m.start("now", 0) })
	m.step("Ready --> Leased: claim_turn", fetch)
	m.step("Leased --> Leased: renew_orchestration_item_lock", func() {
		m.ok(m.store.RenewOrchestrationItemLock(t.Context(), token, 2*lease))
		m.clock.Advance(lease + time.Second)
	})
	m.step("Leased --> Ready: abandon_orchestration_item", func() {
		m.ok(m.store.AbandonOrchestrationItem(t.Context(), provider.AbandonParams{LockToken: token}))
	})
	m.step("Ready --> Leased: claim_turn", fetch)
	m.step("Leased --> Waiting: abandon_orchestration_item, with a delay", func() {
		m.ok(m.store.AbandonOrchestrationItem(t.Context(), provider.AbandonParams{LockToken: token, Delay: time.Hour}))
	})
	m.step("Waiting --> Ready: wake_at comes (ready_due_inboxes)", func() { m.clock.Advance(2 * time.Hour); look() })
	m.step("Ready --> Leased: claim_turn", fetch)
	m.step("Leased --> Ended: nobody renews", func() { m.clock.Advance(2 * lease) })
	m.step("Ended --> Ready: the next fetch (ready_due_inboxes)", look)
	m.step("Ready --> Leased: claim_turn", fetch)
	m.raise("now")
	m.step("Leased --> Ready: ack_orchestration_item, with messages left", func() { m.ack(token) })
	m.covers("The inbox of an instance")
}

func TestStatesOfAnActivity(t *testing.T) {
	t.Parallel()
	m, db := newMachine(t)
	m.query(db, `SELECT CASE WHEN q.ready = 1 THEN 'Ready' WHEN q.locked_until IS NULL THEN 'Waiting' WHEN q.locked_until > @p1 THEN 'Leased' ELSE 'Ended' END
		FROM duroxide.worker_queue AS q`)
	take := func(known *provider.KnownCode) *provider.FetchedWorkItem {
		t.Helper()
		work, err := m.store.FetchWorkItem(t.Context(), provider.FetchWorkParams{LockTimeout: lease, Known: known})
		m.ok(err)
		return work
	}
	var token string
	fetch := func() {
		t.Helper()
		work := take(nil)
		if work == nil {
			t.Fatal("there is no activity")
		}
		token = work.LockToken
	}
	look := func() {
		t.Helper()
		if take(provider.Know(provider.CodeName{Name: "Other"})) != nil {
			t.Fatal("a worker with other code has got the activity")
		}
	}
	m.start("order", 0)
	m.step("[*] --> Ready: a turn schedules it", func() {
		m.ack(m.turn(), provider.ActivityExecuteItem{Instance: "order", ExecutionID: 1, ID: 2, Name: "Charge"})
	})
	m.step("Ready --> Leased: fetch_work_item", fetch)
	m.step("Leased --> Leased: renew_work_item_lock", func() {
		m.ok(m.store.RenewWorkItemLock(t.Context(), token, 2*lease))
		m.clock.Advance(lease + time.Second)
	})
	m.step("Leased --> Ready: abandon_work_item", func() {
		m.ok(m.store.AbandonWorkItem(t.Context(), provider.AbandonParams{LockToken: token}))
	})
	m.step("Ready --> Leased: fetch_work_item", fetch)
	m.step("Leased --> Waiting: abandon_work_item, with a delay", func() {
		m.ok(m.store.AbandonWorkItem(t.Context(), provider.AbandonParams{LockToken: token, Delay: time.Hour}))
	})
	m.step("Waiting --> Ready: wake_at comes (ready_due_work)", func() { m.clock.Advance(2 * time.Hour); look() })
	m.step("Ready --> Leased: fetch_work_item", fetch)
	m.step("Leased --> Ended: nobody renews", func() { m.clock.Advance(2 * lease) })
	m.step("Ended --> Ready: the next fetch (ready_due_work)", look)
	m.step("Ready --> Leased: fetch_work_item", fetch)
	m.step("Leased --> [*]: ack_work_item", func() {
		m.ok(m.store.AckWorkItem(t.Context(), token, provider.ActivityCompletedItem{Instance: "order", ExecutionID: 1, ID: 2}))
	})
	m.covers("An activity")
}
