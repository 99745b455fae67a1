package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"

	"github.com/duroxide/duroxide-go/gen/sqlitedb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// maxGroup bounds the calls of one transaction, so that the first of them is not
// kept waiting for the last.
const maxGroup = 128

// writer owns the connection that writes. Calls queue up; one goroutine takes
// what is there, runs it as one transaction and answers everybody.
type writer struct {
	db      *sql.DB
	conn    *sql.Conn
	queries *sqlitedb.Queries
	rows    rowStatements
	control control
	clock   func() int64
	// patience is how long to wait for another process that writes.
	patience time.Duration
	// single switches groups off.
	single bool
	// joinFor is how long a transaction waits for its turn's acknowledgement.
	joinFor time.Duration
	// codes are looked up already. Only work uses them.
	codes codes
	// ready says where fetchable rows are. Only work uses it.
	ready readyRows
	// parking are the calls that wait for something to take.
	parking parking
	// seen is the last answer to PRAGMA data_version. Only work reads it.
	seen int64
	// gathering is what gather has learnt, joiningStart and joiningEnd what joinTurn has. Only
	// work uses them.
	gathering, joiningStart, joiningEnd gathering
	// version is what dataVersion said after the last transaction.
	version uint32
	// committed is set by each transaction that has written; see others.go.
	committed atomic.Bool
	// published is told what a committed transaction has made fetchable.
	published func(effects)
	// awaited reports whether somebody waits for an instance's end.
	awaited func(instance string) bool
	// outcomes are what the transaction's instances have ended with; see readOutcomes.
	outcomes map[string]any

	mu     sync.Mutex
	queue  []*job
	closed bool
	// wake has room for one: it says that the queue or closed has changed.
	wake chan struct{}
	done chan struct{}
}

// control are the statements around those of a call, which sqlc has no syntax for.
type control struct {
	begin, commit, rollback  *sql.Stmt
	savepoint, release, undo *sql.Stmt
	dataVersion              *sql.Stmt
	// all are the same statements, to be closed.
	all []*sql.Stmt
}

// The states of a job.
const (
	// queued: nothing has happened, and the caller may withdraw it.
	queued int32 = iota
	// running: it is being executed, and the caller may stop waiting.
	running
	// left: the caller has stopped waiting.
	left
	// finished: the outcome stands.
	finished
)

// job is one call in the writer's queue.
type job struct {
	operation string
	// run does the call's work. Its context never ends: a call that has begun is
	// carried out. It may be done twice, of which the second counts.
	run func(context.Context, *tx) error
	// then, if set, is done after run, in order. A step that fails takes back its own
	// changes and ends the job, but what was done before it stays: thenErr says why.
	// All calls of a group are done before the first of these steps, so that these find
	// what the others have made.
	then    []func(context.Context, *tx) error
	thenErr error
	// undo, if set, takes back what run did when nobody was left to hear of it.
	undo func(context.Context, *tx) error
	// bare stands in for run and is executed outside any transaction.
	bare func(context.Context) error

	// waits, if set, is what the job waits for in the writer when it has found nothing. Then
	// parked is closed, and unserved, which has room for one, is told when a group that has
	// begun to serve the job had nothing for it.
	waits    *taking
	parked   chan struct{}
	unserved chan struct{}
	// answered means that the caller was told before the transaction's end.
	answered bool
	// early, if set, has room for the turn that the caller is told of before the transaction's
	// end, by tell.
	early chan *turn
	tell  func(*turn)
	// acks is the token of the turn that the call acknowledges, "" for other calls.
	acks string

	ctx   context.Context //nolint:containedctx // it travels with the call it belongs to
	state atomic.Int32
	err   error
	done  chan struct{}
	// tx is that of the latest try.
	tx *tx
}

// failed reports whether the job's call has failed, or what follows it.
func (j *job) failed() bool { return j.err != nil || j.thenErr != nil }

// failedToTake reports whether the job's call has failed in what it does for its taking.
func (j *job) failedToTake() bool { return j.tx.taking != nil && j.tx.taking.handing }

