package tsqltest_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// script is a setup that executes a text.
func script(text string) func(testing.TB, *tsqltest.Server) {
	return func(t testing.TB, s *tsqltest.Server) {
		t.Helper()
		if err := s.ApplyText(t.Context(), "", text); err != nil {
			t.Fatal(err)
		}
	}
}

const accounts = `
CREATE TABLE dbo.accounts (id INT NOT NULL CONSTRAINT pk_accounts PRIMARY KEY, owner VARCHAR(10) NOT NULL, balance INT NOT NULL);
CREATE INDEX ix_accounts_owner ON dbo.accounts (owner);
INSERT INTO dbo.accounts (id, owner, balance) VALUES (1, 'ada', 100), (2, 'bob', 100);`

// steps are two sessions of the same steps, or of these and others.
func steps(ada, bob []string) []tsqltest.Session {
	return []tsqltest.Session{{Name: "ada", Steps: ada}, {Name: "bob", Steps: bob}}
}

// balance is a check of the balance of the first account.
func balance(want int64) func(*tsqltest.End) error {
	return func(e *tsqltest.End) error {
		if got := e.Value("SELECT balance FROM dbo.accounts WHERE id = 1"); got != want {
			return fmt.Errorf("the balance is %v, want %d", got, want)
		}
		return nil
	}
}

// textbook are defects that every textbook has, and what mends them.
var textbook = []struct {
	name           string
	setup          string
	rowVersions    bool
	broken, mended []tsqltest.Session
	check          func(*tsqltest.End) error
	allow          []int32 // of the mended ones
	plans          int
	want           string // in the failure
	atMost         int    // preemptions of the failure
}{
	{
		name: "lost update", setup: accounts, check: balance(120), want: "the balance is 110", atMost: 1,
		broken: steps(lostUpdate("", 10), lostUpdate("", 10)),
		mended: steps(lostUpdate(" WITH (UPDLOCK)", 10), lostUpdate(" WITH (UPDLOCK)", 10)),
	},
	{
		name: "lost update with row versions", setup: accounts, rowVersions: true, check: balance(120), want: "the balance is 110", atMost: 1,
		broken: steps(lostUpdate("", 10), lostUpdate("", 10)),
		mended: steps(lostUpdate(" WITH (UPDLOCK)", 10), lostUpdate(" WITH (UPDLOCK)", 10)),
	},
	{
		name: "write skew", setup: accounts, rowVersions: true, want: "nobody", atMost: 1,
		check: func(e *tsqltest.End) error {
			if n, ok := e.Value("SELECT SUM(balance) FROM dbo.accounts").(int64); !ok || n < 0 {
				return fmt.Errorf("together they have %d, so that nobody has paid", n)
			}
			return nil
		},
		broken: steps(withdraw("SNAPSHOT", 1), withdraw("SNAPSHOT", 2)),
		mended: steps(withdraw("SERIALIZABLE", 1), withdraw("SERIALIZABLE", 2)),
		allow:  []int32{1205},
	},
	{
		name: "order of locks", setup: accounts, want: "1205", atMost: 1,
		broken: steps(transfer(1, 2), transfer(2, 1)),
		mended: steps(transfer(1, 2), transfer(1, 2)),
	},
	{
		name: "key lookup", setup: accounts, want: "1205", atMost: 1,
		broken: steps(
			[]string{"SELECT balance FROM dbo.accounts WITH (INDEX (ix_accounts_owner)) WHERE owner = 'ada'"},
			[]string{"UPDATE dbo.accounts SET balance = 0, owner = 'eve' WHERE id = 1"}),
		mended: steps(
			[]string{"SELECT id FROM dbo.accounts WITH (INDEX (ix_accounts_owner)) WHERE owner = 'ada'"},
			[]string{"UPDATE dbo.accounts SET balance = 0, owner = 'eve' WHERE id = 1"}),
	},
	{
		name: "key lookup under another plan", setup: accounts, want: "1205", atMost: 1, plans: 10,
		broken: steps(
			[]string{"SELECT balance FROM dbo.accounts WHERE owner = 'ada' AND id = 1"},
			[]string{"UPDATE dbo.accounts SET balance = 0, owner = 'eve' WHERE id = 1"}),
		mended: steps(
			[]string{"SELECT balance FROM dbo.accounts WITH (INDEX (1)) WHERE owner = 'ada' AND id = 1"},
			[]string{"UPDATE dbo.accounts SET balance = 0, owner = 'eve' WHERE id = 1"}),
	},
}

