// Package tsqltest is a T-SQL server for tests. It is not a database for production: it keeps everything in memory
// and runs in the process of the test. It refuses statements that it does not support, with file, line and column.
//
// Tests of a program whose logic is in T-SQL procedures need a server. With this package they need only Go:
//
//	func TestOrders(t *testing.T) {
//		server := tsqltest.New(t, tsqltest.Options{})
//		server.Apply(t, os.DirFS("sql"), "schema.sql", "procedures/*.sql")
//		shop := NewShop(server.DB()) // what is tested; or give it server.DSN()
//		…
//	}
//
// The server speaks TDS, the protocol of SQL Server, so the usual driver connects to it, and the program sees the
// same parameters, result sets, error numbers and transactions as in production. It follows Microsoft's documentation
// of SQL Server 2022, including which locks a statement takes and which session waits for which. You can test
// isolation levels, lock hints, row versions and deadlocks. You cannot test speed, memory or plans: the planner is
// simple, and resembles SQL Server's only in the order in which it reads.
//
// # What is not there
//
// Everything that is not supported fails with error 49900, "… is not supported by tsqltest", and the place. The
// manual has the list, and explains options, logins, locks and deadlocks:
// https://github.com/duroxide/duroxide-go/blob/main/tsql/tsqltest/README.md
package tsqltest

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/duroxide/duroxide-go/tsql/internal/server/request"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schedule"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/session"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/server/wire"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// Options configure a server. The zero value is a server with SQL Server's defaults: READ COMMITTED waits for locks.
type Options struct {
	// Database is the name of the database that DSN names; "test" if it is empty.
	Database string
	// Collation of the database; SQL_Latin1_General_CP1_CI_AS if it is empty.
	Collation string
	// CaseSensitive is short for the collation SQL_Latin1_General_CP1_CS_AS.
	CaseSensitive bool
	// RowVersions turns READ_COMMITTED_SNAPSHOT on, as it is in Azure SQL Database, and ALLOW_SNAPSHOT_ISOLATION.
	RowVersions bool
	// OptimizedLocking turns optimized locking on, as it is in Azure SQL Database, and ACCELERATED_DATABASE_RECOVERY,
	// which it needs: a transaction locks its own number to its end instead of the rows that it changes. With
	// RowVersions, UPDATE and DELETE also find rows without locks and lock only those that they change.
	OptimizedLocking bool
	// CompatibilityLevel of the database: 130 (SQL Server 2016), 140, 150 or 160 (2022), which is the default.
	CompatibilityLevel int
	// Clock is the time that GETDATE and similar functions return; the machine's time if it is nil. Timeouts and
	// WAITFOR always use the machine's time.
	Clock *Clock
	// Seed makes the results of NEWID and RAND repeatable; with 0 they differ in each run.
	Seed uint64
	// Encrypt makes the server offer TLS with a certificate that it signs itself.
	Encrypt bool
}

// The owner of the server, whom DSN names. There is nothing to protect: the server listens on the loopback interface.
const (
	ownerName     = "sa"
	ownerPassword = "tsqltest-Owner-1" //nolint:gosec // see above
)

// Server is a running server.
type Server struct {
	options  Options
	catalog  *schema.Server
	sessions *session.Server
	latch    *schedule.Switch
	random   *rand.PCG
	listener net.Listener
	serving  sync.WaitGroup
	cancel   context.CancelFunc

	open   sync.Once
	db     *sql.DB
	closed sync.Once

	exploring func() time.Time // the clock of Explore; nil outside
	modules   sync.Map         // where applied scripts define them: an origin by a name in lower case, for tables of schedules

	logging sync.Mutex
	log     func(text string) // nil for nobody
}