// tx is what a call sees of the transaction it runs in.
type tx struct {
	*sqlitedb.Queries
	// now is the call's time, read once (§2.1).
	now int64
	// known are looked up already.
	known *codes
	ready *readyRows
	rows  *rowStatements
	// taking is what a combined call takes, nil for others.
	taking *taking
	// handsTurnOn says that the call may make the completions that it adds a locked turn.
	handsTurnOn bool
	// parking has the calls that may be served in the transaction, nil for none.
	parking *parking
	// started is the instance that the call starts, if nobody uses its id.
	started string
	effects
}

// effects are what the rest of the process learns when a call is committed.
type effects struct {
	// instances and activities have become fetchable, and due as many activities more
	// that are not listed.
	instances  []string
	activities []int64
	due        int
	// instancesTaken and activitiesTaken were locked.
	instancesTaken  []string
	activitiesTaken []int64
	// instanceWake and activityWake are the earliest times at which something
	// will, 0 for unknown.
	instanceWake, activityWake int64
	// codes, sets and versions have been looked up or added.
	codes    map[provider.CodeName]int64
	sets     map[codeSet]seenSet
	versions map[provider.Version]int64
	// changed are the instances whose turn was committed, or that were deleted.
	changed []string
	// ended are those of them that have ended or were deleted, and outcomes what is told of them.
	ended    []string
	outcomes map[string]any
	// reports are written to the log.
	reports []func()
}

// add joins the effects of two calls.
func (e *effects) add(other effects) {
	e.instances = append(e.instances, other.instances...)
	e.activities = append(e.activities, other.activities...)
	e.due += other.due
	e.instancesTaken = append(e.instancesTaken, other.instancesTaken...)
	e.activitiesTaken = append(e.activitiesTaken, other.activitiesTaken...)
	e.instanceWake = earlier(e.instanceWake, other.instanceWake)
	e.activityWake = earlier(e.activityWake, other.activityWake)
	if other.codes != nil || other.sets != nil {
		e.codes, e.sets = merged(e.codes, other.codes), merged(e.sets, other.sets)
	}
	if other.versions != nil {
		e.versions = merged(e.versions, other.versions)
	}
	e.changed = append(e.changed, other.changed...)
	e.ended = append(e.ended, other.ended...)
	e.reports = append(e.reports, other.reports...)
}

// fetchable counts what the calls have made fetchable and not locked in the same transaction.
func (e *effects) fetchable() (instances, activities int) {
	return untaken(e.instances, e.instancesTaken), untaken(e.activities, e.activitiesTaken) + e.due
}

// untaken counts what was made and not taken. A call locks only what was there before, and
// nobody gives back what was locked in the same transaction.
func untaken[T comparable](made, taken []T) (n int) {
	for _, m := range made {
		if !slices.Contains(taken, m) {
			n++
		}
	}
	return n
}

// merged joins two maps, of which the first may be changed.
func merged[K comparable, V any](a, b map[K]V) map[K]V {
	if len(a) == 0 {
		return b
	}
	maps.Copy(a, b)
	return a
}

// earlier returns the smaller of two times of which 0 is unknown.
func earlier(a, b int64) int64 {
	if a == 0 || (b != 0 && b < a) {
		return b
	}
	return a
}

// prepareControl prepares them on the connection.
func prepareControl(ctx context.Context, conn *sql.Conn) (control, error) {
	var c control
	for _, p := range []struct {
		stmt **sql.Stmt
		text string
	}{
		{&c.begin, beginWrite},
		{&c.commit, "COMMIT"},
		{&c.rollback, "ROLLBACK"},
		{&c.savepoint, "SAVEPOINT call"},
		{&c.release, "RELEASE call"},
		{&c.undo, "ROLLBACK TO call"},
		{&c.dataVersion, "PRAGMA data_version"},
	} {
		stmt, err := conn.PrepareContext(ctx, p.text) //nolint:sqlclosecheck // control.close does
		if err != nil {
			return c, err
		}
		*p.stmt = stmt
		c.all = append(c.all, stmt)
	}
	return c, nil
}

