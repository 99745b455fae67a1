package mssql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	sqlserver "github.com/microsoft/go-mssqldb"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/internal/clock"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"
	"github.com/duroxide/duroxide-go/tsql/tdsproxy"
)

// opened opens a store that the test's end closes.
func opened(t *testing.T, dsn string, options Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), dsn, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// refused checks the error of opening: one line, with the sentinel and the text, and
// without the connection string's secrets.
func refused(t *testing.T, s *Store, err, sentinel error, text string, retryable bool) {
	t.Helper()
	if s != nil {
		t.Error("there is a store beside the error")
	}
	got, ok := errors.AsType[*provider.Error](err)
	if !ok || !errors.Is(err, sentinel) || got.Retryable != retryable || got.Operation != "open" {
		t.Errorf("error %v; want %v, retryable: %v", err, sentinel, retryable)
		return
	}
	if !strings.Contains(got.Message, text) || strings.Contains(got.Message, "\n") || strings.Contains(got.Message, "s3cret") {
		t.Errorf("error %q; want one line with %q", got.Message, text)
	}
}

// altered is the test server's URL with another parameter.
func altered(t *testing.T, change func(u *url.URL, query url.Values)) string {
	t.Helper()
	u, err := url.Parse(mssqltest.DSN(t))
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	change(u, query)
	u.RawQuery = query.Encode()
	return u.String()
}

func inSchema(t *testing.T, schema string) string {
	t.Helper()
	return altered(t, func(_ *url.URL, query url.Values) { query.Set("schema", schema) })
}

func TestOpen(t *testing.T) {
	t.Parallel()
	_, schema := mssqltest.Pooled(t)
	if s := opened(t, inSchema(t, schema), Options{}); s.Schema() != schema {
		t.Errorf("opened schema %q; want %q", s.Schema(), schema)
	}
	if s := opened(t, mssqltest.DSN(t), Options{Schema: schema, MaxOpenConns: 3}); s.db.Stats().MaxOpenConnections != 3 {
		t.Errorf("%d connections; want 3", s.db.Stats().MaxOpenConnections)
	}
}

func TestOpenMigrates(t *testing.T) {
	t.Parallel()
	dsn, schema := mssqltest.DSN(t), mssqltest.Name()
	mssqltest.Drop(t, schema)
	s, err := Open(t.Context(), dsn, Options{Schema: schema})
	refused(t, s, err, ErrMissingSchema, schema, false)
	opened(t, dsn, Options{Schema: schema, AutoMigrate: true})
	opened(t, dsn, Options{Schema: schema, AutoMigrate: true})
	opened(t, dsn, Options{Schema: schema})
}

// Migrating takes an owner's rights: a login without them is told so.
func TestOpenMigratesAsAnOwner(t *testing.T) {
	t.Parallel()
	_, dsn := mssqltest.NewLogin(t)
	s, err := Open(t.Context(), dsn, Options{Schema: mssqltest.Name(), AutoMigrate: true})
	refused(t, s, err, ErrPermission, "connect as a member of db_owner", false)
}

// Any number of processes may start at once on a database without a schema.
func TestOpenMigratesFromManyProcesses(t *testing.T) {
	t.Parallel()
	dsn, schema := mssqltest.DSN(t), mssqltest.Name()
	mssqltest.Drop(t, schema)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			s, err := Open(t.Context(), dsn, Options{Schema: schema, AutoMigrate: true})
			if err != nil {
				t.Error(err)
				return
			}
			item := provider.QueueMessageItem{Instance: "i", Name: "q"}
			if err := errors.Join(s.EnqueueForOrchestrator(t.Context(), item, 0), s.Close()); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	s := opened(t, dsn, Options{Schema: schema})
	if depths, err := s.GetQueueDepths(t.Context()); err != nil || depths.OrchestratorQueue != 8 {
		t.Errorf("the queue holds %+v, %v; want 8 messages", depths, err)
	}
}

