package replay_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/internal/replay"
	"github.com/duroxide/duroxide-go/provider"
)

// keep runs a turn and returns its result and, committed, the history after it.
func keep(t *testing.T, turn replay.Turn) (*replay.Result, []provider.Event) {
	t.Helper()
	turn.Keep = true
	result := run(t, turn)
	if result.Suspended != nil {
		t.Cleanup(func() { result.Suspended.Stop(t.Context()) })
	}
	return result, after(turn.History, result)
}

// resumed is a turn that goes on after the result of an earlier one.
func resumed(t *testing.T, turn replay.Turn, last *replay.Result, past []provider.Event, messages ...provider.WorkItem) replay.Turn {
	t.Helper()
	if last.Suspended == nil {
		t.Fatalf("the function is not suspended; outcome %d, details %+v", last.Outcome, last.Details)
	}
	from := last.Suspended.LastEventID()
	whole, ok := last.Suspended.Extend(from, past[from-1:])
	if !ok {
		t.Fatalf("the function does not go on from event %d", from)
	}
	turn.History, turn.Resume, turn.Messages = whole, last.Suspended, messages
	return turn
}

// A function goes on in the middle: it runs once, and is told what its turns bring.
func TestSuspendedFunctionGoesOn(t *testing.T) {
	t.Parallel()
	runs, ended := 0, 0
	var replays []bool
	turn := newTurn(do(func(f flow, input string) (string, error) {
		runs++
		defer func() { ended++ }()
		text := input
		for range 3 {
			text = f.text(f.activity("A", text))
			replays = append(replays, f.Replaying())
		}
		return text, nil
	}), nil)
	result, past := keep(t, turn)
	for id := uint64(2); id <= 6; id += 2 {
		if ended != 0 {
			t.Fatal("deferred calls ran before the end")
		}
		result, past = keep(t, resumed(t, turn, result, past, activityDone(id, fmt.Sprint("done ", id))))
	}
	wantOutcome(t, result, replay.Completed)
	if result.Suspended != nil || runs != 1 || ended != 1 || !slices.Equal(replays, []bool{false, false, false}) {
		t.Errorf("suspended %v, %d runs, %d ends, replaying %v", result.Suspended, runs, ended, replays)
	}
	if again := run(t, newTurn(turn.Func, past)); len(again.HistoryDelta) > 0 {
		t.Errorf("a replay of the history adds %+v", entries(again.HistoryDelta))
	}
}

// What another worker's turn recorded meanwhile is replayed first.
func TestSuspendedFunctionCatchesUp(t *testing.T) {
	t.Parallel()
	var replays []bool
	fn := func(note bool) replay.Func {
		return do(func(f flow, input string) (string, error) {
			for range 4 {
				f.text(f.activity("A", input))
				if note {
					replays = append(replays, f.Replaying())
				}
			}
			return "", nil
		})
	}
	first, past := keep(t, newTurn(fn(true), nil))
	past = after(past, run(t, newTurn(fn(false), past, activityDone(2, ""))))
	past = after(past, run(t, newTurn(fn(false), past, activityDone(4, ""))))
	second, _ := keep(t, resumed(t, newTurn(fn(true), nil), first, past, activityDone(6, "")))
	wantDelta(t, second, append(slices.Clone(anyEntries(past)), to(6, provider.ActivityCompleted{}),
		provider.ActivityScheduled{Name: "A", Input: "in"})[len(past):]...)
	if !slices.Equal(replays, []bool{true, true, false}) {
		t.Errorf("replaying %v", replays)
	}
}

func anyEntries(events []provider.Event) []any {
	var list []any
	for _, e := range entries(events) {
		list = append(list, e)
	}
	return list
}

// A history that is not the one it knows, or that leaves a gap, does not extend it.
func TestSuspendedFunctionKnowsItsHistory(t *testing.T) {
	t.Parallel()
	fn := do(func(f flow, input string) (string, error) { return f.text(f.activity("A", input)), nil })
	result, past := keep(t, newTurn(fn, nil))
	kept := result.Suspended
	other := slices.Clone(past)
	other[1].TimestampMs++
	begun := slices.Clone(past)
	begun[0].Kind = provider.OrchestrationStarted{Name: "Order", Version: "1.0.0", Input: "another"}
	for _, test := range []struct {
		what string
		from uint64
		sent []provider.Event
		ok   bool
	}{
		{"all", 0, past, true},
		{"from the last", 2, past[1:], true},
		{"nothing", 0, nil, false},
		{"nothing from the last", 2, nil, false},
		{"fewer", 0, past[:1], false},
		{"another last event", 2, other[1:], false},
		{"another last event in all", 0, other, false},
		{"another beginning", 0, begun, false},
		{"from an earlier event", 1, past, false},
	} {
		whole, ok := kept.Extend(test.from, test.sent)
		if ok != test.ok || ok && len(whole) != 2 {
			t.Errorf("%s: %v, %d events", test.what, ok, len(whole))
		}
	}
}