func (c *control) close() error {
	var errs []error
	for _, stmt := range c.all {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(errs...)
}

// start begins to work off the queue.
func (w *writer) start(published func(effects), awaited func(instance string) bool) {
	w.published, w.awaited = published, awaited
	w.wake = make(chan struct{}, 1)
	w.done = make(chan struct{})
	go w.work()
}

// do queues a call and waits for its outcome. When ctx ends first, the error says
// whether the call may have happened.
func (w *writer) do(ctx context.Context, j *job) error {
	if err := w.submit(ctx, j); err != nil {
		return err
	}
	for waiting := true; waiting; {
		select {
		case <-j.done:
			return j.err
		case found := <-j.early:
			j.tell(found)
		case <-ctx.Done():
			waiting = false
		}
	}
	if j.state.CompareAndSwap(queued, left) {
		return provider.ContextError(ctx, j.operation)
	}
	if j.state.CompareAndSwap(running, left) {
		err := provider.ContextError(ctx, j.operation)
		err.Message += "; the call was being carried out and its outcome is unknown"
		return err
	}
	<-j.done
	return j.err
}

// submit queues a call.
func (w *writer) submit(ctx context.Context, j *job) error {
	if ctx.Err() != nil {
		return provider.ContextError(ctx, j.operation)
	}
	j.ctx = ctx
	j.done = make(chan struct{})
	if !w.push(j) {
		return columns.Closed(j.operation)
	}
	return nil
}

// push appends a job, unless the writer is closed.
func (w *writer) push(j *job) bool {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return false
	}
	w.queue = append(w.queue, j)
	w.mu.Unlock()
	w.notify()
	return true
}

func (w *writer) notify() {
	select {
	case w.wake <- struct{}{}:
	default: // a notice is already there
	}
}

// work is the writer's goroutine.
func (w *writer) work() {
	defer close(w.done)
	for {
		group, closed := w.take()
		if len(group) > 0 {
			w.execute(group)
			continue
		}
		if closed {
			return
		}
		<-w.wake
	}
}

// take removes the next group from the queue.
func (w *writer) take() (group []*job, closed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := min(len(w.queue), maxGroup)
	if w.single {
		n = min(n, 1)
	}
	group = w.queue[:n:n]
	w.queue = w.queue[n:]
	if len(w.queue) == 0 {
		w.queue = nil
	}
	return group, w.closed
}

// execute runs a group as one transaction and answers its callers.
func (w *writer) execute(group []*job) {
	live := group[:0]
	for _, j := range group {
		switch {
		case !j.state.CompareAndSwap(queued, running):
			// The caller has withdrawn it.
		case j.ctx.Err() != nil:
			j.err = provider.ContextError(j.ctx, j.operation)
			close(j.done)
		case j.bare != nil:
			j.err = classify(j.operation, j.bare(context.WithoutCancel(j.ctx)))
			j.state.Store(finished)
			close(j.done)
		default:
			live = append(live, j)
		}
	}
	live = w.parkIdle(live)
	if len(live) == 0 {
		return
	}
	// No call's context interrupts the others', and the driver starts no
	// goroutine to watch one that cannot end.
	ctx := context.WithoutCancel(live[0].ctx)
	served, err := w.transaction(ctx, live)
	if err != nil {
		for _, j := range live {
			// A call that had failed by itself keeps its own reason.
			if j.err == nil {
				j.err = classify(j.operation, err)
			}
		}
	}
	w.answer(append(live, served...))
}

// transaction runs the group between BEGIN and COMMIT. A call of several that fails
// by itself records so and takes back its own changes; the error returned is one
// that nobody's changes survived.
//
// Calls seldom fail, so the first try does without savepoints. When a call fails beside
// others, or after it has done what is to stay, all are done again, each in its own.
//
// served are other jobs that are to be answered as well: parked ones, and one that has joined.
// Only the first try serves any.
func (w *writer) transaction(ctx context.Context, group []*job) (served []*job, err error) {
	failed, err := w.try(ctx, group, unguarded, w.serve)
	served = w.endServing(err)
	if failed == nil || (len(group) == 1 && group[0].err != nil && !group[0].failedToTake()) {
		return served, err
	}
	for _, j := range group {
		j.err, j.thenErr = nil, nil
	}
	_, err = w.try(ctx, group, w.apart, nil)
	return served, err
}

