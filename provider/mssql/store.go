package mssql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"log/slog"
	"slices"
	"time"

	sqlserver "github.com/microsoft/go-mssqldb"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
	"github.com/duroxide/duroxide-go/provider/internal/lifecycle"
	"github.com/duroxide/duroxide-go/provider/internal/wakeup"
)

// Version is the semantic version of this implementation.
const Version = "0.1.0"

// Store is a schema of a database. It implements [provider.Provider] and
// [provider.Admin] and is safe for concurrent use.
type Store struct {
	db *sql.DB
	// ours says that db was opened here and is closed with the store.
	ours bool
	// queries are the procedures of the store's schema.
	queries *mssqldb.Queries
	schema  string
	// holder is who claims, for people who look at leases.
	holder  string
	log     *slog.Logger
	retries retries

	// poller tells the subscribers of the queues instances and activities when there may be work.
	poller                *poller
	instances, activities *queue
	// changes are the clients that wait for an instance.
	changes wakeup.Changes
	// ends are those of them that wait for the end.
	ends wakeup.Changes

	// calls are the calls in progress, for Close to wait for.
	calls lifecycle.Calls
	// others has a place for each connection that calls may have which renew no lease; nil for no limit.
	others chan struct{}
}

// reserved is how many connections of a pool are kept for renewals, and smallPool the size of one that is too small for
// that. Any other call may wait for the lock of an inbox, which an application's transaction may hold for as long as it
// likes (EnqueueTx). If such calls had all connections, leases would end meanwhile that have nothing to do with that
// transaction.
const (
	reserved  = 2
	smallPool = 3
)

// renewals are the operations that the reserved connections are for.
var renewals = []string{"renew_orchestration_item_lock", "renew_work_item_lock", "keep_heartbeat", "renew_locks", "renew_session_lock"}

// newOthers makes the places of a pool.
func newOthers(db *sql.DB) chan struct{} {
	most := db.Stats().MaxOpenConnections
	if most <= smallPool {
		return nil
	}
	return make(chan struct{}, most-reserved)
}

var _ provider.Store = (*Store)(nil)

// Name implements [provider.Provider].
func (*Store) Name() string { return "mssql" }

// Version implements [provider.Provider].
func (*Store) Version() string { return Version }

// Schema returns the name of the schema that the store uses.
func (s *Store) Schema() string { return s.schema }

// Close lets calls in progress finish, and closes the
// connections, unless they belong to the caller of [New]. Calls made after it, and the
// waits it ended, return [provider.ErrClosed]. Closing twice is allowed and returns the
// same error.
func (s *Store) Close() error { return s.calls.Close(s.shut) }

// shut ends what runs in the background and closes the connections.
func (s *Store) shut() error {
	s.poller.stop()
	if s.ours {
		return classify("close", s.db.Close())
	}
	return nil
}

// enter counts a call in, so that Close can wait for it. Every call that returns nil
// is followed by leave.
func (s *Store) enter(operation string) error {
	if !s.calls.Enter() {
		return columns.Closed(operation)
	}
	return nil
}

func (s *Store) leave() { s.calls.Leave() }

// call runs one call of the contract: run makes a round trip, or more if it must.
//
// A try that certainly changed nothing (a deadlock, a lost race, a server that takes no
// connections now) is repeated a few times after a pause. A try whose outcome is
// unknown, because the connection broke, is repeated only if repeat says that doing it
// twice is the same as doing it once: reads, and renewing a lease. Acknowledging is not:
// had the first try been committed, the second would be told that its token is invalid,
// and the caller would take its work for lost. A try that took longer than
// [Options.CallTimeout] is never repeated, as the caller has waited long enough.
//
// run is therefore called more than once and must not keep results of an earlier try.
// The context that it is given ends with ctx or with the call's time. Errors of run
// that are a [*provider.Error] already are returned as they are.
func (s *Store) call(
	ctx context.Context, operation string, repeat bool, run func(context.Context, *mssqldb.Queries) error,
) error {
	if err := s.enter(operation); err != nil {
		return err
	}
	defer s.leave()
	return s.retries.do(ctx, operation, repeat, func(ctx context.Context) error { return s.try(ctx, operation, run) })
}

