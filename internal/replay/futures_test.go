package replay_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/internal/replay"
	"github.com/duroxide/duroxide-go/provider"
)

// A play runs a function turn by turn, as worker and store would, and replays the
// whole history after each turn: that must change nothing.
type play struct {
	t    *testing.T
	fn   replay.Func
	past []provider.Event
}

func newPlay(t *testing.T, fn func(f flow, input string) (string, error)) *play {
	t.Helper()
	p := &play{t: t, fn: do(fn)}
	p.turn()
	return p
}

// turn runs one turn with that batch.
func (p *play) turn(messages ...provider.WorkItem) *replay.Result {
	p.t.Helper()
	result := run(p.t, newTurn(p.fn, p.past, messages...))
	p.past = after(p.past, result)
	if result.Outcome == replay.Continue {
		again := run(p.t, newTurn(p.fn, p.past))
		if again.Outcome != replay.Continue || len(again.HistoryDelta) > 0 {
			p.t.Errorf("replaying event %d gives %+v, %+v", len(p.past), entries(again.HistoryDelta), again.Details)
		}
	}
	return result
}

// ends runs the last turn and checks the function's result.
func (p *play) ends(output string, messages ...provider.WorkItem) *replay.Result {
	p.t.Helper()
	result := p.turn(messages...)
	wantOutcome(p.t, result, replay.Completed)
	if got := *result.Metadata.Output; got != output {
		p.t.Errorf("output = %q, want %q", got, output)
	}
	return result
}

func TestJoinKeepsTheOrderOfItsArguments(t *testing.T) {
	t.Parallel()
	join := func(f flow, _ string) (string, error) {
		a, b, c := f.activity("A", ""), f.activity("B", ""), f.activity("C", "")
		return f.text(a) + f.text(b) + f.text(c), nil
	}
	for _, order := range [][]uint64{{2, 3, 4}, {4, 3, 2}, {3, 4, 2}} {
		t.Run(fmt.Sprint(order), func(t *testing.T) {
			t.Parallel()
			one, each := newPlay(t, join), newPlay(t, join)
			var batch []provider.WorkItem
			for i, id := range order {
				message := activityDone(id, fmt.Sprint(id))
				batch = append(batch, message)
				if i < len(order)-1 {
					each.turn(message)
				}
			}
			one.ends("234", batch...)
			each.ends("234", batch[len(batch)-1])
		})
	}
}

// Joins that re-check every handle have no limit (P46).
func TestJoinOfManyHandles(t *testing.T) {
	t.Parallel()
	const n = 2000
	p := newPlay(t, func(f flow, _ string) (string, error) {
		var handles []*replay.Handle
		for range n {
			handles = append(handles, f.activity("A", ""))
		}
		for _, h := range handles {
			f.text(h)
		}
		return "all", nil
	})
	var batch []provider.WorkItem
	for i := range n {
		batch = append(batch, activityDone(uint64(n+1-i), ""))
	}
	p.ends("all", batch...)
}

func TestSelectTakesTheFirstInHistory(t *testing.T) {
	t.Parallel()
	race := func(f flow, _ string) (string, error) {
		return fmt.Sprint(f.sel(f.activity("A", ""), f.activity("B", ""))), nil
	}
	newPlay(t, race).ends("0", activityDone(2, ""), activityDone(3, ""))
	newPlay(t, race).ends("1", activityDone(3, ""), activityDone(2, ""))
	newPlay(t, race).ends("1", activityFailed(3, ""))
}

func TestSelectBreaksTiesByIndex(t *testing.T) {
	t.Parallel()
	tie := func(swap bool) func(f flow, _ string) (string, error) {
		return func(f flow, _ string) (string, error) {
			a, b, gate := f.activity("A", ""), f.activity("B", ""), f.activity("Gate", "")
			f.text(gate)
			if swap {
				a, b = b, a
			}
			winner := f.sel(a, b)
			// Both were ready: what the loser has was not read, and is given up.
			return fmt.Sprintln(winner, f.text(a), f.text(b)), nil
		}
	}
	for _, swap := range []bool{false, true} {
		p := newPlay(t, tie(swap))
		p.turn(activityDone(3, "b"), activityDone(2, "a"))
		want, loser := "0 a error: dropped\n", uint64(3)
		if swap {
			want, loser = "0 b error: dropped\n", 2
		}
		result := p.ends(want, activityDone(4, ""))
		wantDelta(t, result, to(4, provider.ActivityCompleted{}),
			to(loser, provider.ActivityCancelRequested{Reason: "dropped_future"}), provider.OrchestrationCompleted{Output: want})
		wantCancelled(t, result) // it runs no more
	}
}