func lostUpdate(hint string, n int) []string {
	return []string{fmt.Sprintf(`
		DECLARE @b INT;
		BEGIN TRANSACTION;
		SELECT @b = balance FROM dbo.accounts%s WHERE id = 1;
		UPDATE dbo.accounts SET balance = @b + %d WHERE id = 1;
		COMMIT;`, hint, n)}
}

func withdraw(level string, account int) []string {
	return []string{fmt.Sprintf(`
		SET TRANSACTION ISOLATION LEVEL %s;
		BEGIN TRANSACTION;
		IF (SELECT SUM(balance) FROM dbo.accounts) >= 150
			UPDATE dbo.accounts SET balance = balance - 150 WHERE id = %d;
		COMMIT;`, level, account)}
}

func transfer(from, to int) []string {
	return []string{
		"BEGIN TRANSACTION",
		fmt.Sprintf("UPDATE dbo.accounts SET balance = balance - 1 WHERE id = %d", from),
		fmt.Sprintf("UPDATE dbo.accounts SET balance = balance + 1 WHERE id = %d", to),
		"COMMIT",
	}
}

// Explore finds the defects that every textbook has, with as few preemptions as they need, and nothing in what mends
// them.
func TestExploreTextbook(t *testing.T) {
	t.Parallel()
	for _, tt := range textbook {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := tsqltest.Scenario{
				Options: tsqltest.Options{RowVersions: tt.rowVersions}, Setup: script(tt.setup), Sessions: tt.broken, Check: tt.check,
			}
			r := tsqltest.Search(t, s, tsqltest.Exploration{Plans: tt.plans})
			if r.Failure == nil {
				t.Fatalf("nothing was found in %d schedules", r.Schedules)
			}
			t.Logf("after %d schedules\n%v", r.Schedules, r.Failure)
			if text := r.Failure.String(); !strings.Contains(text, tt.want) || r.Failure.Preemptions > tt.atMost {
				t.Errorf("%d preemptions, %v", r.Failure.Preemptions, text)
			}
			again := tsqltest.Search(t, s, tsqltest.Exploration{Repeat: r.Failure.Repeat})
			if again.Failure == nil || again.Failure.String() != r.Failure.String() {
				t.Errorf("repeated: %v", again.Failure)
			}

			s.Sessions, s.Allow = tt.mended, tt.allow
			r = tsqltest.Explore(t, s, tsqltest.Exploration{Plans: tt.plans, Preemptions: 3})
			t.Logf("mended: %d schedules", r.Schedules)
			if r.Complete != 3 {
				t.Errorf("only %d preemptions were tried in %d schedules", r.Complete, r.Schedules)
			}
		})
	}
}

// claims are sessions that take the next job each, and note which one they got.
func claims(n int, hints string) []tsqltest.Session {
	sessions := make([]tsqltest.Session, n)
	for i := range sessions {
		sessions[i] = tsqltest.Session{Name: fmt.Sprint("worker ", i+1), Run: func(p *tsqltest.Player) error {
			result, err := p.Exec("EXEC dbo.claim_" + hints)
			if err == nil && len(result.Sets) > 0 && len(result.Sets[0].Rows) > 0 {
				p.Note(result.Sets[0].Rows[0][0])
			}
			return err
		}}
	}
	return sessions
}

const jobs = `
CREATE TABLE dbo.jobs (id INT NOT NULL CONSTRAINT pk_jobs PRIMARY KEY, taken BIT NOT NULL);
CREATE INDEX ix_jobs_ready ON dbo.jobs (id) WHERE taken = 0;
INSERT INTO dbo.jobs (id, taken) VALUES (1, 0), (2, 0), (3, 0), (4, 0);
GO
CREATE PROCEDURE dbo.claim_right AS
SET NOCOUNT ON;
WITH next AS (SELECT TOP (1) id, taken FROM dbo.jobs WITH (UPDLOCK, READPAST, ROWLOCK) WHERE taken = 0 ORDER BY id)
UPDATE next SET taken = 1 OUTPUT inserted.id;
GO
CREATE PROCEDURE dbo.claim_wrong AS
SET NOCOUNT ON;
DECLARE @id INT = (SELECT MIN(id) FROM dbo.jobs WHERE taken = 0);
UPDATE dbo.jobs SET taken = 1 WHERE id = @id;
SELECT @id;`

