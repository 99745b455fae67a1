package replay_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/internal/replay"
	"github.com/duroxide/duroxide-go/provider"
)

// What a recorded event has in common with the action behind it, and what it may
// differ in (§7.12). message is empty where the code still fits.
func TestRecordedEventAgainstCode(t *testing.T) {
	t.Parallel()
	activity := provider.ActivityScheduled{Name: "Charge", Input: "7", SessionID: new("s"), Tag: new("gpu")}
	sub := provider.SubOrchestrationScheduled{Name: "Ship", Instance: "sub::2", Input: "x"}
	chained := provider.OrchestrationChained{Name: "Audit", Instance: "audit-1", Input: "z"}
	for _, test := range []struct {
		name     string
		recorded provider.EventKind
		action   replay.Action
		message  string
	}{
		{"activity", activity, replay.CallActivity{Name: "Charge", Input: "7", SessionID: new("s"), Tag: new("gpu")}, ""},
		{
			"activity with another name", activity,
			replay.CallActivity{Name: "Refund", Input: "7", SessionID: new("s"), Tag: new("gpu")},
			`history has event 2, activity "Charge" in session "s" for tag "gpu" with 1 byte, ` +
				`where the code asks for activity "Refund" in session "s" for tag "gpu" with 1 byte`,
		},
		{
			"activity with another input", activity,
			replay.CallActivity{Name: "Charge", Input: "8", SessionID: new("s"), Tag: new("gpu")},
			`history has event 2, activity "Charge" in session "s" for tag "gpu" with 1 byte, ` +
				`where the code asks for activity "Charge" in session "s" for tag "gpu" with 1 byte; the payloads differ from byte 0 on`,
		},
		{
			"activity in another session", activity,
			replay.CallActivity{Name: "Charge", Input: "7", SessionID: new("t"), Tag: new("gpu")},
			`history has event 2, activity "Charge" in session "s" for tag "gpu" with 1 byte, ` +
				`where the code asks for activity "Charge" in session "t" for tag "gpu" with 1 byte`,
		},
		{
			"activity without the tag", activity,
			replay.CallActivity{Name: "Charge", Input: "7", SessionID: new("s")},
			`history has event 2, activity "Charge" in session "s" for tag "gpu" with 1 byte, ` +
				`where the code asks for activity "Charge" in session "s" with 1 byte`,
		},
		{"timer with another time", provider.TimerCreated{FireAtMs: 5}, replay.CreateTimer{FireAtMs: now}, ""},
		{
			"timer in place of an activity", activity,
			replay.CreateTimer{FireAtMs: now},
			`history has event 2, activity "Charge" in session "s" for tag "gpu" with 1 byte, ` +
				`where the code asks for a timer`,
		},
		{
			"activity in place of a timer",
			provider.TimerCreated{FireAtMs: 5},
			replay.CallActivity{Name: "Charge"},
			`history has event 2, a timer, where the code asks for activity "Charge" with 0 bytes`,
		},
		{"event", provider.ExternalSubscribed{Name: "approve"}, replay.WaitEvent{Name: "approve"}, ""},
		{
			"another event",
			provider.ExternalSubscribed{Name: "approve"},
			replay.WaitEvent{Name: "reject"},
			`history has event 2, a wait for event "approve", where the code asks for a wait for event "reject"`,
		},
		{"queue", provider.QueueSubscribed{Name: "inbox"}, replay.Dequeue{Name: "inbox"}, ""},
		{
			"another queue",
			provider.QueueSubscribed{Name: "inbox"},
			replay.Dequeue{Name: "outbox"},
			`history has event 2, a dequeue from "inbox", where the code asks for a dequeue from "outbox"`,
		},
		{
			"event in place of a queue",
			provider.QueueSubscribed{Name: "inbox"},
			replay.WaitEvent{Name: "inbox"},
			`history has event 2, a dequeue from "inbox", where the code asks for a wait for event "inbox"`,
		},
		{
			"child with another instance and version", sub,
			replay.CallSub{Name: "Ship", Input: "x", Instance: "elsewhere", Version: new("2.0.0")},
			"",
		},
		{
			"child with another name", sub,
			replay.CallSub{Name: "Send", Input: "x"},
			`history has event 2, sub-orchestration "Ship" with 1 byte, ` +
				`where the code asks for sub-orchestration "Send" with 1 byte`,
		},
		{
			"child with another input", sub,
			replay.CallSub{Name: "Ship", Input: "xy"},
			`history has event 2, sub-orchestration "Ship" with 1 byte, ` +
				`where the code asks for sub-orchestration "Ship" with 2 bytes; the payloads differ from byte 1 on`,
		},
		{"detached start with another version", chained, replay.StartDetached{Name: "Audit", Instance: "audit-1", Input: "z", Version: new("9.0.0")}, ""},
		{
			"detached start with another instance", chained,
			replay.StartDetached{Name: "Audit", Instance: "audit-2", Input: "z"},
			`history has event 2, a detached start of "Audit" as "audit-1" with 1 byte, ` +
				`where the code asks for a detached start of "Audit" as "audit-2" with 1 byte`,
		},
		{
			"detached start with another name", chained,
			replay.StartDetached{Name: "Log", Instance: "audit-1", Input: "z"},
			`history has event 2, a detached start of "Audit" as "audit-1" with 1 byte, ` +
				`where the code asks for a detached start of "Log" as "audit-1" with 1 byte`,
		},
		{
			"detached start with another input", chained,
			replay.StartDetached{Name: "Audit", Instance: "audit-1"},
			`history has event 2, a detached start of "Audit" as "audit-1" with 1 byte, ` +
				`where the code asks for a detached start of "Audit" as "audit-1" with 0 bytes; the payloads differ from byte 0 on`,
		},
		{"custom status with another text", provider.CustomStatusUpdated{Status: new("1")}, replay.SetStatus{Status: new("2")}, ""},
		{"custom status reset in place of set", provider.CustomStatusUpdated{Status: new("1")}, replay.SetStatus{}, ""},
		{
			"custom status in place of a key",
			provider.KeyValueSet{Key: "k", Value: "v"},
			replay.SetStatus{},
			`history has event 2, setting key "k" to 1 byte, where the code asks for a custom status`,
		},
		{"key at another time", provider.KeyValueSet{Key: "k", Value: "v", LastUpdatedAtMs: 1}, replay.SetKV{Key: "k", Value: "v", AtMs: 2}, ""},
		{
			"another key",
			provider.KeyValueSet{Key: "k", Value: "v"},
			replay.SetKV{Key: "l", Value: "v"},
			`history has event 2, setting key "k" to 1 byte, ` +
				`where the code asks for setting key "l" to 1 byte`,
		},
		{
			"key with another value",
			provider.KeyValueSet{Key: "k", Value: "v"},
			replay.SetKV{Key: "k", Value: "w"},
			`history has event 2, setting key "k" to 1 byte, ` +
				`where the code asks for setting key "k" to 1 byte; the payloads differ from byte 0 on`,
		},
		{"cleared key", provider.KeyValueCleared{Key: "k"}, replay.ClearKV{Key: "k"}, ""},
		{
			"another cleared key",
			provider.KeyValueCleared{Key: "k"},
			replay.ClearKV{Key: "l"},
			`history has event 2, clearing key "k", where the code asks for clearing key "l"`,
		},
		{"all keys cleared", provider.KeyValuesCleared{}, replay.ClearAllKV{}, ""},
		{
			"one key cleared in place of all",
			provider.KeyValuesCleared{},
			replay.ClearKV{Key: "l"},
			`history has event 2, clearing all keys, where the code asks for clearing key "l"`,
		},
		{
			"continue-as-new in place of an activity", scheduledCharge,
			replay.NextExecution{Input: "n"},
			`history has event 2, activity "Charge" with 1 byte, where the code asks for continue-as-new`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			fn := do(func(f flow, _ string) (string, error) {
				f.Emit(test.action)
				f.Halt()
				return "", nil
			})
			result := run(t, newTurn(fn, pastOf(started, test.recorded)))
			if test.message == "" {
				wantOutcome(t, result, replay.Continue)
				wantDelta(t, result)
				return
			}
			wantNondeterminism(t, result, test.message)
		})
	}
}

