package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duroxide/duroxide-go/gen/sqlitedb"
	"github.com/duroxide/duroxide-go/provider"
)

// maxGroup bounds the calls of one transaction, so that the first of them is not
// kept waiting for the last.
const maxGroup = 128

// writer owns the connection that writes. Calls queue up; one goroutine takes
// what is there, runs it as one transaction and answers everybody.
type writer struct {
	db       *sql.DB
	conn     *sql.Conn
	queries  *sqlitedb.Queries
	prepared *prepared // what queries run on
	rows     rowStatements
	control  control
	clock    func() int64
	// files are looked at before each transaction.
	files openedFiles
	// logRoom is about the room that the log leaves on the disk.
	logRoom logRoom
	// patience is how long to wait for another process that writes.
	patience time.Duration
	// single switches groups off.
	single bool
	// codes are looked up already. Only work uses them.
	codes codes
	// ready says where fetchable rows are. Only work uses it.
	ready readyRows
	// seen is the last answer to PRAGMA data_version. Only work reads it.
	seen int64
	// gathering is what gather has learnt. Only work uses it.
	gathering gathering
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

// start begins to work off the queue.
func (w *writer) start(published func(effects), awaited func(instance string) bool) {
	w.published, w.awaited = published, awaited
	w.wake = make(chan struct{}, 1)
	w.done = make(chan struct{})
	go w.work()
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
	if len(live) == 0 {
		return
	}
	// No call's context interrupts the others', and the driver starts no
	// goroutine to watch one that cannot end.
	ctx := context.WithoutCancel(live[0].ctx)
	if err := w.transaction(ctx, live); err != nil {
		for _, j := range live {
			// A call that had failed by itself keeps its own reason.
			if j.err == nil {
				j.err = classify(j.operation, err)
			}
		}
	}
	w.answer(live)
}

// answer tells the callers, and the rest of the process what has changed.
func (w *writer) answer(group []*job) {
	var sum effects
	for _, j := range group {
		if errors.Is(j.err, ErrDiskFull) || errors.Is(j.thenErr, ErrDiskFull) {
			w.logRoom.full = true
		}
		if j.err == nil {
			sum.add(j.tx.effects)
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
		w.gather(len(group))
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
	return w.control.dataVersion.QueryRowContext(ctx).Scan(&w.seen)
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
	if w.prepared != nil {
		errs = append(errs, w.prepared.close())
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
