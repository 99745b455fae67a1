package tsqltest_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// things are two tables, one with a second index, and a sequence.
const things = `
CREATE TABLE dbo.a (id INT NOT NULL CONSTRAINT pk_a PRIMARY KEY, n INT NOT NULL, done BIT NOT NULL);
CREATE INDEX ix_a_n ON dbo.a (n);
CREATE TABLE dbo.b (id INT IDENTITY NOT NULL CONSTRAINT pk_b PRIMARY KEY, n INT NOT NULL CONSTRAINT uq_b UNIQUE);
CREATE SEQUENCE dbo.s AS INT START WITH 1;
INSERT INTO dbo.a (id, n, done) VALUES (1, 10, 0), (3, 30, 0);
INSERT INTO dbo.b (n) VALUES (1);`

// statementOf is a statement that may be in another one's way, or see what another one has done.
func statementOf(r *rand.Rand) string {
	id, n := 1+r.IntN(3), 10*(1+r.IntN(3))
	hint := []string{"", "", " WITH (UPDLOCK)", " WITH (READPAST)", " WITH (NOLOCK)", " WITH (HOLDLOCK)", " WITH (INDEX (ix_a_n))", " WITH (TABLOCK)"}[r.IntN(8)]
	switch r.IntN(15) {
	case 0, 1:
		return fmt.Sprintf("SELECT n, done FROM dbo.a%s WHERE id = %d;", hint, id)
	case 2:
		return fmt.Sprintf("SELECT COUNT(*), SUM(n) FROM dbo.a%s WHERE n >= %d;", hint, n)
	case 3, 4:
		return fmt.Sprintf("UPDATE dbo.a SET n = n + 1 WHERE id = %d;", id)
	case 5:
		return fmt.Sprintf("UPDATE dbo.a SET n = %d WHERE n = %d;", 10*(1+r.IntN(3)), n)
	case 6:
		return fmt.Sprintf("INSERT INTO dbo.a (id, n, done) VALUES (%d, %d, 0);", id, n)
	case 7:
		return fmt.Sprintf("DELETE FROM dbo.a WHERE id = %d;", id)
	case 8:
		return "WITH next AS (SELECT TOP (1) id, done FROM dbo.a WITH (UPDLOCK, READPAST, ROWLOCK) WHERE done = 0 ORDER BY id) UPDATE next SET done = 1 OUTPUT inserted.id;"
	case 9:
		return fmt.Sprintf("INSERT INTO dbo.b (n) OUTPUT inserted.id VALUES (%d);", 1+r.IntN(3))
	case 10:
		return fmt.Sprintf("INSERT INTO dbo.b (n) SELECT MAX(n) + 1 FROM dbo.b%s;", strings.ReplaceAll(hint, "ix_a_n", "pk_b"))
	case 11:
		return "SELECT NEXT VALUE FOR dbo.s;"
	case 12:
		return fmt.Sprintf("SET LOCK_TIMEOUT %d;", []int{-1, 0, 100}[r.IntN(3)])
	case 13:
		return fmt.Sprintf("IF NOT EXISTS (SELECT 1 FROM dbo.a WHERE n > %d) UPDATE dbo.a SET done = 1 WHERE id = 1;", n)
	default:
		return "SELECT CONVERT(VARCHAR(8), SYSUTCDATETIME(), 108);"
	}
}

// sessionOf is a session of a few statements, some of them in a transaction.
func sessionOf(r *rand.Rand, name string) tsqltest.Session {
	s := tsqltest.Session{Name: name}
	for range 1 + r.IntN(2) {
		var b strings.Builder
		if level := r.IntN(8); level < 2 {
			b.WriteString([]string{"SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; ", "SET TRANSACTION ISOLATION LEVEL SNAPSHOT; "}[level])
		}
		whole := r.IntN(2) == 0
		if whole {
			b.WriteString("BEGIN TRANSACTION; ")
		}
		for range 1 + r.IntN(2) {
			b.WriteString(statementOf(r) + " ")
		}
		if whole {
			b.WriteString([]string{"COMMIT;", "COMMIT;", "ROLLBACK;"}[r.IntN(3)])
		}
		s.Steps = append(s.Steps, b.String())
	}
	return s
}