// A schema that other scripts have made is left alone.
func TestOpenRefusesAForeignSchema(t *testing.T) {
	t.Parallel()
	schema := mssqltest.NewSchema(t)
	var ours []byte
	if err := mssqltest.DB(t).QueryRowContext(t.Context(),
		"SELECT m.checksum FROM ["+schema+"].migrations AS m WHERE m.version = 1").Scan(&ours); err != nil {
		t.Fatal(err)
	}
	setChecksum(t, schema, []byte{1})
	t.Cleanup(func() { setChecksum(t, schema, ours) }) // or the schema could not be dropped
	for _, migrate := range []bool{false, true} {
		s, err := Open(t.Context(), mssqltest.DSN(t), Options{Schema: schema, AutoMigrate: migrate})
		refused(t, s, err, ErrForeignSchema, "a different text", false)
	}
}

// setChecksum makes the first script of a schema another one.
func setChecksum(t *testing.T, schema string, checksum []byte) {
	t.Helper()
	_, err := mssqltest.DB(t).ExecContext(context.WithoutCancel(t.Context()),
		"UPDATE ["+schema+"].migrations SET checksum = @p1 WHERE version = 1", checksum)
	if err != nil {
		t.Error(err)
	}
}

// Unused and old connections are closed when Options say so, and are kept when they say that.
func TestConnectionsAreClosedInTime(t *testing.T) {
	t.Parallel()
	const never = Forever
	for name, c := range map[string]struct {
		idle, life time.Duration
		// after is for how long a connection is not used; closed is whether another one takes its place.
		after  time.Duration
		closed bool
	}{
		"used again in time":  {10 * time.Minute, 20 * time.Minute, 5 * time.Minute, false},
		"unused for long":     {10 * time.Minute, never, 12 * time.Minute, true},
		"old":                 {never, 10 * time.Minute, 12 * time.Minute, true},
		"kept, by default":    {0, 0, 4 * time.Minute, false},
		"not kept by default": {0, 0, 7 * time.Minute, true},
		"kept for ever":       {never, never, 1000 * time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				settings, err := Options{ConnMaxIdleTime: c.idle, ConnMaxLifetime: c.life, MaxOpenConns: 3}.forOpen("")
				if err != nil {
					t.Fatal(err)
				}
				f := &fake{}
				db := openPool(f, settings)
				defer db.Close()
				for range 2 {
					if err := db.PingContext(t.Context()); err != nil {
						t.Fatal(err)
					}
					time.Sleep(c.after)
				}
				want := int64(1)
				if c.closed {
					want = 2
				}
				if f.connects.Load() != want {
					t.Errorf("connected %d times; want %d", f.connects.Load(), want)
				}
			})
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	mssqltest.DSN(t)
	for name, c := range map[string]struct {
		change   func(u *url.URL, query url.Values)
		sentinel error
		text     string
	}{
		"a database that is not there": {
			func(_ *url.URL, query url.Values) { query.Set("database", "duroxide no such database") }, ErrMissingDatabase, "create it",
		},
		"a schema name that is none": {
			func(_ *url.URL, query url.Values) { query.Set("schema", "a\nb") }, provider.ErrInvalidArgument, "schema",
		},
		"Entra ID": {
			func(_ *url.URL, query url.Values) { query.Set("fedauth", "ActiveDirectoryDefault") }, provider.ErrInvalidArgument, "azuread",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := Open(t.Context(), altered(t, c.change), Options{})
			refused(t, s, err, c.sentinel, c.text, false)
		})
	}
}

// listen is the connection string of a server that does with each connection what the test says.
func listen(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	return "sqlserver://u:s3cret@" + mssqltest.Listen(t, serve) + "?database=d&encrypt=disable"
}

func TestOpenWithoutServer(t *testing.T) {
	t.Parallel()
	t.Run("nobody listens", func(t *testing.T) {
		t.Parallel()
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_ = l.Close()
		s, err := Open(t.Context(), "sqlserver://u:s3cret@"+l.Addr().String(), Options{})
		refused(t, s, err, ErrUnreachable, "check the host and port", true)
	})
	t.Run("it hangs up, and is asked once", func(t *testing.T) {
		t.Parallel()
		var accepted atomic.Int64
		s, err := Open(t.Context(), listen(t, func(conn net.Conn) {
			accepted.Add(1)
			_ = conn.Close()
		}), Options{})
		refused(t, s, err, ErrUnreachable, "the server", true)
		if n := accepted.Load(); n != 1 {
			t.Errorf("Open tried %d times; want once", n)
		}
	})
	t.Run("it never answers", func(t *testing.T) {
		t.Parallel()
		// On a busy machine the time may be over before there is a connection.
		dsn := listen(t, func(conn net.Conn) { <-t.Context().Done(); _ = conn.Close() })
		ctx, cancel := context.WithTimeout(t.Context(), 100*millisecond)
		defer cancel()
		s, err := Open(ctx, dsn, Options{})
		refused(t, s, err, ErrUnreachable, "check the host and port", true)
	})
	t.Run("the caller gives up", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		dsn := listen(t, func(conn net.Conn) { cancel(); _ = conn.Close() })
		s, err := Open(ctx, dsn, Options{})
		refused(t, s, err, context.Canceled, "canceled", true)
	})
}