// different is a check that nobody got what another one got.
func different(e *tsqltest.End) error {
	seen := map[any]bool{}
	for _, id := range e.Notes() {
		if seen[id] {
			return fmt.Errorf("job %v was taken twice", id)
		}
		seen[id] = true
	}
	return nil
}

// Random schedules find what needs an unlucky moment, and the same seed finds it in the same way. Failures name the
// files of applied scripts.
func TestExploreRandom(t *testing.T) {
	t.Parallel()
	s := tsqltest.Scenario{
		Setup: func(t testing.TB, s *tsqltest.Server) {
			t.Helper()
			if err := s.ApplyText(t.Context(), "jobs.sql", jobs); err != nil {
				t.Fatal(err)
			}
		},
		Sessions: claims(4, "wrong"), Check: different, Allow: []int32{1205},
	}
	o := tsqltest.Exploration{Random: true, Seed: 7, Plans: 2}
	one, other := tsqltest.Search(t, s, o), tsqltest.Search(t, s, o)
	if one.Failure == nil || other.Failure == nil {
		t.Fatalf("nothing was found in %d schedules", one.Schedules)
	}
	if one.Failure.String() != other.Failure.String() || one.Schedules != other.Schedules {
		t.Errorf("the first time, after %d: %v\nthen, after %d: %v", one.Schedules, one.Failure, other.Schedules, other.Failure)
	}
	if one.Failure.Preemptions != 1 || !strings.Contains(one.Failure.Table, "jobs.sql:13 ") {
		t.Errorf("%d preemptions, %v", one.Failure.Preemptions, one.Failure)
	}
	s.Sessions = claims(4, "right")
	if r := tsqltest.Explore(t, s, tsqltest.Exploration{Random: true, Schedules: 2000, Plans: 2}); r.Schedules != 2000 {
		t.Errorf("%d schedules", r.Schedules)
	}
}

// trial is a scenario of one table with one row, (1, 0).
func trial(check func(*tsqltest.End) error, sessions ...tsqltest.Session) tsqltest.Scenario {
	return tsqltest.Scenario{
		Setup:    script("CREATE TABLE dbo.t (id INT NOT NULL PRIMARY KEY, n INT NOT NULL); INSERT INTO dbo.t (id, n) VALUES (1, 0)"),
		Sessions: sessions, Check: check,
	}
}

// seen explores a scenario whose check only looks, and returns how often it saw what.
func seen(t *testing.T, look func(*tsqltest.End) any, sessions ...tsqltest.Session) map[any]int {
	t.Helper()
	got := map[any]int{}
	tsqltest.Explore(t, trial(func(e *tsqltest.End) error {
		got[look(e)]++
		return nil
	}, sessions...), tsqltest.Exploration{Preemptions: 1})
	return got
}

var twice = tsqltest.Session{Name: "ada", Steps: []string{
	"BEGIN TRANSACTION; UPDATE dbo.t SET n = 1 WHERE id = 1; UPDATE dbo.t SET n = 2 WHERE id = 1; COMMIT;",
	"UPDATE dbo.t SET n = n + 2 WHERE id = 1",
}}

