package replay_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/internal/replay"
	"github.com/duroxide/duroxide-go/provider"
)

const (
	instance  = "order-1"
	version   = "0.1.32"
	now       = uint64(1_760_000_000_000)
	execution = uint64(1)
)

// An orchestration's function in these tests is written against flow, which does
// for opaque texts what package orchestration does for types.
type flow struct{ *replay.Env }

type failure string

func (f failure) Error() string { return string(f) }

var errDropped = errors.New("dropped")

func (f flow) activity(name, input string) *replay.Handle {
	return f.Emit(replay.CallActivity{Name: name, Input: input})
}

func (f flow) timer(at uint64) *replay.Handle { return f.Emit(replay.CreateTimer{FireAtMs: at}) }

func (f flow) event(name string) *replay.Handle { return f.Emit(replay.WaitEvent{Name: name}) }

func (f flow) dequeue(name string) *replay.Handle { return f.Emit(replay.Dequeue{Name: name}) }

func (f flow) sub(name, input string) *replay.Handle {
	return f.Emit(replay.CallSub{Name: name, Input: input})
}

func (f flow) status(text string) { f.Emit(replay.SetStatus{Status: &text}) }

func (f flow) set(key, value string) {
	f.Emit(replay.SetKV{Key: key, Value: value, AtMs: f.NowMs()})
}

func (f flow) continueAsNew(input string) (string, error) {
	f.Emit(replay.NextExecution{Input: input})
	f.Halt()
	return "", nil
}

func (f flow) await(h *replay.Handle) (string, error) {
	f.WaitUntil(func() bool { return h.Ready() || h.Dropped() })
	if !h.Ready() {
		return "", errDropped
	}
	text, ok := h.Result()
	if !ok {
		return "", failure(text)
	}
	return text, nil
}

// text is await for a handle that is not expected to fail.
func (f flow) text(h *replay.Handle) string {
	text, err := f.await(h)
	if err != nil {
		return "error: " + err.Error()
	}
	return text
}

func (f flow) any(handles ...*replay.Handle) int {
	winner := -1
	f.WaitUntil(func() bool {
		for i, h := range handles {
			if h.Ready() {
				winner = i
				return true
			}
		}
		return false
	})
	return winner
}

func (f flow) sel(handles ...*replay.Handle) int {
	winner := f.any(handles...)
	for i, h := range handles {
		if i != winner {
			f.Drop(h)
		}
	}
	return winner
}

// do makes a Func of a function on a flow.
func do(fn func(f flow, input string) (string, error)) replay.Func {
	return func(env *replay.Env, input string) (string, error) { return fn(flow{env}, input) }
}

// entry is what an event says, without the envelope that every event shares.
type entry struct {
	// Source is 0 when the event belongs to no other.
	Source uint64
	Kind   provider.EventKind
}

// to is an event that belongs to the event of that id.
func to(source uint64, kind provider.EventKind) entry { return entry{Source: source, Kind: kind} }

// pastOf numbers the events from 1. Items are entries or kinds.
func pastOf(items ...any) []provider.Event {
	var events []provider.Event
	for i, item := range items {
		event := provider.Event{
			EventID: uint64(i + 1), InstanceID: instance, ExecutionID: execution,
			TimestampMs: now, DuroxideVersion: version,
		}
		switch v := item.(type) {
		case entry:
			event.Kind = v.Kind
			if v.Source != 0 {
				event.SourceEventID = &v.Source
			}
		case provider.EventKind:
			event.Kind = v
		default:
			panic("neither an entry nor a kind")
		}
		events = append(events, event)
	}
	return events
}

// started is event 1 of most histories here.
var started = provider.OrchestrationStarted{Name: "Order", Version: "1.0.0", Input: "in"}

func newTurn(fn replay.Func, past []provider.Event, messages ...provider.WorkItem) replay.Turn {
	return replay.Turn{
		Instance: instance, ExecutionID: execution, Func: fn, History: past, Started: started,
		Messages: messages, FrameworkVersion: version, NowMs: func() uint64 { return now },
	}
}