// callTx is call for several calls in one transaction, which is done once.
func (s *Store) callTx(ctx context.Context, operation string, run func(context.Context, *mssqldb.Queries) error) error {
	if err := s.enter(operation); err != nil {
		return err
	}
	defer s.leave()
	return s.retries.do(ctx, operation, once, func(ctx context.Context) error {
		return s.onConn(ctx, operation, func(conn *sql.Conn) error {
			// Somebody may have left the session under SNAPSHOT, in whose transactions the procedures refuse to run.
			tx, err := conn.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
			if err != nil {
				return err
			}
			// After a commit it has nothing to do, and after an error the server may have done it.
			defer func() { _ = tx.Rollback() }()
			if err := run(ctx, s.queries.WithTx(tx)); err != nil {
				return err
			}
			return tx.Commit()
		})
	})
}

// try runs a call once.
func (s *Store) try(ctx context.Context, operation string, run func(context.Context, *mssqldb.Queries) error) error {
	return s.onConn(ctx, operation, func(conn *sql.Conn) error {
		return run(ctx, s.queries.With(conn))
	})
}

// onConn lends a connection. Taking the connection by hand has three
// reasons: what failed before anything was sent is told from what failed after; the
// driver tells whether the connection broke, which its errors often do not; and
// database/sql, which sends a request again when a connection broke in the middle of
// it, does so only for calls that are not on a connection taken (rule Q11).
func (s *Store) onConn(ctx context.Context, operation string, run func(*sql.Conn) error) error {
	if s.others != nil && !slices.Contains(renewals, operation) {
		select {
		case s.others <- struct{}{}:
			defer func() { <-s.others }()
		case <-ctx.Done():
			return &unconnected{ctx.Err()}
		}
	}
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return &unconnected{err}
	}
	// Returning a connection to the pool has nothing to report: the call is over.
	defer func() { _ = conn.Close() }()
	err = run(conn)
	switch {
	case err == nil:
	case !usable(conn):
		return &broken{err}
	case judge(err).moved:
		// database/sql closes the connection for this error of the function.
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
		s.leaveIdle()
	}
	return err
}

// leaveIdle closes the idle connections, since they lead to the server that was the primary, and new ones to the one
// that is. A connection that is in use is closed when it meets the error itself, as one of the caller's pool is.
func (s *Store) leaveIdle() {
	if s.ours {
		s.db.SetMaxIdleConns(0)
		s.db.SetMaxIdleConns(s.db.Stats().MaxOpenConnections)
	}
}

// told is the error of an operation that a result set tells of.
func (s *Store) told(operation string, cause sqlserver.Error) error {
	if judge(cause).moved {
		s.leaveIdle()
	}
	return classify(operation, cause)
}

// usable reports whether the driver would use the connection again. Without an answer
// it is taken to be.
func usable(conn *sql.Conn) bool {
	valid := true
	err := conn.Raw(func(driverConn any) error {
		if v, ok := driverConn.(driver.Validator); ok {
			valid = v.IsValid()
		}
		return nil
	})
	return valid && !errors.Is(err, sql.ErrConnDone)
}

// InstanceChanged implements [provider.Store].
func (s *Store) InstanceChanged(instance string) (changed <-chan struct{}, stop func()) {
	return s.changes.Await(instance)
}

// announceEnd tells the clients of this process that wait for one of the instances, which
// have ended or were deleted. It comes after the commit.
func (s *Store) announceEnd(instances ...string) {
	s.changes.Announce(instances...)
	s.ends.Announce(instances...)
}

// signalInstances and signalActivities wake fetches of this process for n instances or
// activities that a call has made fetchable. They come after the commit.
func (s *Store) signalInstances(n int)  { s.instances.signal(n) }
func (s *Store) signalActivities(n int) { s.activities.signal(n) }

// noteInstanceWake and noteActivityWake wake a fetch of this process after the delay,
// when what a call has delayed becomes fetchable. Leases of turns and activities are not
// noted, since nearly all are given up before they end.
func (s *Store) noteInstanceWake(delay time.Duration) { s.instances.note(delay) }
func (s *Store) noteActivityWake(delay time.Duration) { s.activities.note(delay) }