// Limits and what is told of them belong to each turn, and cancellations are recorded once.
func TestSuspendedFunctionHasEachTurnsLimits(t *testing.T) {
	t.Parallel()
	fn := do(func(f flow, input string) (string, error) {
		for range 5 {
			lost := []*replay.Handle{f.activity("A", input), f.event("e"), f.activity("B", input)}
			f.sel(lost...)
		}
		return "", nil
	})
	limited := newTurn(fn, nil)
	limited.Limits = replay.Limits{Actions: 5, Events: 20}
	last, past := keep(t, limited)
	replayed := run(t, newTurn(fn, past, activityDone(2, "")))
	for _, want := range []struct {
		done      uint64
		nearing   int
		cancelled []uint64
	}{
		{2, 2, []uint64{4}}, {6, 1, []uint64{8}},
	} {
		last, past = keep(t, resumed(t, limited, last, past, activityDone(want.done, "")))
		wantOutcome(t, last, replay.Continue)
		wantCancelled(t, last, want.cancelled...)
		if want.done == 2 {
			wantDelta(t, last, append(slices.Clone(anyEntries(past[:4])), anyEntries(replayed.HistoryDelta)...)[4:]...)
		}
		if len(last.Nearing) != want.nearing {
			t.Errorf("nearing %+v", last.Nearing)
		}
	}
}

// A wait that was dropped before it was asked for gives its place up with its recorded
// cancellation, also in the turn after.
func TestSuspendedFunctionAppliesItsLastCancellations(t *testing.T) {
	t.Parallel()
	fn := do(func(f flow, _ string) (string, error) {
		f.Drop(f.event("e"))
		return f.text(f.event("e")), nil
	})
	last, past := keep(t, newTurn(fn, nil))
	replayed := run(t, newTurn(fn, past, raised("e", "data")))
	result := run(t, resumed(t, newTurn(fn, nil), last, past, raised("e", "data")))
	wantOutcome(t, replayed, replay.Completed)
	wantDelta(t, &replay.Result{HistoryDelta: result.HistoryDelta}, anyEntries(replayed.HistoryDelta)...)
}

// Blocking is found in a later turn, too, and in deferred calls when the function is stopped.
func TestSuspendedFunctionThatBlocksIsFound(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	for _, deferred := range []bool{false, true} {
		slow, left := 0, make(chan struct{})
		turn := newTurn(do(func(f flow, input string) (string, error) {
			defer close(left)
			if deferred {
				defer func() { <-release }()
			}
			f.text(f.activity("A", input))
			<-release
			return "", nil
		}), nil)
		turn.BlockedAfter = blockedAfter
		last, past := keep(t, turn)
		var blocked *replay.BlockedError
		if deferred {
			blocked = last.Suspended.Stop(t.Context())
		} else {
			turn.Slow = func() { slow++ }
			_, err := replay.Run(t.Context(), resumed(t, turn, last, past, activityDone(2, "")))
			blocked, _ = errors.AsType[*replay.BlockedError](err)
		}
		if blocked == nil || !strings.Contains(blocked.At, "suspend_test.go") || !deferred && slow != 1 {
			t.Errorf("deferred %v: %+v, slow %d", deferred, blocked, slow)
		}
		t.Cleanup(func() { <-left })
	}
	t.Cleanup(func() { close(release) })
}

// Executions under the legacy policy always replay.
func TestLegacyExecutionsAreNotSuspended(t *testing.T) {
	t.Parallel()
	past := pastOf(started)
	past[0].DuroxideVersion = "0.1.30"
	turn := newTurn(do(func(f flow, input string) (string, error) { return f.text(f.activity("A", input)), nil }), past)
	turn.Keep = true
	if result := run(t, turn); result.Outcome != replay.Continue || result.Suspended != nil {
		t.Errorf("outcome %d, suspended %v", result.Outcome, result.Suspended)
	}
}

// suspend suspends that many functions of so many steps, and returns the estimate of one and
// the bytes that one holds in truth, heap and stack.
func suspend(tb testing.TB, steps, functions int) (estimated, held float64) {
	tb.Helper()
	fn := do(func(f flow, input string) (string, error) {
		for range steps {
			f.text(f.activity("Activity", input))
		}
		return f.text(f.event("end")), nil
	})
	items := []any{started}
	for i := range steps {
		items = append(items, provider.ActivityScheduled{Name: "Activity", Input: "in"},
			to(uint64(2*i+2), provider.ActivityCompleted{Result: "result"}))
	}
	past := pastOf(items...)
	kept := make([]*replay.Suspended, 0, functions)
	before := memory()
	for range functions {
		turn := newTurn(fn, slices.Clone(past))
		turn.Keep = true
		result, err := replay.Run(tb.Context(), turn)
		if err != nil {
			tb.Fatal(err)
		}
		kept = append(kept, result.Suspended)
	}
	held = memory() - before
	estimated = float64(kept[0].Bytes())
	for _, s := range kept {
		s.Stop(tb.Context())
	}
	return estimated, held / float64(functions)
}

// memory is what the process holds after a collection, heap and stacks.
func memory() float64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapAlloc + stats.StackInuse)
}

// What suspended functions hold is no more than half as much again as the estimate by which a
// worker's Cache.Bytes bounds them. It runs alone, because it looks at the memory of the
// process.
func TestEstimateOfSuspendedFunctions(t *testing.T) { //nolint:paralleltest // see above
	for steps, functions := range map[int]int{1: 2000, 100: 100, 1000: 20} {
		estimated, held := suspend(t, steps, functions)
		t.Logf("%d steps: %.0f bytes held, %.0f estimated", steps, held, estimated)
		if held > 1.5*estimated {
			t.Errorf("%d steps: %.0f bytes are held, %.0f estimated", steps, held, estimated)
		}
	}
}

// BenchmarkSuspended measures what a suspended function holds, by the length of its history.
func BenchmarkSuspended(b *testing.B) {
	for _, steps := range []int{1, 100, 1000} {
		b.Run(fmt.Sprint("steps=", steps), func(b *testing.B) {
			estimated, held := suspend(b, steps, b.N)
			b.ReportMetric(held, "held-B/op")
			b.ReportMetric(estimated, "estimated-B/op")
		})
	}
}