func TestOpenWith(t *testing.T) {
	t.Parallel()
	var got string
	s, err := OpenWith(t.Context(), "mssql://u:s3cret@h:1433/d", Options{}, func(dsn string) (driver.Connector, error) {
		got = dsn
		return nil, errTest
	})
	refused(t, s, err, provider.ErrInvalidArgument, errTest.Error(), false)
	if !strings.HasPrefix(got, "sqlserver://u:s3cret@h:1433?") {
		t.Errorf("connected with %q", got)
	}
}

func TestNewNeedsADatabase(t *testing.T) {
	t.Parallel()
	s, err := New(nil, Options{})
	refused(t, s, err, provider.ErrInvalidArgument, "*sql.DB", false)
}

// New connects to nothing.
func TestNewConnectsToNothing(t *testing.T) {
	t.Parallel()
	f := &fake{refuse: errTest}
	if s := on(t, f, Options{}); s == nil || f.connects.Load() != 0 {
		t.Errorf("connected %d times", f.connects.Load())
	}
}

// A connection that breaks before the answer leaves open what became of the call: it
// is repeated by itself only where that is safe (rule Q11).
func TestCallOverABrokenConnection(t *testing.T) {
	t.Parallel()
	schema := mssqltest.NewSchema(t)
	t.Run("silent server", func(t *testing.T) {
		t.Parallel()
		silentServer(t, schema)
	})
	for name, c := range map[string]struct {
		action tdsproxy.Action
		repeat bool
		want   error
		sent   int
	}{
		"request lost":                {tdsproxy.Action{Fault: tdsproxy.CutRequest}, false, ErrUnreachable, 1},
		"request lost, repeatable":    {tdsproxy.Action{Fault: tdsproxy.CutRequest}, true, provider.ErrInvalidLockToken, 2},
		"answer lost":                 {tdsproxy.Action{Fault: tdsproxy.CutAnswer}, false, ErrUnreachable, 1},
		"answer lost, repeatable":     {tdsproxy.Action{Fault: tdsproxy.CutAnswer}, true, provider.ErrInvalidLockToken, 2},
		"half of the answer":          {tdsproxy.Action{Fault: tdsproxy.CutAnswer, After: 12}, false, ErrUnreachable, 1},
		"nothing lost":                {tdsproxy.Action{}, false, provider.ErrInvalidLockToken, 1},
		"nothing lost and repeatable": {tdsproxy.Action{}, true, provider.ErrInvalidLockToken, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy := tdsproxy.New(t, mssqltest.Addr(t))
			s := opened(t, mssqltest.Via(t, proxy.Addr()), Options{Schema: schema})
			before := proxy.Requests()
			first := make(chan struct{}, 1)
			first <- struct{}{}
			proxy.OnRequest(func(tdsproxy.Request) tdsproxy.Action {
				select {
				case <-first:
					return c.action
				default:
					return tdsproxy.Action{}
				}
			})
			err := s.call(t.Context(), "renew_work_item_lock", c.repeat, func(ctx context.Context, q *mssqldb.Queries) error {
				return q.RenewWorkItemLock(ctx, mssqldb.RenewWorkItemLockParams{LockToken: sqlserver.UniqueIdentifier{1}, ExtendMs: 1000})
			})
			if !errors.Is(err, c.want) {
				t.Errorf("error %v; want %v", err, c.want)
			}
			if sent := proxy.Requests().Minus(before).RPCs; sent != c.sent {
				t.Errorf("%d requests; want %d", sent, c.sent)
			}
		})
	}
}