// Older workers recorded the clears that one call makes in any order; the key counts,
// within the unbroken run of clears at the head (§7.12).
func TestClearsReplayInAnyOrder(t *testing.T) {
	t.Parallel()
	clearing := func(key string) provider.EventKind { return provider.KeyValueCleared{Key: key} }
	fn := do(func(f flow, _ string) (string, error) {
		for _, key := range []string{"a", "b", "c"} {
			f.Emit(replay.ClearKV{Key: key})
		}
		f.activity("A", "")
		f.Emit(replay.ClearKV{Key: "d"})
		f.Halt()
		return "", nil
	})
	a, d := provider.ActivityScheduled{Name: "A"}, clearing("d")
	for _, order := range []string{"abc", "acb", "bac", "bca", "cab", "cba"} {
		past := pastOf(started, clearing(order[:1]), clearing(order[1:2]), clearing(order[2:]), a, d)
		result := run(t, newTurn(fn, past))
		wantOutcome(t, result, replay.Continue)
		wantDelta(t, result)
	}
	for _, test := range []struct {
		past    []provider.Event
		message string
	}{
		{
			pastOf(started, clearing("a"), clearing("d"), clearing("b"), clearing("c"), a),
			`history has event 3, clearing key "d", where the code asks for clearing key "b"`,
		},
		{
			pastOf(started, clearing("a"), a, clearing("b"), clearing("c"), d),
			`history has event 3, activity "A" with 0 bytes, where the code asks for clearing key "b"`,
		},
	} {
		wantNondeterminism(t, run(t, newTurn(fn, test.past)), test.message)
	}
}

