package replay_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/internal/replay"
	"github.com/duroxide/duroxide-go/provider"
)

// legacy is the last stamp of the legacy policy, as far as that is published.
const legacy = "0.1.30"

// A drama is one program in a few turns, under a stamp.
type drama struct {
	t     *testing.T
	stamp string
	fn    replay.Func
	past  []provider.Event
}

func newDrama(t *testing.T, stamp string, fn func(f flow, input string) (string, error)) *drama {
	t.Helper()
	d := &drama{t: t, stamp: stamp, fn: do(fn)}
	d.turn()
	return d
}

// turn runs a turn. Only event 1 has the stamp under test: later events and the worker
// have none of the choice.
func (d *drama) turn(messages ...provider.WorkItem) *replay.Result {
	d.t.Helper()
	turn := newTurn(d.fn, d.past, messages...)
	if len(d.past) == 0 {
		turn.FrameworkVersion = d.stamp
	}
	result := run(d.t, turn)
	d.past = after(d.past, result)
	return result
}

// replays checks that the history so far replays without anything new.
func (d *drama) replays() {
	d.t.Helper()
	result := d.turn()
	if result.Outcome != replay.Continue || len(result.HistoryDelta) > 0 {
		d.t.Errorf("%s: a replay gives %+v, %+v", d.stamp, entries(result.HistoryDelta), result.Details)
	}
}

func output(t *testing.T, result *replay.Result) string {
	t.Helper()
	wantOutcome(t, result, replay.Completed)
	return *result.Metadata.Output
}

// The policy goes by the stamp alone, as a semantic version with its pre-releases
// (§7.11, race policy). The program is trace T1.
func TestPolicyGoesByTheStamp(t *testing.T) {
	t.Parallel()
	for stamp, want := range map[string]string{
		"0.1.26": "timer", "0.1.30": "timer", "0.1.30+build.9": "timer", "0.1.31-rc.1": "timer", "0.1.31-rc.1+b": "timer", "0.0.99": "timer",
		"0.1.31": "first", "0.1.31+build": "first", "0.1.31+b-1": "first", "0.1.32": "first", "0.1.32-alpha": "first", "0.2.0": "first", "1.0.0": "first",
		"": "warned", "garbage": "warned", "0.1": "warned", "v0.1.32": "warned", "0.1.032": "warned", "0.1.32-": "warned", "0.1.32-01": "warned",
		"0.1.32+": "warned", "0.1.32-a..b": "warned", "0.1.32-ä": "warned", "0.1.32+a+b": "warned", "-0.1.32": "warned",
	} {
		d := newDrama(t, stamp, traceT1)
		if first := d.turn(queued("other", "")); (first.StampError != nil) != (want == "warned") {
			t.Errorf("%q: error %v", stamp, first.StampError)
		}
		result := d.turn(timerFired(4), queued("q", "first"), timerFired(5))
		if (result.StampError != nil) != (want == "warned") {
			t.Errorf("%q: error %v in a later turn", stamp, result.StampError)
		}
		decided := want
		if want == "warned" {
			decided = "timer"
		}
		if got := output(t, result); got != decided {
			t.Errorf("%q: %s, want %s", stamp, got, decided)
		}
	}
}

func traceT1(f flow, _ string) (string, error) {
	one, two := f.dequeue("q"), f.dequeue("q")
	a, b := f.timer(now), f.timer(now)
	f.sel(one, a)
	if f.sel(two, b) == 0 {
		return f.await(two)
	}
	return "timer", nil
}

// A dequeue that lost gives its place to the next under the exact policy, live and on
// replay. Under the legacy one a replay cannot follow its own history: kept as it is
// (trace T2).
func TestDroppedDequeueAndItsReplacement(t *testing.T) {
	t.Parallel()
	for _, stamp := range []string{version, legacy} {
		d := newDrama(t, stamp, func(f flow, _ string) (string, error) {
			f.sel(f.dequeue("q"), f.timer(now))
			got := f.text(f.dequeue("q"))
			return f.await(f.activity("Got", got))
		})
		live := d.turn(timerFired(3), queued("q", "first"))
		wantDelta(t, live, to(3, provider.TimerFired{FireAtMs: now}), provider.QueueEventDelivered{Name: "q", Data: "first"},
			provider.QueueSubscribed{Name: "q"}, provider.ActivityScheduled{Name: "Got", Input: "first"},
			to(2, provider.QueueSubscriptionCancelled{Reason: "dropped_future"}))
		if stamp == version {
			d.replays()
			continue
		}
		wantNondeterminism(t, d.turn(), `history has event 7, activity "Got" with 5 bytes, where the code asks for nothing`)
	}
}