// try is one try of a transaction. It ends with the first error of a step; failed is then
// the job whose own failure it is, nil when it is the transaction's.
func (w *writer) try(
	ctx context.Context, group []*job, do doStep, last func(context.Context, []*job) (failed *job, err error),
) (failed *job, err error) {
	if err := w.begin(ctx); err != nil {
		return nil, err
	}
	version, err := w.dataVersion()
	w.ready.begin(err == nil && version == w.version)
	handsTurnOn := last != nil && endsActivities(group) == 1
	for _, j := range group {
		j.tx = w.newTx()
		j.tx.handsTurnOn = handsTurnOn
		if last != nil {
			j.tx.parking = &w.parking
		}
	}
	for _, part := range []func(context.Context, *job, doStep) error{w.runCall, w.runThen} {
		for _, j := range group {
			if err := part(ctx, j, do); err != nil {
				w.rollback(ctx)
				if j.failed() {
					failed = j
				}
				return failed, err
			}
		}
	}
	if last != nil {
		if failed, err := last(ctx, group); err != nil {
			w.rollback(ctx)
			return failed, err
		}
		if err := w.joinTurn(ctx, group); err != nil {
			w.rollback(ctx)
			return nil, err
		}
		if j := w.parking.joined; j != nil {
			group = append(slices.Clip(group), j)
		}
	}
	w.readOutcomes(ctx, group)
	if _, err := w.control.commit.ExecContext(ctx); err != nil {
		w.rollback(ctx)
		return nil, err
	}
	// If it cannot be read, the next transaction finds that it has changed.
	w.version, _ = w.dataVersion()
	if w.version != version {
		w.committed.Store(true)
	}
	return nil, nil
}

// dataVersion counts the commits that this connection has made, and those of others that
// it has seen. Unlike PRAGMA data_version it is no statement, and has the own ones.
func (w *writer) dataVersion() (version uint32, err error) {
	err = w.conn.Raw(func(conn any) error {
		control, ok := conn.(sqlite.FileControl)
		if !ok {
			return fmt.Errorf("the driver's connection is a %T", conn)
		}
		version, err = control.FileControlDataVersion("main")
		return err
	})
	return version, err
}

// The naps between tries to begin while another process writes.
const (
	shortestNap = 100 * time.Microsecond
	longestNap  = time.Millisecond
)

// begin starts a transaction as soon as no other process has one, and gives up
// after the patience configured. It naps for less than SQLite's own busy handler,
// which sleeps for up to 100 ms between tries: beside a process that writes all the
// time, that rarely hits one of the short pauses between its transactions.
func (w *writer) begin(ctx context.Context) error {
	start := time.Now()
	for nap := shortestNap; ; nap = min(2*nap, longestNap) {
		_, err := w.control.begin.ExecContext(ctx)
		if err == nil || !errors.Is(classify("", err), ErrBusy) || time.Since(start) >= w.patience {
			return err
		}
		<-time.After(nap)
	}
}

// doStep does a step of a job. failed is the step's own error, err the transaction's.
type doStep func(ctx context.Context, t *tx, step func(context.Context, *tx) error) (failed, err error)

// runCall does a job's call. The error is the transaction's, the call's own is recorded in
// the job.
func (w *writer) runCall(ctx context.Context, j *job, do doStep) error {
	j.tx.now = w.clock()
	failed, err := do(ctx, j.tx, j.run)
	if failed != nil {
		j.err = classify(j.operation, failed)
	}
	return err
}