// Cancellations are recorded by what they cancel, and in the order of the schedules,
// however the function gave them up (§7.11, reconciliation).
func TestOrderOfCancellations(t *testing.T) {
	t.Parallel()
	dropped := "dropped_future"
	for first := range 8 {
		result := run(t, newTurn(do(func(f flow, _ string) (string, error) {
			handles := []*replay.Handle{
				f.dequeue("q"), f.event("e"), f.sub("S", ""), f.activity("A", ""),
				f.activity("B", ""), f.sub("T", ""), f.event("e"), f.dequeue("q"),
			}
			for i := range handles {
				f.Drop(handles[(first+3*i)%len(handles)])
			}
			f.Halt()
			return "", nil
		}), nil))
		wantDelta(t, result, started,
			provider.QueueSubscribed{Name: "q"}, provider.ExternalSubscribed{Name: "e"},
			provider.SubOrchestrationScheduled{Name: "S", Instance: "sub::4"}, provider.ActivityScheduled{Name: "A"},
			provider.ActivityScheduled{Name: "B"}, provider.SubOrchestrationScheduled{Name: "T", Instance: "sub::7"},
			provider.ExternalSubscribed{Name: "e"}, provider.QueueSubscribed{Name: "q"},
			to(5, provider.ActivityCancelRequested{Reason: dropped}), to(6, provider.ActivityCancelRequested{Reason: dropped}),
			to(4, provider.SubOrchestrationCancelRequested{Reason: dropped}), to(7, provider.SubOrchestrationCancelRequested{Reason: dropped}),
			to(3, provider.ExternalSubscribedCancelled{Reason: dropped}), to(8, provider.ExternalSubscribedCancelled{Reason: dropped}),
			to(2, provider.QueueSubscriptionCancelled{Reason: dropped}), to(9, provider.QueueSubscriptionCancelled{Reason: dropped}))
		wantCancelled(t, result, 5, 6)
	}
}