// silentServer is a call whose answer never comes: its time ends it.
func silentServer(t *testing.T, schema string) {
	t.Helper()
	proxy := tdsproxy.New(t, mssqltest.Addr(t))
	s := opened(t, mssqltest.Via(t, proxy.Addr()), Options{Schema: schema})
	proxy.OnRequest(func(tdsproxy.Request) tdsproxy.Action { return tdsproxy.Action{Fault: tdsproxy.SwallowAnswer} })
	s.retries.patience = 50 * time.Millisecond
	err := s.call(t.Context(), "renew_work_item_lock", false, func(ctx context.Context, q *mssqldb.Queries) error {
		return q.RenewWorkItemLock(ctx, mssqldb.RenewWorkItemLockParams{LockToken: sqlserver.UniqueIdentifier{1}, ExtendMs: 1000})
	})
	if !errors.Is(err, ErrUnreachable) || !provider.IsRetryable(err) || !strings.Contains(err.Error(), "CallTimeout") {
		t.Errorf("error %v; want a retryable %v", err, ErrUnreachable)
	}
}

// resumed is a database in Azure that resumes: it refuses so many connections.
type resumed struct {
	driver.Connector

	refusals atomic.Int64
}

func (r *resumed) Connect(ctx context.Context) (driver.Conn, error) {
	if r.refusals.Add(-1) >= 0 {
		return nil, reported(40613)
	}
	return r.Connector.Connect(ctx)
}

// Opening a store waits for a database that resumes after a pause, and so does the first call after one, for longer
// than other failures are repeated. When the caller gives up before, the error says why.
func TestPausedDatabase(t *testing.T) {
	t.Parallel()
	database := &resumed{}
	connect := func(dsn string) (c driver.Connector, err error) {
		database.Connector, err = connector(dsn)
		return database, err
	}
	options := Options{Schema: mssqltest.NewSchema(t), RetryBackoff: millisecond}
	const refusals = defaultMaxRetries + 3
	database.refusals.Store(refusals)
	s, err := OpenWith(t.Context(), mssqltest.DSN(t), options, connect)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	s.db.SetMaxIdleConns(0) // as after a pause
	database.refusals.Store(refusals)
	if _, err := s.GetQueueDepths(t.Context()); err != nil {
		t.Errorf("the first call after a pause: %v", err)
	}
	database.refusals.Store(1 << 30)
	ctx, cancel := context.WithTimeout(t.Context(), 50*millisecond)
	defer cancel()
	if _, err := OpenWith(ctx, mssqltest.DSN(t), options, connect); !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "paused") {
		t.Errorf("opening ended with %v, want %v with the reason", err, ErrUnreachable)
	}
	options.MaxRetries = None
	if _, err := OpenWith(t.Context(), mssqltest.DSN(t), options, connect); !errors.Is(err, ErrUnreachable) {
		t.Errorf("opening ended with %v, want %v", err, ErrUnreachable)
	}
}

// A store that nobody uses polls nothing and keeps no connection beyond Options.ConnMaxIdleTime, and one that is closed
// keeps none, so that a serverless database can pause.
func TestUnusedStoreHasNoConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		options, err := Options{}.forOpen("")
		if err != nil {
			t.Fatal(err)
		}
		f := &fake{}
		s := assemble(openPool(f, options), true, options)
		use := func() {
			t.Helper()
			conns := make([]*sql.Conn, 3)
			for i := range conns {
				if conns[i], err = s.db.Conn(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			for _, conn := range conns {
				_ = conn.Close()
			}
		}
		use()
		if open := s.db.Stats().OpenConnections; open != 3 {
			t.Errorf("%d connections are open, want 3 that are idle", open)
		}
		_ = clock.Sleep(t.Context(), options.ConnMaxIdleTime+2*time.Second)
		if open, made := s.db.Stats().OpenConnections, f.connects.Load(); open != 0 || made != 3 {
			t.Errorf("after %v %d connections are open of %d, want none of 3", options.ConnMaxIdleTime, open, made)
		}
		use()
		if err := s.Close(); err != nil || f.closes.Load() != 6 {
			t.Errorf("%v, and %d connections were closed, want 6", err, f.closes.Load())
		}
		_ = clock.Sleep(t.Context(), time.Hour)
		if made := f.connects.Load(); made != 6 {
			t.Errorf("%d connections were made, want 6", made)
		}
	})
}