// A positional wait that lost takes nothing more under the exact policy; under the
// legacy one it takes the next event along (trace T3).
func TestDroppedWaitAndItsReplacement(t *testing.T) {
	t.Parallel()
	program := func(f flow, _ string) (string, error) {
		f.sel(f.event("s"), f.timer(now))
		return f.await(f.event("s"))
	}
	exact := newDrama(t, version, program)
	exact.turn(timerFired(3), raised("s", "a"))
	exact.replays()
	if got := output(t, exact.turn(raised("s", "b"))); got != "b" {
		t.Errorf("exact: %s, want the event after the replacement was bound", got)
	}
	old := newDrama(t, legacy, program)
	old.turn(timerFired(3), raised("s", "a"))
	wantOutcome(t, old.turn(raised("s", "b")), replay.Continue)
	if got := output(t, old.turn(queued("any", "poll"))); got != "a" {
		t.Errorf("legacy: %s, want what the dropped wait had", got)
	}
}

// A value that a wait holds unread is gone with it under the exact policy (trace T4).
func TestDroppedWaitTakesItsValueAlong(t *testing.T) {
	t.Parallel()
	d := newDrama(t, version, func(f flow, _ string) (string, error) {
		stale := f.event("s")
		f.text(f.activity("A", ""))
		f.Drop(stale)
		f.text(f.activity("Barrier", ""))
		return f.await(f.event("s"))
	})
	d.turn(raised("s", "a"), activityDone(3, ""))
	d.replays()
	d.turn(activityDone(6, ""))
	d.replays()
	if got := output(t, d.turn(raised("s", "b"))); got != "b" {
		t.Errorf("output = %s", got)
	}
}

// A dropped wait takes only its own value; one that was read keeps it, dropped or not.
func TestDroppedWaitLeavesOthersTheirs(t *testing.T) {
	t.Parallel()
	program := func(drop int, read bool) func(f flow, _ string) (string, error) {
		return func(f flow, _ string) (string, error) {
			waits := []*replay.Handle{f.event("s"), f.event("s"), f.event("s")}
			f.text(f.activity("Gate", ""))
			if read {
				waits[drop].Ready()
			}
			f.Drop(waits[drop])
			return f.text(waits[0]) + " " + f.text(waits[1]) + " " + f.text(waits[2]), nil
		}
	}
	for drop, want := range []string{"error: dropped b c", "a error: dropped c", "a b error: dropped"} {
		for _, read := range []bool{false, true} {
			d := newDrama(t, version, program(drop, read))
			result := d.turn(raised("s", "a"), raised("s", "b"), raised("s", "c"), activityDone(5, ""))
			if read {
				want = "a b c"
			}
			if got := output(t, result); got != want {
				t.Errorf("drop %d, read %t: %q, want %q", drop, read, got, want)
			}
		}
	}
}

// A wait dropped before it is bound stays a taker until its cancellation is recorded,
// under both policies; a dequeue gives its place up at the moment of binding under the
// exact policy, and holds it for the turn under the legacy one.
func TestDroppedBeforeBinding(t *testing.T) {
	t.Parallel()
	for stamp, want := range map[string]string{version: "first", legacy: "second"} {
		d := newDrama(t, stamp, func(f flow, _ string) (string, error) {
			f.text(f.activity("Gate", ""))
			f.Drop(f.dequeue("q"))
			return f.await(f.dequeue("q"))
		})
		if got := output(t, d.turn(queued("q", "first"), queued("q", "second"), activityDone(2, ""))); got != want {
			t.Errorf("%s: %s, want %s", stamp, got, want)
		}
	}
	d := newDrama(t, version, func(f flow, _ string) (string, error) {
		f.Drop(f.event("s"))
		return f.await(f.event("s"))
	})
	d.replays()
	if got := output(t, d.turn(raised("s", "a"))); got != "a" {
		t.Errorf("wait: %s", got)
	}
}

// What continue-as-new carries for dequeues that lost or are held, under both policies: all
// that the function has not read (§7.6).
func TestCarriedByPolicy(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		fn     func(f flow)
		arrive []provider.WorkItem
		want   []string
	}{
		{
			name: "lost to a timer", fn: func(f flow) { f.sel(f.dequeue("q"), f.timer(now)) },
			arrive: []provider.WorkItem{timerFired(3), queued("q", "m1")}, want: []string{"m1"},
		},
		{
			name: "lost to a timer, one read", fn: func(f flow) {
				f.sel(f.dequeue("q"), f.timer(now))
				f.text(f.dequeue("q"))
			},
			arrive: []provider.WorkItem{timerFired(3), queued("q", "m1"), queued("q", "m2")}, want: []string{"m2"},
		},
		{
			name: "held", fn: func(f flow) { f.any(f.dequeue("q"), f.timer(now)) },
			arrive: []provider.WorkItem{timerFired(3), queued("q", "m1")}, want: []string{"m1"},
		},
		{
			name: "held, a newer one read", fn: func(f flow) {
				f.any(f.dequeue("q"), f.timer(now))
				f.text(f.dequeue("q"))
			},
			arrive: []provider.WorkItem{timerFired(3), queued("q", "m1"), queued("q", "m2")}, want: []string{"m1"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for _, stamp := range []string{version, legacy} {
				d := newDrama(t, stamp, func(f flow, _ string) (string, error) {
					test.fn(f)
					return f.continueAsNew("next")
				})
				result := d.turn(test.arrive...)
				wantOutcome(t, result, replay.ContinuedAsNew)
				var got []string
				for _, pair := range result.OrchestratorItems[len(result.OrchestratorItems)-1].(provider.ContinueAsNewItem).CarryForwardEvents {
					got = append(got, pair.Data)
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("%s carries (-want +got):\n%s", stamp, diff)
				}
			}
		})
	}
}