// §7.12, the rules about what is missing or too much, in both directions.
func TestHistoryAgainstCode(t *testing.T) {
	t.Parallel()
	two := do(func(f flow, _ string) (string, error) {
		a, b := f.activity("A", "1"), f.activity("B", "2")
		return f.text(a) + f.text(b), nil
	})
	a, b := provider.ActivityScheduled{Name: "A", Input: "1"}, provider.ActivityScheduled{Name: "B", Input: "2"}
	for _, test := range []struct {
		name     string
		fn       replay.Func
		past     []provider.Event
		messages []provider.WorkItem
		message  string
	}{
		{name: "same code", fn: two, past: pastOf(started, a, b)},
		{name: "code asks for more at the end", fn: two, past: pastOf(started, a)},
		{
			name: "code asks for less", fn: two, past: pastOf(started, a, b, provider.TimerCreated{FireAtMs: 1}),
			message: "history has event 4, a timer, where the code asks for nothing",
		},
		{
			name: "a state change that the code no longer makes is tolerated",
			fn:   two, past: pastOf(started, a, b, provider.CustomStatusUpdated{Status: new("x")}, provider.KeyValueSet{Key: "k"}),
		},
		{
			name: "a state change that the code makes elsewhere is not",
			fn:   two, past: pastOf(started, provider.CustomStatusUpdated{}, a, b),
			message: `history has event 2, a custom status, where the code asks for activity "A" with 1 byte`,
		},
		{
			name: "order", fn: two, past: pastOf(started, b, a),
			message: `history has event 2, activity "B" with 1 byte, ` +
				`where the code asks for activity "A" with 1 byte; the payloads differ from byte 0 on`,
		},
		{
			name:    "code returns before it has asked for everything",
			fn:      do(func(f flow, _ string) (string, error) { return f.await(f.activity("A", "1")) }),
			past:    pastOf(started, a, to(2, provider.ActivityCompleted{Result: "r"}), b),
			message: `the function returned, but history goes on with event 4, activity "B" with 1 byte`,
		},
		{
			name:    "code returns at once",
			fn:      do(func(flow, string) (string, error) { return "", nil }),
			past:    pastOf(started, a),
			message: `the function returned, but history goes on with event 2, activity "A" with 1 byte`,
		},
		{
			name: "recorded completion without a schedule", fn: two,
			past:    pastOf(started, a, b, to(9, provider.ActivityCompleted{})),
			message: "history has event 4, ActivityCompleted, without an open schedule event for it",
		},
		{
			name: "recorded completion without a source", fn: two,
			past:    pastOf(started, a, b, provider.ActivityCompleted{}),
			message: "history has event 4, ActivityCompleted, without an open schedule event for it",
		},
		{
			name: "recorded completion twice", fn: two,
			past:    pastOf(started, a, b, to(2, provider.ActivityCompleted{}), to(2, provider.ActivityFailed{Details: declined("no")})),
			message: "history has event 5, ActivityFailed, without an open schedule event for it",
		},
		{
			name: "recorded completion of another kind", fn: two,
			past:    pastOf(started, a, b, to(2, provider.TimerFired{})),
			message: "history has event 4, TimerFired, without an open schedule event for it",
		},
		{
			name: "completion without a schedule", fn: two, past: pastOf(started, a, b),
			messages: []provider.WorkItem{activityDone(7, "secret")},
			message:  "ActivityCompleted arrived for event 7, which is not in the history",
		},
		{
			name: "completion of another kind", fn: two, past: pastOf(started, a, b),
			messages: []provider.WorkItem{timerFired(2)},
			message:  `TimerFired arrived for event 2, which is activity "A" with 1 byte`,
		},
		{
			name: "failure of another kind", fn: two, past: pastOf(started, a, provider.SubOrchestrationScheduled{Name: "S", Instance: "sub::3"}),
			messages: []provider.WorkItem{activityFailed(3, "secret")},
			message:  `ActivityFailed arrived for event 3, which is sub-orchestration "S" with 0 bytes`,
		},
		{
			name: "history without a beginning", fn: two, past: pastOf(a, b),
			message: "the history begins with ActivityScheduled instead of OrchestrationStarted",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			result := run(t, newTurn(test.fn, test.past, test.messages...))
			if test.message == "" {
				wantOutcome(t, result, replay.Continue)
				return
			}
			wantNondeterminism(t, result, test.message)
			if text := result.Details.DisplayMessage(); strings.Contains(text, "secret") {
				t.Errorf("the message quotes a payload: %s", text)
			}
		})
	}
}

