package mssql

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"
	"github.com/duroxide/duroxide-go/tsql/tdsproxy"
)

// failover is a store on a server whose connections, as far as the test says, lead to an old primary.
type failover struct {
	*Store

	// old is the number of the last connection to the old primary, last that of the last request's.
	old, last atomic.Int64
}

// newFailover has as many idle connections as its pool may have. All lead to the old primary.
func newFailover(t *testing.T, conns int) *failover {
	t.Helper()
	proxy := tdsproxy.New(t, mssqltest.Addr(t))
	f := &failover{Store: opened(t, mssqltest.Via(t, proxy.Addr()), Options{Schema: mssqltest.NewSchema(t), MaxOpenConns: conns, RetryBackoff: millisecond})}
	proxy.OnRequest(func(r tdsproxy.Request) tdsproxy.Action {
		f.last.Store(int64(r.Conn))
		return tdsproxy.Action{}
	})
	f.atOnce(t, conns)
	f.old.Store(int64(conns))
	return f
}

// atOnce makes calls beside each other, each of which has a connection of its own, and returns the highest number of
// those.
func (f *failover) atOnce(t *testing.T, calls int) {
	t.Helper()
	var inside, done sync.WaitGroup
	inside.Add(calls)
	for range calls {
		done.Go(func() {
			err := f.call(t.Context(), "op", once, func(ctx context.Context, q *mssqldb.Queries) error {
				inside.Done()
				inside.Wait()
				_, err := q.ReadClock(ctx)
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
}

// write is a call that the old primary refuses with the error.
func (f *failover) write(t *testing.T, number int32) error {
	t.Helper()
	return f.call(t.Context(), "op", once, func(ctx context.Context, q *mssqldb.Queries) error {
		if _, err := q.ReadClock(ctx); err != nil {
			return err
		}
		if f.last.Load() <= f.old.Load() {
			return reported(number)
		}
		return nil
	})
}

// After a failover the connections that are open lead to what was the primary, and new ones to what is. One call finds
// out, and none after it uses an old connection, however many were idle.
func TestOldPrimaryIsLeft(t *testing.T) {
	t.Parallel()
	for number, want := range map[int32]error{3906: ErrReadOnly, 976: nil} { // a call that is worth repeating finds the new primary itself
		f := newFailover(t, 3)
		if err := f.write(t, number); !errors.Is(err, want) {
			t.Errorf("error %d: the first call ended with %v, want %v", number, err, want)
		}
		for range 3 {
			if err := f.write(t, number); err != nil {
				t.Errorf("error %d: a later call ended with %v", number, err)
			}
		}
		f.atOnce(t, 3)
		if idle := f.db.Stats().Idle; idle != 3 {
			t.Errorf("error %d: %d connections are idle, want 3", number, idle)
		}
		if f.old.Swap(1000); f.write(t, number) == nil && number == 3906 {
			t.Error("the test does not notice an old connection")
		}
	}
}

// An error in a result set tells of a failover as well.
func TestOldPrimaryIsLeftIfAResultTellsOfIt(t *testing.T) {
	t.Parallel()
	f := newFailover(t, 2)
	if err := f.told(opAckWork, reported(3906)); !errors.Is(err, ErrReadOnly) {
		t.Error(err)
	}
	if err := f.write(t, 3906); err != nil {
		t.Errorf("the next call ended with %v", err)
	}
}

// Of a pool of the caller's only the connection is closed that meets the error.
func TestOldPrimaryIsLeftByACallersPool(t *testing.T) {
	t.Parallel()
	f := &fake{}
	s := on(t, f, Options{MaxRetries: None})
	for n := range int64(3) {
		err := s.call(t.Context(), "op", once, func(context.Context, *mssqldb.Queries) error { return reported(3906) })
		if closed := f.closes.Load(); !errors.Is(err, ErrReadOnly) || closed != n+1 {
			t.Errorf("%v, and %d connections were closed after %d calls", err, closed, n+1)
		}
	}
	if err := s.call(t.Context(), "op", once, func(context.Context, *mssqldb.Queries) error { return reported(1205) }); !errors.Is(err, ErrBusy) || f.closes.Load() != 3 {
		t.Errorf("%v, and %d connections were closed after a deadlock", err, f.closes.Load())
	}
}