// Arrivals behind the point where the function returned are carried as well.
func TestCarriedBehindAReturn(t *testing.T) {
	t.Parallel()
	for _, stamp := range []string{version, legacy} {
		d := newDrama(t, stamp, func(f flow, _ string) (string, error) {
			f.text(f.activity("Gate", ""))
			f.Emit(replay.NextExecution{Input: "next"})
			return "returned", nil
		})
		result := d.turn(activityDone(2, ""), queued("q", "late"))
		wantOutcome(t, result, replay.ContinuedAsNew)
		wantItems(t, "items", result.OrchestratorItems, provider.ContinueAsNewItem{
			Instance: instance, Orchestration: "Order", Input: "next", CarryForwardEvents: []provider.CarriedMessage{{Name: "q", Data: "late"}},
		})
	}
}

// What is dropped in the turn that continues as new is not told as dropped: open waits
// and activities end with the execution, and a child is left to itself.
func TestContinueAsNewTellsOfNoDrops(t *testing.T) {
	t.Parallel()
	for _, stamp := range []string{version, legacy} {
		d := newDrama(t, stamp, func(f flow, _ string) (string, error) {
			f.sel(f.sub("S", ""), f.activity("A", ""), f.event("e"), f.dequeue("q"), f.activity("Gate", ""))
			return f.continueAsNew("next")
		})
		result := d.turn(activityDone(6, ""))
		wantDelta(t, result, to(6, provider.ActivityCompleted{}),
			to(4, provider.ExternalSubscribedCancelled{Reason: "orchestration_terminal"}),
			to(5, provider.QueueSubscriptionCancelled{Reason: "orchestration_terminal"}),
			provider.OrchestrationContinuedAsNew{Input: "next"},
			to(3, provider.ActivityCancelRequested{Reason: "orchestration_terminal_continued_as_new"}))
		wantItems(t, "items", result.OrchestratorItems,
			provider.ContinueAsNewItem{Instance: instance, Orchestration: "Order", Input: "next"})
	}
}

// Every message of a queue is read once and in order by a loop of races between a new
// dequeue and a timer, whoever wins, whichever order the batch has; and every turn
// replays.
func TestRacesReadEveryMessageOnce(t *testing.T) {
	t.Parallel()
	const rounds = 3
	program := func(f flow, _ string) (string, error) {
		var seen []string
		for range rounds {
			message := f.dequeue("q")
			if f.sel(message, f.timer(now)) == 0 {
				seen = append(seen, f.text(message))
			}
		}
		for len(seen) < rounds {
			seen = append(seen, f.text(f.dequeue("q")))
			f.text(f.activity("Seen", strings.Join(seen, "")))
		}
		return strings.Join(seen, ""), nil
	}
	// order decides for each step whether a message or the oldest timer comes next.
	for order := range 1 << (2 * rounds) {
		for batch := 1; batch <= 3; batch++ {
			checkRaces(t, program, order, batch, fmt.Sprintf("order %b, batches of %d", order, batch))
		}
	}
}

func checkRaces(t *testing.T, fn func(f flow, _ string) (string, error), order, batch int, what string) {
	t.Helper()
	d := newDrama(t, version, fn)
	sent := 0
	for step := 0; ; step++ {
		if step > 60 {
			t.Fatalf("%s: no end: %+v", what, entries(d.past))
		}
		var messages []provider.WorkItem
		done := map[uint64]bool{}
		for range batch {
			open := openWork(d.past, done)
			if order&1 == 0 && sent < 3 || len(open) == 0 && sent < 3 {
				messages = append(messages, queued("q", string(rune('a'+sent))))
				sent++
			} else if len(open) > 0 {
				done[open[0].EventID] = true
				if _, timer := open[0].Kind.(provider.TimerCreated); timer {
					messages = append(messages, timerFired(open[0].EventID))
				} else {
					messages = append(messages, activityDone(open[0].EventID, ""))
				}
			}
			order >>= 1
		}
		result := d.turn(messages...)
		if result.Outcome != replay.Continue {
			if got := output(t, result); got != "abc" {
				t.Errorf("%s: read %q: %+v", what, got, entries(d.past))
			}
			return
		}
		d.replays()
	}
}

// openWork are the timers and activities without a result.
func openWork(past []provider.Event, done map[uint64]bool) []provider.Event {
	settled := map[uint64]bool{}
	for _, event := range past {
		if event.SourceEventID != nil {
			settled[*event.SourceEventID] = true
		}
	}
	var open []provider.Event
	for _, event := range past {
		switch event.Kind.(type) {
		case provider.TimerCreated, provider.ActivityScheduled:
			if !settled[event.EventID] && !done[event.EventID] {
				open = append(open, event)
			}
		}
	}
	return open
}