// Two dequeues asked for in one go whose messages wait already: the turn that
// records them binds both before the function looks, so a replay must not let it
// look after the first. This once made a replayed select take the other one.
func TestDequeuesOfOneBatchAreSeenTogether(t *testing.T) {
	t.Parallel()
	p := newPlay(t, func(f flow, _ string) (string, error) {
		f.text(f.activity("A", ""))
		one, two := f.dequeue("one"), f.dequeue("two")
		a := f.activity("B", "")
		winner := f.sel(two, one, a) // not the order of asking
		f.activity("Took", fmt.Sprint(winner))
		f.text(f.event("go"))
		return f.text(one) + f.text(two) + f.text(f.dequeue("one")), nil
	})
	p.turn(queued("one", "1"), queued("two", "2"), queued("one", "3"))
	result := p.turn(activityDone(2, ""))
	wantDelta(t, result, to(2, provider.ActivityCompleted{}),
		provider.QueueSubscribed{Name: "one"}, provider.QueueSubscribed{Name: "two"}, provider.ActivityScheduled{Name: "B"},
		provider.ActivityScheduled{Name: "Took", Input: "0"}, provider.ExternalSubscribed{Name: "go"},
		to(9, provider.ActivityCancelRequested{Reason: "dropped_future"}),
		to(7, provider.QueueSubscriptionCancelled{Reason: "dropped_future"}))
	wantCancelled(t, result, 9)
	p.ends("error: dropped21", raised("go", "")) // the message stays for the next dequeue
}

func TestAnyKeepsTheOthers(t *testing.T) {
	t.Parallel()
	p := newPlay(t, func(f flow, _ string) (string, error) {
		a, b := f.activity("A", ""), f.activity("B", "")
		first := f.any(a, b)
		return fmt.Sprintln(first, f.text(a), f.text(b)), nil
	})
	wantCancelled(t, p.turn(activityDone(3, "b")))
	p.ends("1 a b\n", activityDone(2, "a"))
}

// A select's losers are given up: the event says so once, and the side effect goes
// with it.
func TestLosersAreCancelled(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		action replay.Action
		event  provider.EventKind
		late   provider.WorkItem
		items  []provider.WorkItem
		ids    []uint64
	}{
		{
			name: "activity", action: replay.CallActivity{Name: "A"},
			event: provider.ActivityCancelRequested{Reason: "dropped_future"}, ids: []uint64{2},
			late: activityDone(2, "late"),
		},
		{
			name: "child", action: replay.CallSub{Name: "S"},
			event: provider.SubOrchestrationCancelRequested{Reason: "dropped_future"},
			items: []provider.WorkItem{provider.CancelInstanceItem{
				Instance: instance + "::sub::2", Reason: "parent dropped sub-orchestration future",
			}},
			late: childDone(2, "late"),
		},
		{
			name: "explicit child", action: replay.CallSub{Name: "S", Instance: "s-1"},
			event: provider.SubOrchestrationCancelRequested{Reason: "dropped_future"},
			items: []provider.WorkItem{provider.CancelInstanceItem{Instance: "s-1", Reason: "parent dropped sub-orchestration future"}},
			late:  childDone(2, "late"),
		},
		{
			name: "event", action: replay.WaitEvent{Name: "e"},
			event: provider.ExternalSubscribedCancelled{Reason: "dropped_future"}, late: raised("e", "late"),
		},
		{
			name: "queue", action: replay.Dequeue{Name: "q"},
			event: provider.QueueSubscriptionCancelled{Reason: "dropped_future"}, late: queued("q", "late"),
		},
		{name: "timer", action: replay.CreateTimer{FireAtMs: now}, late: timerFired(2)},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := newPlay(t, func(f flow, _ string) (string, error) {
				loser := f.Emit(test.action)
				f.sel(loser, f.activity("Winner", ""))
				_, err := f.await(loser)
				f.text(f.event("go"))
				return fmt.Sprint(err), nil
			})
			result := p.turn(activityDone(3, "won"))
			want := []any{to(3, provider.ActivityCompleted{Result: "won"}), provider.ExternalSubscribed{Name: "go"}}
			if test.event != nil {
				want = append(want, to(2, test.event))
			}
			wantDelta(t, result, want...)
			wantItems(t, "orchestrator items", result.OrchestratorItems, test.items...)
			wantCancelled(t, result, test.ids...)
			// What comes too late is recorded and changes nothing.
			late := p.turn(test.late)
			if len(late.HistoryDelta) != 1 {
				t.Errorf("late completion recorded as %+v", entries(late.HistoryDelta))
			}
			p.ends("dropped", raised("go", ""))
		})
	}
}

