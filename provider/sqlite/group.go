package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"modernc.org/sqlite"

	"github.com/duroxide/duroxide-go/gen/sqlitedb"
)

// control are the statements around those of a call, which sqlc has no syntax for.
type control struct {
	begin, commit, rollback  *sql.Stmt
	savepoint, release, undo *sql.Stmt
	dataVersion              *sql.Stmt
	// all are the same statements, to be closed.
	all []*sql.Stmt
}

// tx is what a call sees of the transaction it runs in.
type tx struct {
	*sqlitedb.Queries
	// now is the call's time, read once (contract §2.1).
	now int64
	// known are looked up already.
	known *codes
	ready *readyRows
	rows  *rowStatements
	// taking is what a combined call takes, nil for others.
	taking *taking
	effects
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

// transaction runs the group between BEGIN and COMMIT. A call of several that fails
// by itself records so and takes back its own changes; the error returned is one
// that nobody's changes survived.
//
// Calls seldom fail, so the first try does without savepoints. When a call fails beside
// others, or after it has done what is to stay, all are done again, each in its own.
func (w *writer) transaction(ctx context.Context, group []*job) error {
	failed, err := w.try(ctx, group, unguarded)
	if failed == nil || (len(group) == 1 && group[0].err != nil) {
		return err
	}
	for _, j := range group {
		j.err, j.thenErr = nil, nil
	}
	_, err = w.try(ctx, group, w.apart)
	return err
}

// try is one try of a transaction. It ends with the first error of a step; failed is then
// the job whose own failure it is, nil when it is the transaction's.
func (w *writer) try(ctx context.Context, group []*job, do doStep) (failed *job, err error) {
	if err := w.begin(ctx); err != nil {
		return nil, err
	}
	version, err := w.dataVersion()
	w.ready.begin(err == nil && version == w.version)
	for _, j := range group {
		j.tx = &tx{Queries: w.queries, now: w.clock(), known: &w.codes, ready: &w.ready, rows: &w.rows}
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
	logged, err := w.files.look()
	if errors.Is(err, errLogGone) {
		w.moveLog(ctx) // whatever happens to this process, what was acknowledged is in the database then
	}
	if err != nil {
		return err
	}
	w.keepRoom(ctx, logged)
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
