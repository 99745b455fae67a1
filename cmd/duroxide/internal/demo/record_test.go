package demo

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/tsql/leaktest"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/sqlite"
)

func TestMain(m *testing.M) {
	if what := os.Getenv(childVariable); what != "" {
		child(what)
	}
	leaktest.Main(m)
}

// recorded runs the demo's shapes undisturbed in this process and returns what is
// on record, and the calls.
func recorded(t *testing.T) (Record, map[Call]int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	store, err := sqlite.OpenMemory(ctx, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	c := client.New(store, client.Options{})

	lines, out := io.Pipe()
	work, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		defer out.Close()
		err := Work(work, store, out, WorkOptions{
			Lease: 5 * time.Second, Pause: time.Millisecond, Slots: 8, Logger: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Error(err)
		}
	})
	calls := map[Call]int{}
	p := &Process{ready: make(chan struct{}), done: make(chan struct{})}
	running.Go(func() { p.read(lines, func(call Call) { calls[call]++ }) })

	var instances []Instance
	for _, shape := range shapes() {
		if shape.Name == fanOutName {
			shape = Squares(5)
		}
		if shape.Name == Timer(0).Name {
			shape = Timer(time.Millisecond)
		}
		instances = append(instances, Instance{shape, shape.Name})
		if err := shape.Start(ctx, c, shape.Name); err != nil {
			t.Fatal(err)
		}
		if shape.Approves {
			if _, err := c.WaitForCustomStatus(ctx, shape.Name, 0); err != nil {
				t.Fatal(err)
			}
			if err := Approve(ctx, c, shape.Name, "Ada"); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, instance := range instances {
		if _, err := c.Wait(ctx, instance.ID); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	running.Wait()
	record, err := ReadRecord(ctx, c, instances)
	if err != nil {
		t.Fatal(err)
	}
	return record, calls
}

// TestProofFindsWhatIsWrong breaks a sound record in every way that the demo claims
// not to happen. A proof that finds none of it would prove nothing.
func TestProofFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	sound, calls := recorded(t)
	if problems := sound.Problems(calls); len(problems) > 0 {
		t.Fatalf("the sound record has problems:\n%s", strings.Join(problems, "\n"))
	}
	cities := Execution{"hello-cities", 1}
	for name, test := range map[string]struct {
		damage func(r *Record, calls map[Call]int)
		want   string
	}{
		"another result":     {func(r *Record, _ map[Call]int) { r.Roots[0].Status.Output = "[]" }, "hello-cities is Completed with \"[]\""},
		"a failure":          {func(r *Record, _ map[Call]int) { r.Roots[0].Status.State = client.Failed }, "hello-cities is Failed"},
		"a child too few":    {func(r *Record, _ map[Call]int) { r.Roots[4].Tree = r.Roots[4].Tree[:2] }, "sub-orchestrations has 2 instances"},
		"an event too few":   {func(r *Record, _ map[Call]int) { r.cut(cities, 3, 4) }, "event 5 is at position 4"},
		"a lost end":         {func(r *Record, _ map[Call]int) { r.cut(cities, 11, 12) }, "hello-cities, execution 1: it has not ended"},
		"a result never run": {func(_ *Record, calls map[Call]int) { delete(calls, Call{"hello-cities", 1, 2}) }, "activity 2 has a result but was never begun"},
		"a result counted twice": {func(r *Record, _ map[Call]int) {
			history := r.Histories[cities]
			twice := history[2]
			twice.EventID = history[3].EventID
			history[3] = twice // instead of the next schedule
		}, "event 4, ActivityCompleted, answers event 2, which waits for no such answer"},
		"an execution lost": {func(r *Record, _ map[Call]int) {
			r.Executions = slices.DeleteFunc(r.Executions, func(e Execution) bool { return e.Instance == "continue-as-new" && e.ID == 2 })
		}, "continue-as-new has 1 instances, 2 executions"},
		"an event raised twice": {func(r *Record, _ map[Call]int) {
			e := Execution{"external-event", 1}
			history := r.Histories[e]
			history[4].Kind = history[3].Kind // instead of the reset of the custom status
		}, "external-event, execution 1: nobody waited for events [5]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			damaged, damagedCalls := sound.clone(), maps.Clone(calls)
			test.damage(&damaged, damagedCalls)
			got := strings.Join(damaged.Problems(damagedCalls), "\n")
			if !strings.Contains(got, test.want) {
				t.Errorf("the proof says\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// TestChangedEventsAreFound does the same for what a replay must leave alone.
func TestChangedEventsAreFound(t *testing.T) {
	t.Parallel()
	sound, _ := recorded(t)
	cities := Execution{"hello-cities", 1}
	earlier := sound.clone()
	earlier.cut(cities, 5, 12)
	if problems := sound.Changed(earlier); len(problems) > 0 {
		t.Fatalf("a history that has only grown counts as changed: %s", problems)
	}
	for name, damage := range map[string]func(r *Record){
		"a later time":   func(r *Record) { r.Histories[cities][2].TimestampMs++ },
		"another result": func(r *Record) { r.Histories[cities][2].Kind = provider.ActivityCompleted{Result: "Hi"} },
		"it is gone":     func(r *Record) { r.cut(cities, 2, 12) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			later := sound.clone()
			damage(&later)
			got := strings.Join(later.Changed(earlier), "\n")
			if want := "hello-cities, execution 1: event 3 has changed"; !strings.Contains(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// clone copies what the tests change.
func (r Record) clone() Record {
	c := Record{Roots: slices.Clone(r.Roots), Executions: slices.Clone(r.Executions), Histories: map[Execution][]provider.Event{}}
	for e, history := range r.Histories {
		c.Histories[e] = slices.Clone(history)
	}
	return c
}

// cut removes the events from..to from a history.
func (r Record) cut(e Execution, from, to int) {
	r.Histories[e] = slices.Delete(r.Histories[e], from, to)
}