// Started and given up within one turn: the store inserts first and deletes then;
// the child sees its start before its cancellation.
func TestStartedAndDroppedInOneTurn(t *testing.T) {
	t.Parallel()
	p := newPlay(t, func(f flow, _ string) (string, error) {
		q := f.dequeue("q")
		f.text(q)
		a, s, e, d := f.activity("A", ""), f.sub("S", ""), f.event("e"), f.dequeue("r")
		f.sel(a, s, e, d, q)
		f.text(f.event("go"))
		return "done", nil
	})
	result := p.turn(queued("q", "m"))
	wantDelta(t, result, provider.QueueEventDelivered{Name: "q", Data: "m"},
		provider.ActivityScheduled{Name: "A"}, provider.SubOrchestrationScheduled{Name: "S", Instance: "sub::5"},
		provider.ExternalSubscribed{Name: "e"}, provider.QueueSubscribed{Name: "r"},
		provider.ExternalSubscribed{Name: "go"},
		to(4, provider.ActivityCancelRequested{Reason: "dropped_future"}),
		to(5, provider.SubOrchestrationCancelRequested{Reason: "dropped_future"}),
		to(6, provider.ExternalSubscribedCancelled{Reason: "dropped_future"}),
		to(7, provider.QueueSubscriptionCancelled{Reason: "dropped_future"}))
	wantItems(t, "worker items", result.WorkerItems, execute(4, "A", ""))
	wantCancelled(t, result, 4)
	child := instance + "::sub::5"
	wantItems(t, "orchestrator items", result.OrchestratorItems,
		provider.StartOrchestrationItem{
			Instance: child, Orchestration: "S", ParentInstance: new(instance), ParentID: new(uint64(5)), ParentExecutionID: new(uint64(1)), ExecutionID: 1,
		},
		provider.CancelInstanceItem{Instance: child, Reason: "parent dropped sub-orchestration future"})
	p.ends("done", raised("go", ""))
}

// A child that was dropped before it was ever sent gets no cancellation either, as
// nobody would ever take that message.
func TestChildNeverSentIsNotCancelled(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		messages []provider.WorkItem
		outcome  replay.Outcome
	}{
		{"completed", nil, replay.Completed},
		{"cancelled", []provider.WorkItem{cancel("user")}, replay.Cancelled},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := newPlay(t, func(f flow, _ string) (string, error) {
				f.text(f.activity("A", ""))
				f.Drop(f.sub("S", ""))
				f.sub("T", "")
				return "", nil
			})
			result := p.turn(append(test.messages, activityDone(2, ""))...)
			wantOutcome(t, result, test.outcome)
			wantItems(t, "orchestrator items", result.OrchestratorItems)
		})
	}
}