// New starts a server that ends with the test. If it cannot start, the test fails. The log of the test has the errors
// that end a connection.
func New(t testing.TB, options Options) *Server {
	t.Helper()
	s, err := start(options, func(text string) { t.Log("tsqltest: " + text) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Start starts a server that several tests can share. Close ends it.
func Start(options Options) (*Server, error) { return start(options, nil) }

func start(options Options, log func(text string)) (*Server, error) {
	if options.Database == "" {
		options.Database = "test"
	}
	if options.Collation == "" && options.CaseSensitive {
		options.Collation = "SQL_Latin1_General_CP1_CS_AS"
	}
	s := &Server{options: options, latch: &schedule.Switch{Scheduler: schedule.NewReal()}, log: log}
	if err := s.create(); err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("tsqltest: listening: %w", err)
	}
	s.listener = listener
	s.serve()
	return s, nil
}

// create makes the catalog and what sessions share.
func (s *Server) create() error {
	o := s.options
	collation := value.DefaultCollation
	if o.Collation != "" {
		found, ok := value.CollationByName(o.Collation)
		if !ok {
			return fmt.Errorf("tsqltest: the collation %q is not known", o.Collation)
		}
		collation = found
	}
	switch o.CompatibilityLevel {
	case 0, 130, 140, 150, 160:
	default:
		return fmt.Errorf("tsqltest: the compatibility level is %d; it can be 130, 140, 150 or 160", o.CompatibilityLevel)
	}
	created := value.FromTime(s.now(), value.OfKind(sqltype.DateTime))
	catalog := schema.NewServer(value.DefaultCollation, o.Database, created)
	catalog.Login(ownerName).Password = ownerPassword
	db := catalog.Database(o.Database)
	db.Collation, db.ReadCommittedSnapshot, db.AllowSnapshot = collation, o.RowVersions, o.RowVersions
	if db.OptimizedLocking = o.OptimizedLocking; o.OptimizedLocking {
		db.Options["ACCELERATED_DATABASE_RECOVERY"] = "ON"
	}
	if o.CompatibilityLevel != 0 {
		db.CompatibilityLevel = o.CompatibilityLevel
	}
	seed := o.Seed
	if seed == 0 {
		seed = rand.Uint64() //nolint:gosec // it need not be secret
	}
	s.random = rand.NewPCG(seed, 0)
	random := rand.New(s.random) //nolint:gosec // a seed must repeat
	s.catalog = catalog
	s.sessions = session.NewServer(catalog, store.NewEngine(s.latch, random.Uint64), session.Options{
		Scheduler: s.latch, Now: s.now, Random: random.Uint64, Name: "tsqltest", Log: s.tell,
	})
	return nil
}

// tell writes to the log, until the server is closed.
func (s *Server) tell(text string) {
	s.logging.Lock()
	defer s.logging.Unlock()
	if s.log != nil {
		s.log(text)
	}
}

// now is the clock of the server.
func (s *Server) now() time.Time {
	switch {
	case s.exploring != nil:
		return s.exploring()
	case s.options.Clock != nil:
		return s.options.Clock.Now()
	}
	return time.Now()
}

// serve accepts connections until the server is closed.
func (s *Server) serve() {
	encryption := wire.EncryptNever
	if s.options.Encrypt {
		encryption = wire.EncryptOnDemand
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	collation := s.catalog.Database(s.options.Database).Collation // read before sessions change the catalog
	s.serving.Go(func() {
		_ = wire.Serve(ctx, s.listener, handler{s}, wire.Options{
			Encryption: encryption, ServerName: "tsqltest", Collation: collation,
			Blocking: func(of request.Session, wait func()) {
				if c, ok := of.(*connection); ok {
					s.latch.Outside(c.scheduleID(), wait)
					return
				}
				wait()
			},
		})
	})
}

// Close ends all connections and the server.
func (s *Server) Close() {
	s.closed.Do(func() {
		s.hangUp()
		s.logging.Lock()
		defer s.logging.Unlock()
		s.log = nil
	})
}

// hangUp ends all connections over sockets, and refuses new ones.
func (s *Server) hangUp() {
	s.open.Do(func() {})
	if s.db != nil {
		_ = s.db.Close()
	}
	s.cancel()
	s.serving.Wait()
}

// Addr returns the server's address, "127.0.0.1:port".
func (s *Server) Addr() string { return s.listener.Addr().String() }

// DSN returns the connection string for the server's owner, as a URL for the driver github.com/microsoft/go-mssqldb.
func (s *Server) DSN() string { return s.DSNOf(ownerName, ownerPassword) }

// DSNOf returns the connection string for a login that CREATE LOGIN has created.
func (s *Server) DSNOf(login, password string) string {
	encrypt := "disable"
	if s.options.Encrypt {
		encrypt = "true"
	}
	query := url.Values{"database": {s.options.Database}, "encrypt": {encrypt}}
	if s.options.Encrypt {
		query.Set("TrustServerCertificate", "true")
	}
	u := url.URL{Scheme: "sqlserver", User: url.UserPassword(login, password), Host: s.Addr(), RawQuery: query.Encode()}
	return u.String()
}

// DB returns a pool of connections as the server's owner. Each call returns the same pool. The server closes it.
func (s *Server) DB() *sql.DB {
	s.open.Do(func() {
		connector, err := mssql.NewConnector(s.DSN())
		if err != nil {
			panic("tsqltest: its own DSN is refused: " + err.Error())
		}
		s.db = sql.OpenDB(connector)
	})
	return s.db
}

// handler opens sessions for the wire.
type handler struct{ server *Server }

// Open checks a login.
func (h handler) Open(ctx context.Context, login request.Login) (request.Session, error) {
	s, err := h.server.sessions.Open(ctx, login)
	if err != nil {
		return nil, err
	}
	return &connection{s}, nil
}

// connection is a session as the wire sees it.
type connection struct{ *session.Session }

// Database is the name of the current database.
func (c *connection) Database() string { return c.DatabaseName() }

func (c *connection) scheduleID() schedule.ID { return schedule.ID(c.ID()) }