// Whoever drops a result must go on dropping it (§7.11, reconciliation).
func TestDroppedHandlesAgainstCode(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name      string
		action    replay.Action
		scheduled provider.EventKind
		cancelled provider.EventKind
	}{
		{"activity", replay.CallActivity{Name: "A"}, provider.ActivityScheduled{Name: "A"}, provider.ActivityCancelRequested{Reason: "dropped_future"}},
		{"child", replay.CallSub{Name: "S"}, provider.SubOrchestrationScheduled{Name: "S", Instance: "sub::2"}, provider.SubOrchestrationCancelRequested{Reason: "dropped_future"}},
		{"event", replay.WaitEvent{Name: "e"}, provider.ExternalSubscribed{Name: "e"}, provider.ExternalSubscribedCancelled{Reason: "dropped_future"}},
		{"queue", replay.Dequeue{Name: "q"}, provider.QueueSubscribed{Name: "q"}, provider.QueueSubscriptionCancelled{Reason: "dropped_future"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			past := pastOf(started, test.scheduled, provider.ActivityScheduled{Name: "Z"}, to(3, provider.ActivityCompleted{}), to(2, test.cancelled))
			code := func(drops bool, end func(f flow)) replay.Func {
				return do(func(f flow, _ string) (string, error) {
					h := f.Emit(test.action)
					f.text(f.activity("Z", ""))
					if drops {
						f.Drop(h)
					}
					end(f)
					return "", nil
				})
			}
			waits := func(f flow) { f.Halt() }
			kept := run(t, newTurn(code(true, waits), past))
			wantOutcome(t, kept, replay.Continue)
			wantDelta(t, kept) // recorded once, never again
			wantItems(t, "items", kept.OrchestratorItems)
			wantCancelled(t, kept)
			ends := []func(f flow){waits, func(f flow) { f.Emit(replay.NextExecution{}); f.Halt() }}
			if test.name != "child" { // which returning drops
				ends = append(ends, func(flow) {})
			}
			for _, end := range ends {
				wantNondeterminism(t, run(t, newTurn(code(false, end), past)),
					"history says that the result of event 2 was no longer wanted, but the code still waits for it")
			}
		})
	}
}

// Of several drops that the code no longer makes, the failure names the first in
// history, whichever way the turn is repeated.
func TestFirstMissingDropIsNamed(t *testing.T) {
	t.Parallel()
	past := pastOf(started)
	for i := range 8 {
		past = append(past, pastOf(provider.ActivityScheduled{Name: "A", Input: fmt.Sprint(i)})...)
	}
	for i := range 8 {
		past = append(past, pastOf(to(uint64(9-i), provider.ActivityCancelRequested{Reason: "dropped_future"}))...)
	}
	for i := range past {
		past[i].EventID = uint64(i + 1)
	}
	fn := do(func(f flow, _ string) (string, error) {
		for i := range 8 {
			f.activity("A", fmt.Sprint(i))
		}
		f.Halt()
		return "", nil
	})
	for range 20 {
		wantNondeterminism(t, run(t, newTurn(fn, past)),
			"history says that the result of event 9 was no longer wanted, but the code still waits for it")
	}
}