func TestPositionalEvents(t *testing.T) {
	t.Parallel()
	pair := func(f flow, _ string) (string, error) {
		one, two := f.event("e"), f.event("e")
		second, first := f.text(two), f.text(one)
		return first + second, nil
	}
	t.Run("the n-th wait gets the n-th event", func(t *testing.T) {
		t.Parallel()
		newPlay(t, pair).ends("ab", raised("e", "a"), raised("e", "b"), raised("e", "c"))
		p := newPlay(t, pair)
		p.turn(raised("e", "a"))
		p.turn(raised("f", "x"))
		p.ends("ab", raised("e", "b"))
	})
	t.Run("earlier events are lost", func(t *testing.T) {
		t.Parallel()
		p := &play{t: t, fn: do(func(f flow, _ string) (string, error) {
			f.text(f.activity("A", ""))
			return f.text(f.event("e")), nil
		})}
		p.turn(raised("e", "with the start"))
		p.turn(raised("e", "before the wait"))
		p.turn(activityDone(3, ""), raised("e", "with the completion that leads to the wait"))
		p.ends("in time", raised("e", "in time"))
	})
	t.Run("a dropped wait makes room", func(t *testing.T) {
		t.Parallel()
		p := newPlay(t, func(f flow, _ string) (string, error) {
			one, two := f.event("e"), f.event("e")
			f.sel(one, f.activity("A", ""))
			return f.text(two), nil
		})
		p.turn(activityDone(4, ""))
		p.ends("a", raised("e", "a"))
	})
	t.Run("an event is not delivered to a dropped wait", func(t *testing.T) {
		t.Parallel()
		p := newPlay(t, func(f flow, _ string) (string, error) {
			f.sel(f.event("e"), f.activity("A", ""))
			return f.text(f.event("e")), nil
		})
		p.turn(activityDone(3, ""), raised("e", "lost"))
		p.ends("b", raised("e", "b"))
	})
}

func TestQueues(t *testing.T) {
	t.Parallel()
	t.Run("messages wait, first in, first out", func(t *testing.T) {
		t.Parallel()
		p := &play{t: t, fn: do(func(f flow, _ string) (string, error) {
			f.text(f.activity("A", ""))
			var texts []string
			for range 3 {
				texts = append(texts, f.text(f.dequeue("q")))
			}
			return strings.Join(texts, ""), nil
		})}
		p.turn(queued("q", "1"), queued("other", "x"))
		p.turn(queued("q", "2"))
		p.turn(activityDone(4, ""))
		p.ends("123", queued("q", "3"))
	})
	t.Run("the n-th dequeue gets the n-th message", func(t *testing.T) {
		t.Parallel()
		p := newPlay(t, func(f flow, _ string) (string, error) {
			one, two := f.dequeue("q"), f.dequeue("q")
			second, first := f.text(two), f.text(one)
			return first + second, nil
		})
		p.turn(queued("q", "1"))
		p.ends("12", queued("q", "2"))
	})
	t.Run("a dropped dequeue leaves its message to the next", func(t *testing.T) {
		t.Parallel()
		p := newPlay(t, func(f flow, _ string) (string, error) {
			f.sel(f.dequeue("q"), f.activity("A", ""))
			return f.text(f.dequeue("q")), nil
		})
		p.ends("1", activityDone(3, ""), queued("q", "1"))
	})
	t.Run("two dequeues, the first dropped", func(t *testing.T) {
		t.Parallel()
		p := newPlay(t, func(f flow, _ string) (string, error) {
			one, two := f.dequeue("q"), f.dequeue("q")
			f.sel(one, f.activity("A", ""))
			return f.text(two), nil
		})
		p.turn(activityDone(4, ""))
		p.ends("1", queued("q", "1"))
	})
}

