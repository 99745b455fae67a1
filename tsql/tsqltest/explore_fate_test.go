package tsqltest_test

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// fates are what a session may do to the one called ada, at some point.
var fates = map[string]func(*tsqltest.Player){
	"Cut":  func(p *tsqltest.Player) { p.Cut("ada") },
	"Kill": func(p *tsqltest.Player) { p.Kill("ada") },
}

func fate(end func(*tsqltest.Player)) tsqltest.Session {
	return tsqltest.Session{Name: "fate", Run: func(p *tsqltest.Player) error {
		end(p)
		return nil
	}}
}

// A session can be cut and killed between any two statements, while it waits for a lock, before it commits, and when it
// has committed and the answer is on its way: then it is told nothing of what is there.
func TestExploreFatesAreEverywhere(t *testing.T) {
	t.Parallel()
	ada := tsqltest.Session{Name: "ada", Steps: []string{`
		DECLARE @n INT = 0;
		UPDATE dbo.t SET n = n + 1 WHERE id = 2;
		SET @n += 1;
		UPDATE dbo.t SET n = n + 1 WHERE id = 1;`}}
	bob := tsqltest.Session{Name: "bob", Steps: []string{"UPDATE dbo.t SET n = n + 10 WHERE id = 1"}}
	for name, end := range fates {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := map[string]bool{}
			s := trial(func(e *tsqltest.End) error {
				told := "told"
				if e.Err("ada") != nil {
					told = "not told"
				}
				got[fmt.Sprint(e.Value("SELECT STRING_AGG(n, ',') WITHIN GROUP (ORDER BY id) FROM dbo.t"), " ", told)] = true
				return nil
			}, ada, bob, fate(end))
			s.Setup = script("CREATE TABLE dbo.t (id INT NOT NULL PRIMARY KEY, n INT NOT NULL); INSERT INTO dbo.t (id, n) VALUES (1, 0), (2, 0)")
			tsqltest.Explore(t, s, tsqltest.Exploration{Preemptions: 2})
			want := []string{"10,0 not told", "10,1 not told", "11,1 not told", "11,1 told"}
			if keys := slices.Sorted(maps.Keys(got)); !slices.Equal(keys, want) {
				t.Errorf("it comes to %q, want %q", keys, want)
			}
			// While it waits for bob.
			s.Sessions = []tsqltest.Session{ada, bob, {Name: "fate", Run: func(p *tsqltest.Player) error {
				r, err := p.Exec("SELECT COUNT(*) FROM sys.dm_exec_requests WHERE wait_type = 'LCK_M_U'")
				end(p)
				if err == nil {
					p.Note(r.Sets[0].Rows[0][0])
				}
				return err
			}}}
			waited := false
			s.Check = func(e *tsqltest.End) error {
				waited = waited || e.Err("ada") != nil && e.Notes()[0] == int64(1)
				return nil
			}
			tsqltest.Explore(t, s, tsqltest.Exploration{Preemptions: 1})
			if !waited {
				t.Error("it was never met while it waited for a lock")
			}
		})
	}
}

// What repeats a failure repeats it with other plans, with sessions that are cut and killed, and with a clock that
// moves, whether it was found by the exhaustive search or at random; and it is as short as it can be.
func TestExploreRepeats(t *testing.T) {
	t.Parallel()
	ada := tsqltest.Session{Name: "ada", Steps: []string{
		"UPDATE dbo.accounts SET balance = balance - 10 WHERE id = 1", "UPDATE dbo.accounts SET balance = balance + 10 WHERE owner = 'bob'",
	}}
	late := tsqltest.Session{Name: "late", Run: func(p *tsqltest.Player) error {
		p.Advance(time.Hour)
		return nil
	}}
	whole := func(e *tsqltest.End) error {
		if sum := e.Value("SELECT SUM(balance) FROM dbo.accounts"); sum != int64(200) {
			return fmt.Errorf("together they have %v", sum)
		}
		return nil
	}
	for name, end := range fates {
		for _, random := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, random %t", name, random), func(t *testing.T) {
				t.Parallel()
				s := tsqltest.Scenario{Setup: script(accounts), Sessions: []tsqltest.Session{ada, fate(end), late}, Check: whole}
				for _, first := range []uint64{0, 3} {
					r := tsqltest.Search(t, s, tsqltest.Exploration{Random: random, FirstPlan: first, Plans: 2})
					if r.Failure == nil {
						t.Fatalf("nothing was found in %d schedules", r.Schedules)
					}
					if r.Failure.Preemptions > 1 || strings.Count(r.Failure.Repeat, ">") > 2 || first > 0 != strings.HasPrefix(r.Failure.Repeat, "plan 3: ") {
						t.Errorf("%d preemptions: %s", r.Failure.Preemptions, r.Failure.Repeat)
					}
					again := tsqltest.Search(t, s, tsqltest.Exploration{Repeat: r.Failure.Repeat})
					if again.Failure == nil || again.Failure.String() != r.Failure.String() {
						t.Errorf("%v\nis repeated as %v", r.Failure, again.Failure)
					}
				}
			})
		}
	}
}

