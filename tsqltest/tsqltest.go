// Package tsqltest is a T-SQL server for tests. It is a test instrument and not a database: it keeps everything in memory,
// runs in the process of the test, and what it doesn't know it refuses, with file, line and column.
//
// A program whose logic is in T-SQL procedures has tests that need a server. With this package they need nothing but Go:
//
//	func TestOrders(t *testing.T) {
//		server := tsqltest.New(t, tsqltest.Options{})
//		server.Apply(t, os.DirFS("sql"), "schema.sql", "procedures/*.sql")
//		shop := NewShop(server.DB()) // what is tested; or give it server.DSN()
//		…
//	}
//
// The server speaks TDS, the protocol of SQL Server, so the usual driver connects to it: the parameters, result sets,
// error numbers and transactions are those that the program meets in production. It follows what Microsoft documents for
// SQL Server 2022, down to which locks a statement takes and who waits for whom: isolation levels, lock hints, row
// versions and deadlocks are there to be tested. Speed, memory and plans are not: the planner is simple, and only the
// order in which it reads is like SQL Server's.
//
// # What is not there
//
// Whatever is not there is an error that says so: number 49900, "… is not supported by tsqltest", with the place. The
// manual has the list, and what else there is to know about options, logins, locks and deadlocks:
// https://github.com/duroxide/duroxide-go/blob/main/docs/tsqltest.md
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

	"github.com/duroxide/duroxide-go/internal/tsql/sqltype"
	"github.com/duroxide/duroxide-go/tsqltest/internal/request"
	"github.com/duroxide/duroxide-go/tsqltest/internal/schedule"
	"github.com/duroxide/duroxide-go/tsqltest/internal/schema"
	"github.com/duroxide/duroxide-go/tsqltest/internal/session"
	"github.com/duroxide/duroxide-go/tsqltest/internal/store"
	"github.com/duroxide/duroxide-go/tsqltest/internal/value"
	"github.com/duroxide/duroxide-go/tsqltest/internal/wire"
)

// Options configure a server. The zero value is a server as it comes out of the box: READ COMMITTED waits for locks.
type Options struct {
	// Database is the name of the database that DSN names; "test" if it is empty.
	Database string
	// Collation of the database; SQL_Latin1_General_CP1_CI_AS if it is empty.
	Collation string
	// CaseSensitive is short for the collation SQL_Latin1_General_CP1_CS_AS.
	CaseSensitive bool
	// RowVersions turns READ_COMMITTED_SNAPSHOT on, as it is in Azure SQL Database, and ALLOW_SNAPSHOT_ISOLATION.
	RowVersions bool
	// OptimizedLocking turns optimized locking on, as it is in Azure SQL Database, and ACCELERATED_DATABASE_RECOVERY, which it
	// needs: a transaction locks its own number to its end instead of the rows that it changes. With RowVersions, UPDATE and
	// DELETE also find rows without locks and lock only those that they change.
	OptimizedLocking bool
	// CompatibilityLevel of the database: 130 (SQL Server 2016), 140, 150 or 160 (2022), which is the default.
	CompatibilityLevel int
	// Clock is what GETDATE and its like return; the machine's time if it is nil. Time-outs and WAITFOR are always the
	// machine's.
	Clock *Clock
	// Seed is where NEWID and RAND begin, so that a run can be repeated; 0 stands for another one each time.
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

// New starts a server for a test, which fails if that is impossible. It ends with the test. Errors that end a connection are
// in the log of the test.
func New(t testing.TB, options Options) *Server {
	t.Helper()
	s, err := start(options, func(text string) { t.Log("tsqltest: " + text) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Start starts a server that ends with Close, for what is shared by several tests.
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

// Addr is the address, "127.0.0.1:port".
func (s *Server) Addr() string { return s.listener.Addr().String() }

// DSN is the connection string for the server's owner, a URL as the driver github.com/microsoft/go-mssqldb takes it.
func (s *Server) DSN() string { return s.DSNOf(ownerName, ownerPassword) }

// DSNOf is the connection string for a login, which CREATE LOGIN has made.
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

// DB is a pool of connections of the server's owner. It is the same at each call and closed by the server.
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