// runThen does what follows the call, as runCall.
func (w *writer) runThen(ctx context.Context, j *job, do doStep) error {
	if len(j.then) > 0 {
		j.tx.now = w.clock() // not before what the other calls have made
	}
	for i := 0; i < len(j.then) && !j.failed(); i++ {
		failed, err := do(ctx, j.tx, j.then[i])
		if failed != nil {
			j.thenErr = classify(j.operation, failed)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// unguarded does a step whose failure is the transaction's.
func unguarded(ctx context.Context, t *tx, step func(context.Context, *tx) error) (failed, err error) {
	err = step(ctx, t)
	return err, err
}

func (w *writer) newTx() *tx {
	return &tx{Queries: w.queries, now: w.clock(), known: &w.codes, ready: &w.ready, rows: &w.rows}
}

// apart does a step in a savepoint. One that has failed has changed nothing.
func (w *writer) apart(ctx context.Context, t *tx, step func(context.Context, *tx) error) (failed, err error) {
	if _, err := w.control.savepoint.ExecContext(ctx); err != nil {
		return nil, err
	}
	before := t.effects
	if failed = step(ctx, t); failed != nil {
		t.effects = before
		// The maps may have been changed in place. What they had will be looked up again.
		t.codes, t.sets, t.versions = nil, nil, nil
		w.ready.rolledBack()
		// After a full disk or an I/O error SQLite may have rolled everything
		// back already. Then there is no savepoint, and the group has failed for
		// the reason this call has.
		if _, err := w.control.undo.ExecContext(ctx); err != nil {
			return failed, failed
		}
	}
	_, err = w.control.release.ExecContext(ctx)
	return failed, err
}

// rollback ends a transaction that failed. SQLite may have ended it already, in
// which case there is nothing to do.
func (w *writer) rollback(ctx context.Context) {
	_, _ = w.control.rollback.ExecContext(ctx)
	w.ready.rolledBack()
}

// answer tells the callers, and the rest of the process what has changed.
func (w *writer) answer(group []*job) {
	var sum effects
	callers := len(group)
	for _, j := range group {
		if j.err == nil {
			sum.add(j.tx.effects)
		}
		if j.answered {
			callers = 1 // the turn's, as who has started the instance waits for its end
			continue
		}
		if j.waits != nil && !j.failed() && !j.waits.found() {
			w.parking.park(j)
			continue
		}
		if !j.state.CompareAndSwap(running, finished) && j.err == nil && j.undo != nil {
			w.takeBack(j)
		}
		close(j.done)
	}
	if sum.codes != nil || sum.sets != nil || sum.versions != nil {
		w.codes.remember(sum)
	}
	sum.outcomes = w.outcomes
	w.published(sum)
	if !w.single {
		w.gather(callers)
	}
}

// takeBack queues the undo of a job whose caller has gone.
func (w *writer) takeBack(j *job) {
	undo := &job{
		operation: j.operation, run: j.undo,
		ctx: context.WithoutCancel(j.ctx), done: make(chan struct{}),
	}
	w.mu.Lock()
	// In front, so that whoever is waiting may have what is given back. Also when
	// closed: the goroutine ends only when the queue is empty.
	w.queue = slices.Insert(w.queue, 0, undo)
	w.mu.Unlock()
}

// changedElsewhere reports whether another process has committed since the last
// call. SQLite counts such commits for each connection without touching the disk.
func (w *writer) changedElsewhere(ctx context.Context) (bool, error) {
	var changed bool
	err := w.do(ctx, &job{operation: "poll", bare: func(ctx context.Context) error {
		before := w.seen
		err := w.look(ctx)
		changed = w.seen != before
		return err
	}})
	return changed, err
}

// look reads how many commits of others the connection has seen.
func (w *writer) look(ctx context.Context) error {
	before := w.seen
	err := w.control.dataVersion.QueryRowContext(ctx).Scan(&w.seen)
	if err != nil || w.seen != before {
		w.ready.forget() // a parked job may have relied on it
	}
	return err
}

// close runs what is queued and closes the connection.
func (w *writer) close() error {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	if w.done != nil {
		w.notify()
		<-w.done
	}
	return w.closeAll()
}

// closeAll closes what has been opened.
func (w *writer) closeAll() error {
	// Statements first: SQLite keeps a connection whose statements are open, and
	// with it the log.
	var errs []error
	if w.queries != nil {
		errs = append(errs, w.queries.Close())
	}
	errs = append(errs, w.rows.close(), w.control.close())
	if w.conn != nil {
		errs = append(errs, w.conn.Close())
	}
	return classifyClose(append(errs, w.db.Close())...)
}

// classifyClose joins what went wrong with closing.
func classifyClose(errs ...error) error {
	return classify("close", errors.Join(errs...))
}
