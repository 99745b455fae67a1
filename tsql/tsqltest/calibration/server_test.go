package calibration

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"sync"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// urlVariable has the URL of a server to compare with.
const urlVariable = "DUROXIDE_TEST_MSSQL"

// place is a database in which a case runs.
type place struct{ db *sql.DB }

// setting is how the database of a case is set up. SNAPSHOT is allowed anyhow.
type setting struct {
	versions  bool // READ COMMITTED reads row versions
	optimized bool // optimized locking, on servers that have it
}

// each runs a test in a fresh database of the server under test, in parallel to others, and in one of the real server
// if there is one, alone.
func each(t *testing.T, s setting, f func(t *testing.T, p place)) {
	t.Helper()
	t.Run("tsqltest", func(t *testing.T) {
		t.Parallel()
		server := tsqltest.New(t, tsqltest.Options{})
		db := pool(t, server.DSN())
		configure(t, db, s.versions)
		if s.optimized {
			must(t, db, optimize)
		}
		f(t, place{db: db})
	})
	if os.Getenv(urlVariable) == "" {
		return
	}
	t.Run("server", func(t *testing.T) {
		p := reserve(t, s.versions)
		if s.optimized {
			p.optimize(t)
		}
		f(t, p)
	})
}

// pool opens connections that are not used twice.
func pool(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlserver", dsn)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxIdleConns(0)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// optimize turns optimized locking on.
const optimize = "ALTER DATABASE CURRENT SET ACCELERATED_DATABASE_RECOVERY = ON; ALTER DATABASE CURRENT SET OPTIMIZED_LOCKING = ON;"

// optimize turns optimized locking on until the test ends, and skips the test if the server does not have it.
func (p place) optimize(t *testing.T) {
	t.Helper()
	var on sql.NullInt64
	query := "SELECT CAST(DATABASEPROPERTYEX(DB_NAME(), 'IsOptimizedLockingOn') AS int)"
	if err := p.db.QueryRowContext(t.Context(), query).Scan(&on); err != nil {
		t.Fatal(err)
	}
	switch {
	case !on.Valid:
		t.Skip("the server has no optimized locking")
	case on.Int64 == 0:
		must(t, p.db, optimize)
		t.Cleanup(func() {
			_, _ = p.db.ExecContext(context.WithoutCancel(t.Context()), "ALTER DATABASE CURRENT SET OPTIMIZED_LOCKING = OFF")
		})
	}
}

func configure(t *testing.T, db *sql.DB, versions bool) {
	t.Helper()
	batch := "ALTER DATABASE CURRENT SET ALLOW_SNAPSHOT_ISOLATION ON;"
	if versions { // which is possible while nobody else is connected
		batch += "ALTER DATABASE CURRENT SET READ_COMMITTED_SNAPSHOT ON;"
	}
	must(t, db, batch)
}

// must executes a batch.
func must(t *testing.T, db *sql.DB, batch string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), batch); err != nil {
		t.Fatalf("%s: %v", batch, err)
	}
}

// theServer is the real server with its two databases, which TestMain drops.
var theServer struct {
	sync.Mutex
	names map[bool]string
}

// reserve returns an empty database of the real server, which is the test's until it ends.
func reserve(t *testing.T, versions bool) place {
	t.Helper()
	theServer.Lock()
	t.Cleanup(theServer.Unlock)
	if theServer.names == nil {
		create(t)
	}
	db := pool(t, inDatabase(t, theServer.names[versions]))
	empty(t, db)
	return place{db}
}

// create makes the two databases.
func create(t *testing.T) {
	t.Helper()
	db := pool(t, os.Getenv(urlVariable))
	names := map[bool]string{}
	for _, versions := range []bool{false, true} {
		name := fmt.Sprintf("calibration_%d_%t", os.Getpid(), versions)
		must(t, db, "CREATE DATABASE "+name)
		names[versions] = name
		configure(t, pool(t, inDatabase(t, name)), versions)
	}
	theServer.names = names
}

// inDatabase is the URL of the real server with a database.
func inDatabase(t *testing.T, name string) string {
	t.Helper()
	u, err := url.Parse(os.Getenv(urlVariable))
	if err != nil {
		t.Fatalf("%s is no URL: %v", urlVariable, err)
	}
	query := u.Query()
	query.Set("database", name)
	u.RawQuery = query.Encode()
	return u.String()
}

// dropped are the kinds of objects that cases create.
var dropped = map[string]string{
	"TYPE": "TYPE", "U": "TABLE", "V": "VIEW", "P": "PROCEDURE", "SO": "SEQUENCE", "FN": "FUNCTION", "IF": "FUNCTION", "TF": "FUNCTION",
}

// empty drops what the case before has created. What another object needs goes in a later round.
func empty(t *testing.T, db *sql.DB) {
	t.Helper()
	const rounds = 4
	for range rounds {
		left := leftovers(t, db)
		if len(left) == 0 {
			return
		}
		for _, statement := range left {
			_, _ = db.ExecContext(t.Context(), statement)
		}
	}
	if left := leftovers(t, db); len(left) > 0 {
		t.Fatalf("cannot empty the database: %v", left)
	}
}

// leftovers are the statements that drop what is there.
func leftovers(t *testing.T, db *sql.DB) (statements []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), `SELECT RTRIM(o.type), o.name FROM sys.objects AS o
		WHERE o.schema_id = SCHEMA_ID('dbo') AND o.is_ms_shipped = 0
		UNION ALL SELECT 'TYPE', t.name FROM sys.types AS t WHERE t.is_user_defined = 1`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var kind, name string
		if err := rows.Scan(&kind, &name); err != nil {
			t.Fatal(err)
		}
		if word := dropped[kind]; word != "" {
			statements = append(statements, "DROP "+word+" ["+name+"]")
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return statements
}

func TestMain(m *testing.M) {
	code := m.Run()
	drop()
	os.Exit(code)
}

// drop removes the databases of the real server.
func drop() {
	if theServer.names == nil {
		return
	}
	db, err := sql.Open("sqlserver", os.Getenv(urlVariable))
	if err != nil {
		return
	}
	defer db.Close()
	for _, name := range theServer.names {
		_, _ = db.ExecContext(context.Background(), "ALTER DATABASE "+name+" SET SINGLE_USER WITH ROLLBACK IMMEDIATE")
		if _, err := db.ExecContext(context.Background(), "DROP DATABASE "+name); err != nil {
			fmt.Fprintf(os.Stderr, "the database %s stays: %v\n", name, err)
		}
	}
}