// A session can be cut and killed at every point: a transaction is there or it is not.
func TestExploreCutAndKill(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*tsqltest.Player){
		"Cut":  func(p *tsqltest.Player) { p.Cut("ada") },
		"Kill": func(p *tsqltest.Player) { p.Kill("ada") },
	} {
		got := seen(t, func(e *tsqltest.End) any { return e.Value("SELECT n FROM dbo.t") }, twice,
			tsqltest.Session{Name: "fate", Run: func(p *tsqltest.Player) error {
				end(p)
				return nil
			}})
		if got[int64(0)] == 0 || got[int64(2)] == 0 || got[int64(4)] == 0 || len(got) != 3 {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A client that is cut gets an error that is context.Canceled, and may go on.
func TestExploreCutIsCancelled(t *testing.T) {
	t.Parallel()
	got := seen(t, func(e *tsqltest.End) any { return errors.Is(e.Err("ada"), context.Canceled) }, twice,
		tsqltest.Session{Name: "fate", Run: func(p *tsqltest.Player) error {
			p.Cut("ada")
			return nil
		}})
	if got[true] == 0 || got[false] == 0 {
		t.Error(got)
	}
}

// The clock moves when the schedule lets it, and for who waits.
func TestExploreClock(t *testing.T) {
	t.Parallel()
	minutes := tsqltest.Session{Name: "ada", Run: func(p *tsqltest.Player) error {
		r, err := p.Exec("DECLARE @a DATETIME2 = SYSUTCDATETIME(); WAITFOR DELAY '00:01'; SELECT DATEDIFF(MINUTE, @a, SYSUTCDATETIME())")
		if err == nil {
			p.Note(r.Sets[0].Rows[0][0])
		}
		return err
	}}
	got := seen(t, func(e *tsqltest.End) any { return e.Notes()[0] }, minutes,
		tsqltest.Session{Name: "clock", Run: func(p *tsqltest.Player) error {
			before := p.Now()
			p.Advance(time.Hour)
			if passed := p.Now().Sub(before); passed < time.Hour {
				return fmt.Errorf("only %v have passed", passed)
			}
			return nil
		}})
	if got[int64(1)] == 0 || got[int64(60)]+got[int64(61)] == 0 {
		t.Error(got)
	}
}

// A LOCK_TIMEOUT ends when nobody can go on, and may end before.
func TestExploreLockTimeout(t *testing.T) {
	t.Parallel()
	got := seen(t, func(e *tsqltest.End) any { return len(e.Notes()) },
		tsqltest.Session{Name: "ada", Steps: []string{"UPDATE dbo.t SET n = 1 WHERE id = 1"}},
		tsqltest.Session{Name: "bob", Run: func(p *tsqltest.Player) error {
			_, err := p.Exec("SET LOCK_TIMEOUT 100; UPDATE dbo.t SET n = 2 WHERE id = 1")
			if refused, ok := errors.AsType[*tsqltest.Error](err); ok && refused.Number == 1222 {
				p.Note("refused")
				return nil
			}
			return err
		}})
	if got[0] == 0 {
		t.Error(got)
	}
}

// A circle that a LOCK_TIMEOUT ends is a failure for who wants that.
func TestExploreNoStalls(t *testing.T) {
	t.Parallel()
	wait := func(from, to int) []string {
		return append([]string{"SET LOCK_TIMEOUT 100"}, transfer(from, to)...)
	}
	s := tsqltest.Scenario{Setup: script(accounts), Sessions: steps(wait(1, 2), wait(2, 1)), Allow: []int32{1222}}
	tsqltest.Explore(t, s, tsqltest.Exploration{})
	s.NoStalls = true
	if r := tsqltest.Search(t, s, tsqltest.Exploration{}); r.Failure == nil || !strings.Contains(r.Failure.String(), "until a LOCK_TIMEOUT is over") {
		t.Errorf("%v", r.Failure)
	}
	s.Sessions = steps(wait(1, 2), wait(1, 2))
	tsqltest.Explore(t, s, tsqltest.Exploration{})
}

// Sessions that wait for each other for ever are a failure, and so are errors that are not allowed.
func TestExploreFailures(t *testing.T) {
	t.Parallel()
	r := tsqltest.Search(t, trial(nil, steps(
		[]string{"BEGIN TRANSACTION; EXEC sp_getapplock 'a', 'Exclusive'; WAITFOR DELAY '00:00:01'; THROW 50001, 'never', 1"}, nil)...),
		tsqltest.Exploration{})
	if r.Failure == nil || !strings.Contains(r.Failure.String(), "never") || r.Failure.Repeat != "-" || r.Failure.Preemptions != 0 {
		t.Errorf("%v", r.Failure)
	}
	var thrown *tsqltest.Error
	if !errors.As(r.Failure.Err, &thrown) || thrown.Number != 50001 {
		t.Errorf("%v", r.Failure)
	}
}

// What a schedule leaves behind is not there in the next one: rows, identities, sequences and definitions.
func TestExploreBeginsAgain(t *testing.T) {
	t.Parallel()
	s := tsqltest.Scenario{
		Setup: script("CREATE TABLE dbo.t (id INT IDENTITY PRIMARY KEY, v ROWVERSION, n INT); CREATE SEQUENCE dbo.s START WITH 1; INSERT INTO dbo.t (n) VALUES (0), (0)"),
		Sessions: steps(
			[]string{"INSERT INTO dbo.t (n) VALUES (NEXT VALUE FOR dbo.s); DELETE FROM dbo.t WHERE id = 1"},
			[]string{"INSERT INTO dbo.t (n) VALUES (10)"}),
		Check: func(e *tsqltest.End) error {
			if got := e.Value("SELECT STRING_AGG(CONCAT(id, '/', CAST(v AS BIGINT)), ' ') WITHIN GROUP (ORDER BY id) FROM dbo.t"); got != "2/2002 3/2003 4/2004" {
				return fmt.Errorf("%v", got)
			}
			return nil
		},
	}
	r := tsqltest.Explore(t, s, tsqltest.Exploration{})
	if r.Schedules < 10 {
		t.Errorf("only %d schedules", r.Schedules)
	}
	s.Sessions[1].Steps = []string{"CREATE TABLE dbo.u (a INT)", "INSERT INTO dbo.t (n) VALUES (10)"}
	tsqltest.Explore(t, s, tsqltest.Exploration{Preemptions: 1})
}

// BenchmarkExploreClaim measures schedules of two sessions that claim a job. 10,000 of them are to take less than a
// minute.
func BenchmarkExploreClaim(b *testing.B) {
	for _, name := range []string{"exhaustive", "random"} {
		b.Run(name, func(b *testing.B) {
			s := tsqltest.Scenario{Setup: script(jobs), Sessions: claims(2, "right"), Check: different}
			tried := 0
			for tried < b.N {
				r := tsqltest.Explore(b, s, tsqltest.Exploration{Schedules: b.N - tried, Preemptions: 5, Random: name == "random"})
				tried += r.Schedules
			}
			b.ReportMetric(float64(tried)/b.Elapsed().Seconds(), "schedules/s")
			var memory runtime.MemStats
			runtime.ReadMemStats(&memory)
			b.ReportMetric(float64(memory.HeapSys)/(1<<20), "MiB-heap")
		})
	}
}

// Scenarios on one base find it as its preparation left it, whatever others did, and one that changes definitions makes
// it anew.
func TestBase(t *testing.T) {
	t.Parallel()
	prepared := 0
	base := tsqltest.NewBase(t, tsqltest.Options{}, func(t testing.TB, s *tsqltest.Server) {
		t.Helper()
		prepared++
		if err := s.ApplyText(t.Context(), "", "CREATE TABLE dbo.coins (id INT NOT NULL IDENTITY PRIMARY KEY, n INT NOT NULL); INSERT INTO dbo.coins (n) VALUES (1);"); err != nil {
			t.Fatal(err)
		}
	})
	add := func(n int) tsqltest.Scenario {
		return tsqltest.Scenario{
			Base: base,
			Setup: func(t testing.TB, s *tsqltest.Server) {
				t.Helper()
				if err := s.ApplyText(t.Context(), "", fmt.Sprintf("INSERT INTO dbo.coins (n) VALUES (%d);", n)); err != nil {
					t.Fatal(err)
				}
			},
			Sessions: []tsqltest.Session{{Name: "add", Steps: []string{"UPDATE dbo.coins SET n = n + 1 WHERE id = 2;"}}},
			Check: func(e *tsqltest.End) error {
				if got := e.Value("SELECT SUM(n + 100 * id) FROM dbo.coins"); got != int64(300+1+n+1) {
					return fmt.Errorf("the sum is %v, want %d", got, 300+1+n+1)
				}
				return nil
			},
		}
	}
	for n := range 3 {
		tsqltest.Explore(t, add(n), tsqltest.Exploration{})
	}
	if prepared != 1 {
		t.Errorf("prepared %d times, want once", prepared)
	}
	tsqltest.Explore(t, tsqltest.Scenario{Base: base, Sessions: []tsqltest.Session{{Name: "drop", Steps: []string{"DROP TABLE dbo.coins;"}}}}, tsqltest.Exploration{})
	tsqltest.Explore(t, add(3), tsqltest.Exploration{})
	if prepared == 1 {
		t.Error("not prepared anew after a change of definitions")
	}
}
