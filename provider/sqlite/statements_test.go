package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"modernc.org/sqlite"

	"github.com/duroxide/duroxide-go/provider"
)

// statements counts what all stores opened with countingDriver carry out, by the name of
// the query or by its first word. Only one test at a time may use it.
var statements counter

type counter struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *counter) add(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = map[string]int{}
	}
	c.n[name]++
}

// take returns the counts, and their sum, and begins anew.
func (c *counter) take() (counts map[string]int, sum int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	counts, c.n = c.n, nil
	for _, n := range counts {
		sum += n
	}
	return counts, sum
}

// countingDriver is the driver, with a count of each statement that a prepared one
// carries out: the store prepares all that it uses more than once.
const countingDriver = "counted sqlite"

var registerCounting = sync.OnceFunc(func() { sql.Register(countingDriver, countingSQLite{&sqlite.Driver{}}) })

// openCounted opens a store whose statements are counted.
func openCounted(t *testing.T) *Store {
	t.Helper()
	registerCounting()
	return openFile(t, filepath.Join(t.TempDir(), "store.db"), Options{PollInterval: Never, driver: countingDriver})
}

type countingSQLite struct{ driver.Driver }

func (d countingSQLite) Open(name string) (driver.Conn, error) {
	conn, err := d.Driver.Open(name)
	if err != nil {
		return nil, err
	}
	return countedConn{conn.(sqliteConn)}, nil
}

// sqliteConn and sqliteStmt are what the driver's connections and statements are.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.SessionResetter
	driver.Validator
	sqlite.FileControl
}

type sqliteStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

type countedConn struct{ sqliteConn }

var nameOf = regexp.MustCompile(`^(?:-- name: )?(\w+)`)

func (c countedConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	stmt, err := c.sqliteConn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return countedStmt{stmt.(sqliteStmt), nameOf.FindStringSubmatch(query)[1]}, nil
}

type countedStmt struct {
	sqliteStmt
	name string
}

func (s countedStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	statements.add(s.name)
	return s.sqliteStmt.ExecContext(ctx, args)
}

func (s countedStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	statements.add(s.name)
	return s.sqliteStmt.QueryContext(ctx, args)
}

// What a fan-out of five costs, made by combined calls as an idle worker with two slots
// for activities makes them that holds the history, on a store that has seen one before. It is what it takes
// today: a change that raises it has to be worth it.
func TestStatementsOfAnOrchestration(t *testing.T) { //nolint:paralleltest // all statements are counted
	const wantStatements, wantTransactions = 93, 13
	s := openCounted(t)
	worker := counting{t: t, s: s, known: provider.Know(provider.CodeName{Name: "Order", Version: "1.0.0"}, provider.CodeName{Name: "Charge"}), held: new(atomic.Uint64)}
	worker.orchestrate("first")
	statements.take()
	worker.held.Store(0)
	worker.orchestrate("second")
	counts, sum := statements.take()
	if transactions := counts["COMMIT"]; sum > wantStatements || transactions > wantTransactions {
		t.Errorf("%d statements in %d transactions; want at most %d in %d: %v", sum, transactions, wantStatements, wantTransactions, counts)
	}
}

// An orchestration of one activity on an idle worker is five transactions: the start, the look that finds the turn, the
// turn with the lock on its activity, the end of the activity with the lock on the next turn, and that turn.
func TestOneActivityIsFiveTransactions(t *testing.T) { //nolint:paralleltest // all statements are counted
	const wantStatements, wantTransactions = 35, 5
	s := openCounted(t)
	worker := counting{t: t, s: s, known: provider.Know(provider.CodeName{Name: "Order", Version: "1.0.0"}, provider.CodeName{Name: "Charge"})}
	worker.oneActivity("first")
	statements.take()
	worker.oneActivity("second")
	counts, sum := statements.take()
	if transactions := counts["COMMIT"]; sum > wantStatements || transactions > wantTransactions {
		t.Errorf("%d statements in %d transactions; want at most %d in %d: %v", sum, transactions, wantStatements, wantTransactions, counts)
	}
}

// A purge deletes fifty small roots in a transaction.
func TestPurgeDeletesManyRootsAtOnce(t *testing.T) { //nolint:paralleltest // all statements are counted
	const roots = 60
	s := openCounted(t)
	worker := counting{t: t, s: s, known: provider.Know(provider.CodeName{Name: "Order", Version: "1.0.0"}, provider.CodeName{Name: "Charge"})}
	for n := range roots {
		worker.oneActivity(fmt.Sprintf("order-%d", n))
	}
	statements.take()
	deleted, err := s.Admin().DeleteInstanceBulk(t.Context(), provider.InstanceFilter{})
	must(t, err)
	if counts, _ := statements.take(); counts["COMMIT"] != 2 || deleted.InstancesDeleted != roots {
		t.Errorf("deleted %d instances in %d transactions, want %d in 2", deleted.InstancesDeleted, counts["COMMIT"], roots)
	}
}