// Children that nobody can wait for any more are cancelled, other than by a turn
// that fails from outside (§7.7).
func TestReturningCancelsOpenChildren(t *testing.T) {
	t.Parallel()
	for _, fails := range []bool{false, true} {
		p := newPlay(t, func(f flow, _ string) (string, error) {
			f.sub("S", "")
			done := f.sub("T", "")
			f.text(done)
			if fails {
				return "", failure("no")
			}
			return "", nil
		})
		result := p.turn(childDone(3, ""))
		end := provider.EventKind(provider.OrchestrationCompleted{})
		if fails {
			end = provider.OrchestrationFailed{Details: provider.ApplicationFailure{Kind: provider.AppOrchestrationFailed, Message: "no"}}
		}
		wantDelta(t, result, to(3, provider.SubOrchestrationCompleted{}),
			to(2, provider.SubOrchestrationCancelRequested{Reason: "dropped_future"}), end)
		wantItems(t, "orchestrator items", result.OrchestratorItems,
			provider.CancelInstanceItem{Instance: instance + "::sub::2", Reason: "parent dropped sub-orchestration future"})
	}
}

// The end of an execution takes back waits, then ends, then cancels activities.
func TestOrderOfTheLastEvents(t *testing.T) {
	t.Parallel()
	p := newPlay(t, func(f flow, _ string) (string, error) {
		f.activity("A", "")
		f.event("e")
		f.dequeue("q")
		f.event("taken")
		f.dequeue("taken")
		f.timer(now)
		f.text(f.activity("B", ""))
		return "out", nil
	})
	result := p.turn(raised("taken", "1"), queued("taken", "2"), activityDone(8, ""))
	wantDelta(t, result,
		provider.ExternalEvent{Name: "taken", Data: "1"}, provider.QueueEventDelivered{Name: "taken", Data: "2"},
		to(8, provider.ActivityCompleted{}),
		to(3, provider.ExternalSubscribedCancelled{Reason: "orchestration_terminal"}),
		to(4, provider.QueueSubscriptionCancelled{Reason: "orchestration_terminal"}),
		provider.OrchestrationCompleted{Output: "out"},
		to(2, provider.ActivityCancelRequested{Reason: "orchestration_terminal_completed"}))
	wantCancelled(t, result, 2)
}

func TestCustomStatusAndKeysAreVisibleAtOnce(t *testing.T) {
	t.Parallel()
	var seen []string
	fn := do(func(f flow, _ string) (string, error) {
		seen = nil
		look := func() {
			status := "none"
			if s := f.CustomStatus(); s != nil {
				status = *s
			}
			k, ok := f.KV("k")
			seen = append(seen, fmt.Sprintf("%s %q %t %d", status, k.Value, ok, len(f.KVAll())))
		}
		look()
		f.status("1")
		f.set("k", "v")
		look()
		f.text(f.activity("A", ""))
		f.Emit(replay.SetStatus{})
		f.Emit(replay.ClearKV{Key: "k"})
		look()
		f.set("l", "w")
		f.Emit(replay.ClearAllKV{})
		look()
		return strings.Join(seen, ", "), nil
	})
	begin := newTurn(fn, nil)
	begin.Started.InitialCustomStatus = new("0")
	begin.KV = map[string]provider.KVEntry{"old": {Value: "x"}}
	last := newTurn(fn, after(nil, run(t, begin)), activityDone(4, ""))
	last.KV = begin.KV
	result := run(t, last)
	want := `0 "" false 1, 1 "v" true 2, none "" false 1, none "" false 0`
	if diff := cmp.Diff(want, *result.Metadata.Output); diff != "" {
		t.Errorf("seen (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]provider.KVEntry{"old": {Value: "x"}}, begin.KV); diff != "" {
		t.Errorf("the turn changed its snapshot (-want +got):\n%s", diff)
	}
}

// What is recorded wins over what the code asks for now.
func TestRecordedValuesWin(t *testing.T) {
	t.Parallel()
	p := newPlay(t, func(f flow, _ string) (string, error) {
		f.set("k", "v")
		f.timer(f.NowMs())
		f.text(f.activity("A", ""))
		at, _ := f.KV("k")
		return fmt.Sprint(at.LastUpdatedAtMs), nil
	})
	turn := newTurn(p.fn, p.past, activityDone(4, ""))
	turn.NowMs = func() uint64 { return now + 1000 }
	result := run(t, turn)
	if got := *result.Metadata.Output; got != fmt.Sprint(now) {
		t.Errorf("the key's time is %s on replay, recorded was %d", got, now)
	}
}
