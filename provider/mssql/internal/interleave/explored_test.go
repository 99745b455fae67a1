package interleave_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider/mssql/internal/interleave"
	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// TestExploreOn is what `make explore` runs: it explores the store's operations beside each other, those of the matrix
// too, until it is interrupted or has had its time, which DUROXIDE_EXPLORE_FOR is. That is no failure.
// DUROXIDE_EXPLORED names the file that says from where it goes on.
func TestExploreOn(t *testing.T) {
	t.Parallel()
	file := os.Getenv("DUROXIDE_EXPLORED")
	if file == "" {
		t.Skip("make explore runs it")
	}
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt)
	defer stop()
	if text := os.Getenv("DUROXIDE_EXPLORE_FOR"); text != "" {
		budget, err := time.ParseDuration(text)
		if err != nil {
			t.Fatalf("DUROXIDE_EXPLORE_FOR: %v", err)
		}
		var end context.CancelFunc
		ctx, end = context.WithTimeout(ctx, budget)
		defer end()
	}
	on := &explored{file: file, t: t}
	if err := on.load(); err != nil {
		t.Fatal(err)
	}
	list := append(interleave.Scenarios(), interleave.Matrix()...)
	var all sync.WaitGroup
	for _, v := range []interleave.Variant{{}, {RowVersions: true}, {RowVersions: true, OptimizedLocking: true}} {
		v.OtherPlans = true
		lab, where := interleave.NewLab(t, v), fmt.Sprintf("row versions %t: ", v.RowVersions)
		if v.OptimizedLocking {
			where = "optimized locking: "
		}
		all.Go(func() {
			for more := true; more && ctx.Err() == nil; {
				more = on.round(ctx, t, lab, list, where)
			}
		})
	}
	all.Wait()
	t.Logf("%d schedules, %d failures; the next time goes on from there", on.schedules, on.failures)
	if on.failures > 0 {
		t.Fail()
	}
}

// explored is how far explorations have come.
type explored struct {
	t         *testing.T
	file      string
	mu        sync.Mutex
	next      map[string]uint64 // by scenario: the number of the next round
	schedules int
	failures  int
	failed    map[string]bool
}

// round explores every scenario that has not failed a little further, and reports whether there are any.
func (x *explored) round(ctx context.Context, t *testing.T, lab *interleave.Lab, list []interleave.Scenario, where string) (some bool) {
	t.Helper()
	for _, s := range list {
		name := where + s.Name
		n, failed := x.at(name)
		if s.Known != nil || failed {
			continue
		}
		if some = true; ctx.Err() != nil {
			return some
		}
		// A round has a choice of plans of its own: at first the planner's.
		const most = 500
		r := tsqltest.Search(t, lab.Scenario(t, s), tsqltest.Exploration{FirstPlan: n, RowLocks: true, Preemptions: 1 + int(n%3), Schedules: most})
		if r.Failure == nil {
			tried := r.Schedules
			r = tsqltest.Search(t, lab.Scenario(t, s), tsqltest.Exploration{FirstPlan: n, RowLocks: true, Random: true, Seed: n + 1, Schedules: most})
			r.Schedules += tried
		}
		x.note(name, n, r)
	}
	return some
}

func (x *explored) at(name string) (n uint64, failed bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.next[name], x.failed[name]
}

// note remembers a round, and tells of its failure.
func (x *explored) note(name string, n uint64, r *tsqltest.Report) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.schedules += r.Schedules
	if r.Failure != nil {
		x.failures++
		x.failed[name] = true
		x.t.Logf("%s: round %d\n%v", name, n, r.Failure)
	}
	x.next[name] = n + 1
	if err := x.save(); err != nil {
		x.t.Error(err)
	}
}

func (x *explored) load() error {
	x.next, x.failed = map[string]uint64{}, map[string]bool{}
	text, err := os.ReadFile(x.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(text, &x.next)
}

// save writes the file as a whole, so that an interruption leaves the old one or the new one.
func (x *explored) save() error {
	text, err := json.MarshalIndent(x.next, "", "\t")
	if err != nil {
		return err
	}
	beside := filepath.Join(filepath.Dir(x.file), "."+filepath.Base(x.file)+".new")
	if err := os.WriteFile(beside, append(text, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(beside, x.file)
}

// What was explored is remembered, and the next exploration goes on from there.
func TestExploreOnGoesOn(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "explored.json")
	on := &explored{file: file, t: t}
	if err := on.load(); err != nil {
		t.Fatal(err)
	}
	on.note("a", 0, &tsqltest.Report{Schedules: 3})
	on.note("a", 1, &tsqltest.Report{Schedules: 4})
	on.note("b", 0, &tsqltest.Report{Schedules: 5, Failure: &tsqltest.Failure{Err: errors.New("planted")}})
	if _, failed := on.at("b"); !failed || on.schedules != 12 || on.failures != 1 {
		t.Errorf("b has failed: %t; %d schedules, %d failures", failed, on.schedules, on.failures)
	}
	again := &explored{file: file, t: t}
	if err := again.load(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]uint64{"a": 2, "b": 1, "c": 0} {
		if n, failed := again.at(name); n != want || failed {
			t.Errorf("%s goes on with round %d, failed %t; want round %d", name, n, failed, want)
		}
	}
}