// A failed turn is final: nothing of it is sent, and what the execution still had
// running is cancelled.
func TestNondeterminismEndsTheExecutionCleanly(t *testing.T) {
	t.Parallel()
	fn := do(func(f flow, _ string) (string, error) {
		f.activity("A", "1")
		f.event("e")
		return f.await(f.activity("Other", ""))
	})
	past := pastOf(started, provider.ActivityScheduled{Name: "A", Input: "1"}, provider.ExternalSubscribed{Name: "e"}, provider.TimerCreated{FireAtMs: 1})
	result := run(t, newTurn(fn, past))
	wantOutcome(t, result, replay.Failed)
	wantDelta(t, result,
		to(3, provider.ExternalSubscribedCancelled{Reason: "orchestration_terminal"}),
		provider.OrchestrationFailed{Details: result.Details},
		to(2, provider.ActivityCancelRequested{Reason: "orchestration_terminal_failed"}))
	wantCancelled(t, result, 2)
	wantItems(t, "worker items", result.WorkerItems)
	wantItems(t, "orchestrator items", result.OrchestratorItems)
}

// What the code asks for fits what was recorded of it also where its payloads are not valid UTF-8, as
// events hold them otherwise.
func TestTextsThatAreNoUTF8(t *testing.T) {
	t.Parallel()
	const text = "caf\xe9\xe9"
	fn := do(func(f flow, _ string) (string, error) {
		f.activity("A", text)
		f.sub("S", text)
		f.Emit(replay.StartDetached{Name: "D", Instance: "other", Input: text})
		f.set("k", text)
		event, message := f.event("e"), f.dequeue("q")
		return f.text(event) + f.text(message), nil
	})
	first := newTurn(fn, nil)
	first.Keep = true
	result := run(t, first)
	wantOutcome(t, result, replay.Continue)
	past := recorded(t, result.HistoryDelta)
	messages := []provider.WorkItem{raised("e", "1"), queued("q", "2")}
	again := run(t, newTurn(fn, past, messages...))
	kept := newTurn(fn, nil, messages...)
	kept.Resume = result.Suspended
	var ok bool
	if kept.History, ok = result.Suspended.Extend(0, past); !ok {
		t.Fatal("what is kept is not what is recorded")
	}
	for _, next := range []*replay.Result{again, run(t, kept)} {
		wantOutcome(t, next, replay.Completed)
	}
}

// A name that is not valid UTF-8 is refused, whatever it names. Events would hold another one, and so two keys could
// become one.
func TestNamesThatAreNoUTF8(t *testing.T) {
	t.Parallel()
	const name = "caf\xe9"
	for what, call := range map[string]func(f flow){
		"an activity's name":      func(f flow) { f.activity(name, "") },
		"a tag":                   func(f flow) { f.Emit(replay.CallActivity{Name: "A", Tag: new(name)}) },
		"a session's id":          func(f flow) { f.Emit(replay.CallActivity{Name: "A", SessionID: new(name)}) },
		"an event's name":         func(f flow) { f.event(name) },
		"a queue's name":          func(f flow) { f.dequeue(name) },
		"an orchestration's name": func(f flow) { f.sub(name, "") },
		"a key":                   func(f flow) { f.set(name, "1") },
		"a key to read":           func(f flow) { f.KV(name) },
		"a key to clear":          func(f flow) { f.Emit(replay.ClearKV{Key: name}) },
		"a marker":                func(f flow) { f.Patched(name) },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			result := run(t, newTurn(do(func(f flow, _ string) (string, error) {
				call(f)
				return "", nil
			}), nil))
			wantOutcome(t, result, replay.Failed)
			if text := result.Details.DisplayMessage(); !strings.Contains(text, `must be valid UTF-8: "caf\xe9"`) {
				t.Errorf("failed with %q", text)
			}
		})
	}
}

// recorded are events as a store gives them back.
func recorded(t *testing.T, events []provider.Event) []provider.Event {
	t.Helper()
	var list []provider.Event
	for _, event := range events {
		data, err := provider.EncodeEvent(event)
		if err != nil {
			t.Fatal(err)
		}
		if event, err = provider.DecodeEvent(data); err != nil {
			t.Fatal(err)
		}
		list = append(list, event)
	}
	return list
}