// A process that is alone with its file asks the database neither what has come due nor
// whether another process has written, until it is time.
func TestNothingIsAskedThatIsKnown(t *testing.T) { //nolint:paralleltest // all statements are counted
	s := openCounted(t)
	looks := func() map[string]int {
		statements.take()
		taken, err := s.Claim(t.Context(), everything())
		must(t, err)
		if taken.Turn != nil || len(taken.Work) != 0 {
			t.Fatalf("took %v of an empty store", taken)
		}
		counts, _ := statements.take()
		delete(counts, "BEGIN")
		delete(counts, "COMMIT")
		return counts
	}
	must(t, s.EnqueueForOrchestrator(t.Context(), start("later"), time.Hour))
	looks()
	if counts := looks(); len(counts) != 0 {
		t.Errorf("the second look asks %v; want nothing", counts)
	}
}

// Running instances that are due together are made fetchable by one statement.
func TestInstancesDueTogetherShareAStatement(t *testing.T) { //nolint:paralleltest // all statements are counted
	const n = 5
	s := openCounted(t)
	fetch := func() *provider.FetchedOrchestration {
		turn, err := s.FetchOrchestrationItem(t.Context(), provider.FetchOrchestrationParams{LockTimeout: time.Minute})
		must(t, err)
		return turn
	}
	for i := range n {
		must(t, s.EnqueueForOrchestrator(t.Context(), start(fmt.Sprint("i", i)), 0))
		must(t, s.AckOrchestrationItem(t.Context(), firstTurn(fetch())))
	}
	for i := range n {
		must(t, s.EnqueueForOrchestrator(t.Context(), provider.ExternalRaisedItem{Instance: fmt.Sprint("i", i), Name: "e"}, time.Millisecond))
	}
	<-after(5 * millisecond)
	statements.take()
	for i := range n {
		if turn := fetch(); turn == nil || turn.Item.Instance != fmt.Sprint("i", i) {
			t.Fatalf("fetched %v as number %d", turn, i)
		}
	}
	if counts, _ := statements.take(); counts["RefreshDueInboxes"] != 1 || counts["ResetDueInboxes"] != 1 || counts["RefreshInbox"] != 0 {
		t.Errorf("%d instances that were due took %v", n, counts)
	}
}

// counting is a worker that makes one orchestration at a time.
type counting struct {
	t     *testing.T
	s     *Store
	known *provider.KnownCode
	// held, if not nil, is the last event that the worker has of the orchestration.
	held *atomic.Uint64
}

// commits notes that a turn's events are the worker's.
func (c counting) commits(ack provider.AckOrchestrationParams) provider.AckOrchestrationParams {
	if n := len(ack.HistoryDelta); c.held != nil && n > 0 {
		c.held.Store(ack.HistoryDelta[n-1].EventID)
	}
	return ack
}

func (c counting) params(turn bool, slots int) provider.ClaimParams {
	var p provider.ClaimParams
	if turn {
		p.Turn = &provider.FetchOrchestrationParams{LockTimeout: time.Minute, Known: c.known, Filter: &provider.CapabilityFilter{
			SupportedVersions: []provider.VersionRange{{Max: provider.Version{Minor: 9}}},
		}}
	}
	if turn && c.held != nil {
		p.Turn.Held = func(string, uint64) uint64 { return c.held.Load() }
	}
	for range slots {
		p.Work = append(p.Work, provider.FetchWorkParams{LockTimeout: time.Minute, Known: c.known, Session: &provider.SessionFetchConfig{
			OwnerID: "worker", LockTimeout: time.Minute,
		}})
	}
	return p
}

// start starts an instance, whose turn the worker takes at the store's notice.
func (c counting) start(instance string) *provider.FetchedOrchestration {
	c.t.Helper()
	_, err := c.s.StartInstance(c.t.Context(), start(instance))
	must(c.t, err)
	taken, err := c.s.Claim(c.t.Context(), c.params(true, 0))
	must(c.t, err)
	return taken.Turn
}

