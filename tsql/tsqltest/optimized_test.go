package tsqltest_test

import (
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// Optimized locking mends none of the textbook's defects, and what mends them does so there, too.
func TestExploreTextbookOptimized(t *testing.T) {
	t.Parallel()
	for _, tt := range textbook {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := tsqltest.Scenario{
				Options: tsqltest.Options{RowVersions: tt.rowVersions, OptimizedLocking: true},
				Setup:   script(tt.setup), Sessions: tt.broken, Check: tt.check,
			}
			r := tsqltest.Search(t, s, tsqltest.Exploration{Plans: tt.plans})
			if r.Failure == nil || !strings.Contains(r.Failure.String(), tt.want) {
				t.Errorf("%d schedules: %v", r.Schedules, r.Failure)
			}
			s.Sessions, s.Allow = tt.mended, tt.allow
			tsqltest.Explore(t, s, tsqltest.Exploration{Plans: tt.plans, Preemptions: 1})
		})
	}
}

// Options.OptimizedLocking sets the options of the database that ALTER DATABASE sets, one after the other.
func TestOptimizedLockingOption(t *testing.T) {
	t.Parallel()
	const options = "SELECT CONCAT(is_accelerated_database_recovery_on, is_optimized_locking_on) FROM sys.databases WHERE name = DB_NAME()"
	conn := session(t, tsqltest.New(t, tsqltest.Options{OptimizedLocking: true}))
	steps := []struct{ batch, want string }{
		{"", "11"},
		{"ALTER DATABASE CURRENT SET ACCELERATED_DATABASE_RECOVERY = OFF", "!49900"},
		{"ALTER DATABASE CURRENT SET OPTIMIZED_LOCKING = OFF", "10"},
		{"ALTER DATABASE CURRENT SET ACCELERATED_DATABASE_RECOVERY = OFF", "00"},
		{"ALTER DATABASE CURRENT SET OPTIMIZED_LOCKING = ON", "!49900"},
		{"ALTER DATABASE CURRENT SET ACCELERATED_DATABASE_RECOVERY = ON", "10"},
		{"ALTER DATABASE CURRENT SET OPTIMIZED_LOCKING = ON", "11"},
		{"ALTER DATABASE master SET OPTIMIZED_LOCKING = ON", "11,!5058,!5069"},
	}
	for _, s := range steps {
		if got := told(t, conn, s.batch+"; "+options); got != s.want {
			t.Errorf("%s: %s, want %s", s.batch, got, s.want)
		}
	}
}

// A change of OPTIMIZED_LOCKING waits until nobody else is in the database.
func TestOptimizedLockingAlone(t *testing.T) {
	t.Parallel()
	server := tsqltest.New(t, tsqltest.Options{OptimizedLocking: true})
	conn, other := session(t, server), session(t, server)
	must(t, other, "BEGIN TRANSACTION")
	_, err := conn.Exec(t.Context(), "ALTER DATABASE CURRENT SET OPTIMIZED_LOCKING = OFF WITH NO_WAIT")
	wantError(t, err, 5070)
}
