package mssql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/provider"
)

// fake is a driver that connects to nothing.
type fake struct {
	// refuse is the error of connecting.
	refuse error
	// broken makes the driver give up the connections that it has.
	broken atomic.Bool
	// connects and closes count connections.
	connects, closes atomic.Int64
}

func (f *fake) Connect(context.Context) (driver.Conn, error) {
	if f.refuse != nil {
		return nil, f.refuse
	}
	f.connects.Add(1)
	return &fakeConn{fake: f}, nil
}

func (f *fake) Driver() driver.Driver { panic("not used") }

type fakeConn struct{ fake *fake }

func (c *fakeConn) Prepare(string) (driver.Stmt, error) { return nil, errTest }
func (c *fakeConn) Begin() (driver.Tx, error)           { return nil, errTest }
func (c *fakeConn) IsValid() bool                       { return !c.fake.broken.Load() }
func (c *fakeConn) Close() error                        { c.fake.closes.Add(1); return nil }

func fakeDB(t *testing.T, f *fake) *sql.DB {
	t.Helper()
	db := sql.OpenDB(f)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// on makes a store on the driver.
func on(t *testing.T, f *fake, options Options) *Store {
	t.Helper()
	s, err := New(fakeDB(t, f), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// What can be told from an error alone depends on when it came.
func TestCallTellsWhatWasSent(t *testing.T) {
	t.Parallel()
	text := errors.New("failed to send RPC")
	for name, c := range map[string]struct {
		fake   *fake
		repeat bool
		errs   []error
		breaks bool
		want   error
		tries  int
	}{
		"no connection": {&fake{refuse: errTest}, false, nil, false, ErrUnreachable, 0},
		"broken connection, which only the driver knows":         {&fake{}, false, []error{text, nil}, true, ErrUnreachable, 1},
		"broken connection, which only the driver knows, a read": {&fake{}, true, []error{text, nil}, true, nil, 2},
		"an error of the same text, but the connection is well":  {&fake{}, true, []error{text, nil}, false, text, 1},
		"a deadlock": {&fake{}, false, []error{reported(1205), nil}, false, nil, 2},
		"success":    {&fake{}, false, []error{nil}, false, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := on(t, c.fake, Options{RetryBackoff: millisecond})
			s.retries.pause = func(context.Context, time.Duration) error { return nil }
			tries := 0
			err := s.call(t.Context(), "op", c.repeat, func(context.Context, *mssqldb.Queries) error {
				tries++
				if c.breaks && tries == 1 {
					c.fake.broken.Store(true)
				} else {
					c.fake.broken.Store(false)
				}
				return c.errs[tries-1]
			})
			if !errors.Is(err, c.want) || tries != c.tries {
				t.Errorf("%v after %d tries; want %v after %d", err, tries, c.want, c.tries)
			}
			if c.breaks && c.fake.closes.Load() == 0 {
				t.Error("the broken connection went back to the pool")
			}
		})
	}
}

// database/sql sends a call again by itself if its connection proves to be bad, but not
// on a connection that is taken (rule Q11).
func TestCallIsNotSentAgainSilently(t *testing.T) {
	t.Parallel()
	s := on(t, &fake{}, Options{MaxRetries: None})
	tries := 0
	err := s.call(t.Context(), "op", true, func(context.Context, *mssqldb.Queries) error {
		tries++
		return driver.ErrBadConn
	})
	if tries != 1 || !errors.Is(err, ErrUnreachable) || !provider.IsRetryable(err) {
		t.Errorf("%v after %d tries; want a retryable %v after one", err, tries, ErrUnreachable)
	}
}

// A call returns its connection, whatever happens in it.
func TestCallReturnsItsConnection(t *testing.T) {
	t.Parallel()
	f := &fake{}
	s := on(t, f, Options{MaxRetries: None})
	s.db.SetMaxOpenConns(1)
	for _, result := range []error{nil, reported(1205), errTest, provider.Permanent("op", "x", nil), nil} {
		_ = s.call(t.Context(), "op", true, func(context.Context, *mssqldb.Queries) error { return result })
		if inUse := s.db.Stats().InUse; inUse != 0 {
			t.Fatalf("after %v, %d connections are in use", result, inUse)
		}
	}
	if f.connects.Load() != 1 {
		t.Errorf("connected %d times; want once", f.connects.Load())
	}
}

// When all connections are busy a call waits for one, but not for ever.
func TestCallWaitsForAConnection(t *testing.T) {
	t.Parallel()
	s := on(t, &fake{}, Options{CallTimeout: millisecond})
	s.db.SetMaxOpenConns(1)
	conn, err := s.db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	err = s.call(t.Context(), "op", true, func(context.Context, *mssqldb.Queries) error { return nil })
	if !errors.Is(err, ErrUnreachable) || !provider.IsRetryable(err) {
		t.Errorf("error %v; want a retryable %v", err, ErrUnreachable)
	}
}

// Close waits for calls in progress, and calls after it are refused.
func TestClose(t *testing.T) {
	t.Parallel()
	s := on(t, &fake{}, Options{})
	entered, proceed, closed := make(chan struct{}), make(chan struct{}), make(chan struct{})
	called := make(chan error, 1)
	go func() {
		called <- s.call(t.Context(), "op", false, func(context.Context, *mssqldb.Queries) error {
			close(entered)
			<-proceed
			return nil
		})
	}()
	<-entered
	go func() {
		defer close(closed)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	<-s.calls.Closing()
	if err := s.call(t.Context(), "op", false, nil); !errors.Is(err, provider.ErrClosed) || provider.IsRetryable(err) {
		t.Errorf("error %v of a closed store; want a permanent %v", err, provider.ErrClosed)
	}
	select {
	case <-closed:
		t.Error("Close did not wait for the call")
	default:
	}
	close(proceed)
	if err := soon(t, called); err != nil {
		t.Errorf("the call in progress failed: %v", err)
	}
	soon(t, closed)
	if err := s.Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
	if err := s.db.PingContext(t.Context()); err != nil {
		t.Errorf("the caller's connections were closed: %v", err)
	}
}

// A store closes the connections that it opened.
func TestCloseOfOwnConnections(t *testing.T) {
	t.Parallel()
	c, err := Options{}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{}
	db := fakeDB(t, f)
	s := assemble(db, true, c)
	if err := s.db.PingContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if f.closes.Load() != f.connects.Load() {
		t.Errorf("%d of %d connections were closed", f.closes.Load(), f.connects.Load())
	}
}

func TestInstanceChanged(t *testing.T) {
	t.Parallel()
	s := on(t, &fake{}, Options{})
	a, stopA := s.InstanceChanged("a")
	defer stopA()
	b, stopB := s.InstanceChanged("b")
	defer stopB()
	s.announceEnd("a", "c")
	soon(t, a)
	select {
	case <-b:
		t.Error("another instance's change was announced")
	default:
	}
}

func TestNameAndSchema(t *testing.T) {
	t.Parallel()
	s := on(t, &fake{}, Options{Schema: "tenant 1"})
	if got, want := []string{s.Name(), s.Version(), s.Schema()}, []string{"mssql", Version, "tenant 1"}; !slices.Equal(got, want) {
		t.Errorf("got %q; want %q", got, want)
	}
}

// An error that is the end of a stream while the connection is well does not happen,
// but must not be taken for an answer.
func TestEndOfFileIsNoAnswer(t *testing.T) {
	t.Parallel()
	s := on(t, &fake{}, Options{MaxRetries: None})
	err := s.call(t.Context(), "op", false, func(context.Context, *mssqldb.Queries) error { return io.EOF })
	if !provider.IsRetryable(err) || !errors.Is(err, io.EOF) {
		t.Errorf("error %v; want a retryable %v", err, io.EOF)
	}
}
