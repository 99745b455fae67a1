package mssqltest

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider/mssql/migrate"
	"github.com/duroxide/duroxide-go/tsql/tdsproxy"
)

func TestNewSchemaIsReadyAndDropped(t *testing.T) { //nolint:tparallel // the end of the subtest is what drops
	t.Parallel()
	db := DB(t)
	var name string
	t.Run("test", func(t *testing.T) {
		name = NewSchema(t)
		if err := migration(db, name).Check(t.Context()); err != nil {
			t.Error(err)
		}
	})
	if count(t, db, "SELECT COUNT(*) FROM sys.schemas AS s WHERE s.name = @p1", name) != 0 {
		t.Errorf("schema %s is still there", name)
	}
}

func TestPooledIsEmptyAgain(t *testing.T) { //nolint:tparallel // the end of a subtest is what empties
	t.Parallel()
	DB(t)
	first := ""
	// Another test of the package may take the schema in between; not one of a hundred does every time.
	for range 100 { //nolint:paralleltest // one after the other
		again := false
		t.Run("test", func(t *testing.T) {
			db, name := Pooled(t)
			again = name == first
			first = name
			if err := migration(db, name).Check(t.Context()); err != nil {
				t.Error(err)
			}
			table := migrate.Quote(name) + ".dead_letters"
			if n := count(t, db, "SELECT COUNT(*) FROM "+table); n != 0 {
				t.Errorf("%d rows are left", n)
			}
			_, err := db.ExecContext(t.Context(), "INSERT INTO "+table+
				" (queue, queue_id, instance_id, work_item, error, created_at) VALUES (N'worker', 1, N'i', N'{}', N'', 1)")
			if err != nil {
				t.Error(err)
			}
		})
		if again || t.Failed() {
			return
		}
	}
	t.Error("no schema was used twice")
}

// TestPooledSchemasAreApart takes more schemas at once than are made at once.
func TestPooledSchemasAreApart(t *testing.T) {
	t.Parallel()
	DB(t)
	seen := map[string]bool{}
	for range makers + 1 {
		_, name := Pooled(t)
		seen[name] = true
	}
	if len(seen) != makers+1 {
		t.Errorf("handed out %v", seen)
	}
}

func TestSweepDropsWhatIsADayOld(t *testing.T) {
	t.Parallel()
	db := DB(t)
	now := time.Now()
	names := map[string]int{nameAt(now.Add(-leftover - time.Minute)): 0, nameAt(now.Add(-leftover + time.Hour)): 1}
	for name := range names {
		Drop(t, name)
		if _, err := migration(db, name).Up(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := sweep(t.Context(), db, now); err != nil {
		t.Fatal(err)
	}
	for name, want := range names {
		if got := count(t, db, "SELECT COUNT(*) FROM sys.schemas AS s WHERE s.name = @p1", name); got != want {
			t.Errorf("of schema %s there are %d, want %d", name, got, want)
		}
	}
}

func TestIsLeftover(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 14, 0, 0, 0, time.UTC)
	for name, want := range map[string]bool{
		"duroxide_test_261120135959_00000000": true,
		"duroxide_test_261120140001_00000000": false,
		"duroxide_test_261122140000_00000000": false,
		"duroxide_test_mine":                  false,
		"duroxide_test_999999999999_00000000": false,
		"duroxide":                            false,
		"tenant_261120135959_00000000":        false,
	} {
		if got := isLeftover(name, now); got != want {
			t.Errorf("%s: %t, want %t", name, got, want)
		}
	}
}

func TestServerTellsWhatItIs(t *testing.T) {
	t.Parallel()
	if facts := Server(t); facts.Version == "" {
		t.Errorf("%+v", facts)
	}
}

func TestViaLeadsThroughAProxy(t *testing.T) {
	t.Parallel()
	p := tdsproxy.New(t, Addr(t))
	db, err := sql.Open("sqlserver", Via(t, p.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	for range 2 {
		// Reading only the first row would make the driver send an attention, now and then.
		if _, err := column(t.Context(), db, "SELECT N'one'"); err != nil {
			t.Fatal(err)
		}
	}
	if got := p.Requests(); got != (tdsproxy.Counts{Batches: 2}) {
		t.Errorf("counted %+v", got)
	}
}

func count(t *testing.T, db *sql.DB, query string, args ...any) (n int) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), query, args...).Scan(&n); err != nil {
		t.Fatal(fmt.Errorf("%s: %w", query, err))
	}
	return n
}