// run runs a turn and checks what holds for every result.
func run(t *testing.T, turn replay.Turn) *replay.Result {
	t.Helper()
	result, err := replay.Run(t.Context(), turn)
	if err != nil {
		t.Fatal(err)
	}
	next := uint64(len(turn.History)) + 1
	terminals := 0
	for _, event := range result.HistoryDelta {
		if event.EventID != next {
			t.Errorf("event id %d where %d comes next", event.EventID, next)
		}
		next++
		if event.InstanceID != turn.Instance || event.ExecutionID != turn.ExecutionID || event.DuroxideVersion != turn.FrameworkVersion {
			t.Errorf("event %d has the wrong envelope: %+v", event.EventID, event)
		}
		if event.Terminal() {
			terminals++
		}
	}
	if want := 1; (result.Outcome != replay.Continue) != (terminals == want) || terminals > want {
		t.Errorf("outcome %d with %d terminal events", result.Outcome, terminals)
	}
	return result
}

// entries are the delta's events without their envelope.
func entries(events []provider.Event) []entry {
	var list []entry
	for _, event := range events {
		e := entry{Kind: event.Kind}
		if event.SourceEventID != nil {
			e.Source = *event.SourceEventID
		}
		list = append(list, e)
	}
	return list
}

// wantDelta compares a turn's new events. Items are entries or kinds.
func wantDelta(t *testing.T, result *replay.Result, want ...any) {
	t.Helper()
	if diff := cmp.Diff(entries(pastOf(want...)), entries(result.HistoryDelta)); diff != "" {
		t.Errorf("history delta (-want +got):\n%s", diff)
	}
}

func wantItems(t *testing.T, what string, got []provider.WorkItem, want ...provider.WorkItem) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func wantCancelled(t *testing.T, result *replay.Result, ids ...uint64) {
	t.Helper()
	var want []provider.ActivityRef
	for _, id := range ids {
		want = append(want, provider.ActivityRef{Instance: instance, ExecutionID: execution, ActivityID: id})
	}
	if diff := cmp.Diff(want, result.CancelledActivities); diff != "" {
		t.Errorf("cancelled activities (-want +got):\n%s", diff)
	}
}

func wantOutcome(t *testing.T, result *replay.Result, want replay.Outcome) {
	t.Helper()
	if result.Outcome != want {
		t.Fatalf("outcome = %d, want %d; details %+v\ndelta %+v", result.Outcome, want, result.Details, entries(result.HistoryDelta))
	}
}

// wantNondeterminism checks that the turn failed with exactly that message.
func wantNondeterminism(t *testing.T, result *replay.Result, message string) {
	t.Helper()
	wantOutcome(t, result, replay.Failed)
	details, ok := result.Details.(provider.ConfigurationFailure)
	if !ok || details.Kind != provider.Nondeterminism || details.Message == nil {
		t.Fatalf("details = %+v, want nondeterminism", result.Details)
	}
	if *details.Message != message {
		t.Errorf("message\n got %s\nwant %s", *details.Message, message)
	}
}

// Short forms for messages to the instance.

func activityDone(id uint64, result string) provider.WorkItem {
	return provider.ActivityCompletedItem{Instance: instance, ExecutionID: execution, ID: id, Result: result}
}

func activityFailed(id uint64, message string) provider.WorkItem {
	return provider.ActivityFailedItem{Instance: instance, ExecutionID: execution, ID: id, Details: declined(message)}
}

func timerFired(id uint64) provider.WorkItem {
	return provider.TimerFiredItem{Instance: instance, ExecutionID: execution, ID: id, FireAtMs: now}
}

func childDone(id uint64, result string) provider.WorkItem {
	return provider.SubOrchCompletedItem{ParentInstance: instance, ParentExecutionID: execution, ParentID: id, Result: result}
}

func raised(name, data string) provider.WorkItem {
	return provider.ExternalRaisedItem{Instance: instance, Name: name, Data: data}
}

func queued(name, data string) provider.WorkItem {
	return provider.QueueMessageItem{Instance: instance, Name: name, Data: data}
}

func cancel(reason string) provider.WorkItem {
	return provider.CancelInstanceItem{Instance: instance, Reason: reason}
}

func declined(message string) provider.ApplicationFailure {
	return provider.ApplicationFailure{Kind: provider.AppActivityFailed, Message: message}
}

func execute(id uint64, name, input string) provider.WorkItem {
	return provider.ActivityExecuteItem{Instance: instance, ExecutionID: execution, ID: id, Name: name, Input: input}
}

// after appends a result's delta to a history, as an ack does.
func after(past []provider.Event, result *replay.Result) []provider.Event {
	return append(slices.Clip(past), result.HistoryDelta...)
}

// background is for runs whose context the test itself ends.
func background(t *testing.T) (context.Context, context.CancelCauseFunc) {
	t.Helper()
	ctx, end := context.WithCancelCause(t.Context())
	t.Cleanup(func() { end(nil) })
	return ctx, end
}