// Who tries again and again what another one does not let it do gives way, so that every schedule comes to its end and
// there are few.
func TestExploreSpinning(t *testing.T) {
	t.Parallel()
	s := tsqltest.Scenario{Setup: script(jobs + `
GO
CREATE PROCEDURE dbo.claim_first AS
SET NOCOUNT ON;
DECLARE @tries INT = 0;
WHILE @tries < 100000
BEGIN
	SET @tries += 1;
	WITH first AS (SELECT id, taken FROM dbo.jobs WITH (UPDLOCK, READPAST, ROWLOCK) WHERE id = 1)
	UPDATE first SET taken = 1 OUTPUT inserted.id;
	IF @@ROWCOUNT = 1
		BREAK;
END;
IF @tries = 100000
	THROW 50001, 'in vain', 1;`), Sessions: claims(2, "first")}
	r := tsqltest.Explore(t, s, tsqltest.Exploration{Preemptions: 2})
	if r.Complete != 2 || r.Schedules > 1000 {
		t.Errorf("%d schedules, complete to %d", r.Schedules, r.Complete)
	}
	tsqltest.Explore(t, s, tsqltest.Exploration{Random: true, Schedules: 100})
}

// Which request ended before another one began is told apart only where a scenario says that it matters.
func TestExploreOrdered(t *testing.T) {
	t.Parallel()
	for _, ordered := range []bool{false, true} {
		clock := 0
		request := func(name string, account int) tsqltest.Session {
			return tsqltest.Session{Name: name, Run: func(p *tsqltest.Player) error {
				clock++
				p.Note(clock)
				_, err := p.Exec(fmt.Sprintf("UPDATE dbo.accounts SET balance = 0 WHERE id = %d", account))
				clock++
				p.Note(clock)
				return err
			}}
		}
		overlap := false
		tsqltest.Explore(t, tsqltest.Scenario{
			Setup: script(accounts), Sessions: []tsqltest.Session{request("ada", 1), request("bob", 2)}, Ordered: ordered,
			Check: func(e *tsqltest.End) error {
				n := e.Notes()
				overlap = overlap || n[0].(int) < n[3].(int) && n[2].(int) < n[1].(int)
				return nil
			},
		}, tsqltest.Exploration{})
		if overlap != ordered {
			t.Errorf("ordered %t: requests that overlap were tried: %t", ordered, overlap)
		}
	}
}

// Ten times as many schedules need no more memory. They are those of two sessions that claim a job each.
func TestExploreMemory(t *testing.T) { //nolint:paralleltest // it measures the heap
	heap := func(schedules int) uint64 {
		r := tsqltest.Explore(t, tsqltest.Scenario{Setup: script(jobs), Sessions: claims(2, "right"), Check: different},
			tsqltest.Exploration{Schedules: schedules, Preemptions: 8, Every: true})
		if r.Schedules != schedules {
			t.Errorf("%d schedules, want %d", r.Schedules, schedules)
		}
		runtime.GC()
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		return memory.HeapAlloc
	}
	few, many := heap(300), heap(3000)
	t.Logf("after 300 schedules %d KiB, after 3,000 %d KiB", few>>10, many>>10)
	if many > few+few/2 {
		t.Errorf("after 300 schedules %d KiB, after 3,000 %d KiB", few>>10, many>>10)
	}
}