// fateOf is a session that does something to the others.
func fateOf(r *rand.Rand) tsqltest.Session {
	what := []func(*tsqltest.Player){
		func(p *tsqltest.Player) { p.Advance(time.Hour) },
		func(p *tsqltest.Player) { p.Cut("0") },
		func(p *tsqltest.Player) { p.Kill("0") },
	}[r.IntN(3)]
	return tsqltest.Session{Name: "fate", Run: func(p *tsqltest.Player) error {
		what(p)
		return nil
	}}
}

// comesTo is what all sessions have got, and what is there in the end.
func comesTo(e *tsqltest.End, sessions []tsqltest.Session) string {
	var b strings.Builder
	for _, s := range sessions {
		for _, r := range e.Results(s.Name) {
			if r != nil {
				for _, set := range r.Sets {
					fmt.Fprint(&b, set.Rows)
				}
			}
			b.WriteString(";")
		}
		if err := e.Err(s.Name); err != nil {
			text, _, _ := strings.Cut(err.Error(), "Transaction (Process ID")
			fmt.Fprintf(&b, " %s: %.40s", s.Name, text)
		}
	}
	r, err := e.Exec("SELECT id, n, done FROM dbo.a ORDER BY id; SELECT id, n FROM dbo.b ORDER BY id;")
	if err != nil {
		return err.Error()
	}
	for _, set := range r.Sets {
		fmt.Fprint(&b, set.Rows)
	}
	return b.String()
}

// An exploration that leaves out what comes to the same as something else finds everything that one of every schedule
// finds, with as few interruptions. TSQLTEST_REDUCTIONS sets how many random scenarios are compared.
func TestExploreReductions(t *testing.T) {
	t.Parallel()
	scenarios := 6
	if n, err := strconv.Atoi(os.Getenv("TSQLTEST_REDUCTIONS")); err == nil {
		scenarios = n
	}
	every, reduced := 0, 0
	for seed := range uint64(scenarios) {
		r := rand.New(rand.NewPCG(seed, 0))
		s := tsqltest.Scenario{Options: tsqltest.Options{RowVersions: r.IntN(2) == 0, OptimizedLocking: r.IntN(3) == 0}, Setup: script(things)}
		s.Sessions = []tsqltest.Session{sessionOf(r, "0"), sessionOf(r, "1")}
		if r.IntN(3) == 0 {
			s.Sessions = append(s.Sessions, fateOf(r))
		}
		s.Allow = []int32{650, 1065, 1205, 1222, 2601, 2627, 3960, 3951, 3952}
		found := func(o tsqltest.Exploration) (map[string]bool, *tsqltest.Report) {
			got := map[string]bool{}
			s.Check = func(e *tsqltest.End) error {
				got[comesTo(e, s.Sessions)] = true
				return nil
			}
			return got, tsqltest.Explore(t, s, o)
		}
		for bound := -1; bound <= 1; bound++ { // 0 is 2
			o := tsqltest.Exploration{Preemptions: bound, Schedules: 20_000}
			got, less := found(o)
			o.Every = true
			want, more := found(o)
			every, reduced = every+more.Schedules, reduced+less.Schedules
			if less.Complete != more.Complete || more.Complete < max(bound, 0) {
				t.Errorf("seed %d: complete to %d, want %d", seed, less.Complete, more.Complete)
			}
			for end := range want {
				if !got[end] {
					t.Errorf("seed %d, bound %d: nothing comes to %s\n%v\nbut to %v", seed, bound, end, s.Sessions, slices.Sorted(maps.Keys(got)))
				}
			}
			for end := range got {
				if !want[end] {
					t.Errorf("seed %d, bound %d: nothing can come to %s", seed, bound, end)
				}
			}
			if t.Failed() {
				return
			}
		}
	}
	t.Logf("%d schedules instead of %d", reduced, every)
}