func (c counting) orchestrate(instance string) {
	t, ctx := c.t, c.t.Context()
	taken, err := c.s.AckTurnAndClaim(ctx, c.commits(firstTurn(c.start(instance))), c.params(true, 2))
	must(t, err)
	results := 0
	for running := taken.Work; len(running) > 0; running = append(running[1:], taken.Work...) {
		results++
		item, _ := running[0].Item.(provider.ActivityExecuteItem)
		var outcomes []error
		outcomes, taken, err = c.s.AckWorkAndClaim(ctx, []provider.WorkAck{{
			LockToken: running[0].LockToken, Completion: provider.ActivityCompletedItem{
				Instance: instance, ExecutionID: 1, ID: item.ID, Result: payload,
			},
		}}, c.params(true, 1))
		must(t, errors.Join(append(outcomes, err)...))
		_, err := c.s.AckTurnAndClaim(ctx, c.commits(nextTurn(taken.Turn)), c.params(true, 0))
		must(t, err)
	}
	if results != 5 {
		t.Fatalf("%s has had %d results; want 5", instance, results)
	}
}

// oneActivity makes an orchestration of one activity.
func (c counting) oneActivity(instance string) {
	t, s := c.t, c.s
	t.Helper()
	ack := firstTurn(c.start(instance))
	ack.WorkerItems = ack.WorkerItems[:1]
	taken, err := s.AckTurnAndClaim(t.Context(), ack, c.params(true, 1))
	must(t, err)
	outcomes, taken, err := s.AckWorkAndClaim(t.Context(), []provider.WorkAck{{
		LockToken: taken.Work[0].LockToken, Completion: provider.ActivityCompletedItem{
			Instance: instance, ExecutionID: 1, ID: 2, Result: payload,
		},
	}}, c.params(true, 1))
	must(t, errors.Join(append(outcomes, err)...))
	last := nextTurn(taken.Turn)
	last.Metadata.Status = new(provider.StatusCompleted)
	_, err = s.AckTurnAndClaim(t.Context(), last, c.params(true, 0))
	must(t, err)
}

// A claim looks for messages of all kinds at once, or, if the instance has hidden messages, in a way that reads none of
// them: however the instance was found.
func TestClaimsReadNoHiddenMessages(t *testing.T) { //nolint:paralleltest // all statements are counted
	for _, alone := range []bool{true, false} {
		s := openCounted(t)
		other := openFile(t, s.writer.files[0].path, Options{})
		for _, hidden := range []bool{false, true} {
			id := fmt.Sprint("hidden messages: ", hidden)
			must(t, s.EnqueueForOrchestrator(t.Context(), start(id), 0))
			if hidden {
				must(t, s.EnqueueForOrchestrator(t.Context(), provider.ExternalRaisedItem{Instance: id, Name: "later"}, time.Hour))
			}
			if !alone {
				must(t, other.EnqueueForOrchestrator(t.Context(), start("of another process, "+id), time.Hour))
			}
			statements.take()
			turn := fetch(t, s)
			counts, _ := statements.take()
			if int64(counts["LockMessages"]) != toInt(hidden) || int64(counts["LockVisibleMessages"]) != toInt(!hidden) || len(turn.Item.Messages) != 1 || turn.Item.Instance != id {
				t.Errorf("alone %v, %s: %d messages of %s by %v", alone, id, len(turn.Item.Messages), turn.Item.Instance, counts)
			}
		}
	}
}

// The turn of a timer that the instance's last turn has set reads neither the message, nor the
// instance, nor its history, and does not make the instance fetchable before it locks it.
func TestTurnOfATimerReadsNothing(t *testing.T) { //nolint:paralleltest // all statements are counted
	var clock atomic.Int64
	clock.Store(1_000_000)
	registerCounting()
	s := openFile(t, filepath.Join(t.TempDir(), "store.db"), Options{PollInterval: Never, driver: countingDriver, now: clock.Load})
	worker := counting{t: t, s: s, known: provider.Know(provider.CodeName{Name: "Order", Version: "1.0.0"}), held: new(atomic.Uint64)}
	ack := worker.commits(firstTurn(worker.start("i")))
	ack.WorkerItems = nil
	ack.OrchestratorItems = []provider.WorkItem{
		provider.TimerFiredItem{Instance: "i", ExecutionID: 1, ID: 2, FireAtMs: uint64(clock.Load() + 100)},
	}
	must(t, s.AckOrchestrationItem(t.Context(), ack))
	statements.take()
	clock.Add(100)
	taken, err := s.Claim(t.Context(), worker.params(true, 0))
	must(t, err)
	must(t, s.AckOrchestrationItem(t.Context(), nextTurn(taken.Turn)))
	counts, _ := statements.take()
	for _, name := range []string{"RefreshDueInboxes", "OldestInstances", "LockMessages", "LockVisibleMessages", "GetInstanceContext", "ReadExecution", "ReadExecutionFrom", "EndLock", "DeleteBatch"} {
		if counts[name] != 0 {
			t.Errorf("the turn took %s: %v", name, counts)
		}
	}
}
