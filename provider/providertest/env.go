package providertest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// env is what a scenario works with: a fresh store and short ways to say the
// usual things. Its must-methods end the scenario on an unexpected error.
type env struct {
	*testing.T
	ctx    context.Context
	config Config
	store  Store
	// p is store.Provider.
	p provider.Provider
	// lease is Config.LockTimeout: a lease the scenario lets run out.
	lease time.Duration
}

// held is a lease that outlives any scenario: for locks that must not expire.
const held = 10 * time.Minute

// baseMs is the timestamp of events whose time does not matter.
const baseMs = 1_760_000_000_000

func newEnv(t *testing.T, config Config) *env {
	t.Helper()
	store := config.Open(t)
	return &env{T: t, ctx: t.Context(), config: config, store: store, p: store.Provider, lease: config.LockTimeout}
}

// violated ends the scenario. rule quotes the contract: "§5.2: …".
func (e *env) violated(rule, format string, args ...any) {
	e.Helper()
	e.Fatalf("violates %s\n\t%s", rule, fmt.Sprintf(format, args...))
}

// check ends the scenario unless ok.
func (e *env) check(ok bool, rule, format string, args ...any) {
	e.Helper()
	if !ok {
		e.violated(rule, format, args...)
	}
}

// ok ends the scenario when a call failed that must succeed.
func (e *env) ok(err error, rule string) {
	e.Helper()
	if err != nil {
		e.violated(rule, "unexpected error: %v", err)
	}
}

// permanent ends the scenario unless err is a permanent [*provider.Error] that
// matches target.
func (e *env) permanent(err, target error, rule string) {
	e.Helper()
	if err == nil {
		e.violated(rule, "the call succeeded, want a permanent error matching %q", target)
	}
	if _, ok := errors.AsType[*provider.Error](err); !ok {
		e.violated(rule, "error %v is no *provider.Error", err)
	}
	if provider.IsRetryable(err) {
		e.violated(rule, "error %v is retryable, want permanent", err)
	}
	if !errors.Is(err, target) {
		e.violated(rule, "error %v does not match %q", err, target)
	}
}

// sleep waits for store time to pass: leases and delays only end with the clock.
func (e *env) sleep(d time.Duration) {
	e.Helper()
	select {
	case <-time.After(d):
	case <-e.ctx.Done():
		e.Fatal("test ended while waiting")
	}
}

// expire waits until a lease of e.lease taken before the call has ended.
func (e *env) expire() {
	e.Helper()
	e.sleep(e.lease + 20*time.Millisecond)
}

// --- building events and items ---

// event builds an event of the given execution.
func event(instance string, execution, id uint64, kind provider.EventKind) provider.Event {
	return provider.Event{
		EventID: id, InstanceID: instance, ExecutionID: execution,
		TimestampMs: baseMs, DuroxideVersion: "0.1.26", Kind: kind,
	}
}

// after is event with a source event id.
func after(source uint64, e provider.Event) provider.Event {
	e.SourceEventID = &source
	return e
}

// started is event 1 of an execution of orchestration "Order" version 1.0.0.
func started(instance string, execution uint64) provider.Event {
	return event(instance, execution, 1, provider.OrchestrationStarted{Name: "Order", Version: "1.0.0", Input: "{}"})
}

// startItem starts orchestration "Order" version 1.0.0.
func startItem(instance string) provider.StartOrchestrationItem {
	return provider.StartOrchestrationItem{
		Instance: instance, Orchestration: "Order", Input: "{}", Version: ptr("1.0.0"), ExecutionID: 1,
	}
}

// activityItem is activity "Charge" with the given event id, execution 1.
func activityItem(instance string, id uint64) provider.ActivityExecuteItem {
	return provider.ActivityExecuteItem{Instance: instance, ExecutionID: 1, ID: id, Name: "Charge", Input: "{}"}
}

// completedItem is the result "ok" of an activity of execution 1.
func completedItem(instance string, id uint64) provider.ActivityCompletedItem {
	return provider.ActivityCompletedItem{Instance: instance, ExecutionID: 1, ID: id, Result: "ok"}
}

// raised is a positional event.
func raised(instance, name string) provider.ExternalRaisedItem {
	return provider.ExternalRaisedItem{Instance: instance, Name: name, Data: "data"}
}

// created is the metadata of a first turn of "Order" 1.0.0.
func created() provider.ExecutionMetadata {
	return provider.ExecutionMetadata{OrchestrationName: ptr("Order"), OrchestrationVersion: ptr("1.0.0")}
}

// ended is the metadata of a last turn.
func ended(status provider.Status, output string) provider.ExecutionMetadata {
	return provider.ExecutionMetadata{Status: &status, Output: &output}
}

func ptr[T any](v T) *T { return &v }

// --- calls that must succeed ---

// enqueue queues a message for an instance, visible at once.
func (e *env) enqueue(items ...provider.WorkItem) {
	e.Helper()
	for _, item := range items {
		e.ok(e.p.EnqueueForOrchestrator(e.ctx, item, 0), "§5.9: EnqueueForOrchestrator adds a row for any instance")
	}
}

// enqueueWork queues activities.
func (e *env) enqueueWork(items ...provider.ActivityExecuteItem) {
	e.Helper()
	for _, item := range items {
		e.ok(e.p.EnqueueForWorker(e.ctx, item), "§5.8: EnqueueForWorker adds one ActivityExecute to the worker queue")
	}
}

// tryFetch fetches an orchestration without waiting; nil when none is eligible.
func (e *env) tryFetch(lease time.Duration) *provider.FetchedOrchestration {
	e.Helper()
	got, err := e.p.FetchOrchestrationItem(e.ctx, provider.FetchOrchestrationParams{LockTimeout: lease})
	e.ok(err, "§5.1: FetchOrchestrationItem")
	return got
}

// fetch fetches the orchestration that must be eligible.
func (e *env) fetch(lease time.Duration) *provider.FetchedOrchestration {
	e.Helper()
	got := e.tryFetch(lease)
	e.check(got != nil, "§5.1: nil may be returned only when no eligible candidate remains",
		"FetchOrchestrationItem returned nothing although an instance has visible messages and no live lock")
	return got
}

// fetchInstance is fetch that must return the given instance.
func (e *env) fetchInstance(instance string, lease time.Duration) *provider.FetchedOrchestration {
	e.Helper()
	got := e.fetch(lease)
	e.check(got.Item.Instance == instance, "§5.1 step 2: take the candidate with the oldest visible message",
		"got instance %q, want %q", got.Item.Instance, instance)
	return got
}

// fetchNone asserts that no orchestration is eligible.
func (e *env) fetchNone(rule string) {
	e.Helper()
	got := e.tryFetch(held)
	e.check(got == nil, rule, "fetched %v, want nothing", got)
}

// ack commits a turn.
func (e *env) ack(params provider.AckOrchestrationParams) {
	e.Helper()
	e.ok(e.p.AckOrchestrationItem(e.ctx, params), "§5.2: AckOrchestrationItem commits one turn atomically")
}

// create runs an instance's first turn: it starts, records event 1 and the given
// further events, and stays running.
func (e *env) create(instance string, more ...provider.Event) {
	e.Helper()
	e.createWith(instance, provider.AckOrchestrationParams{HistoryDelta: more, Metadata: created()})
}

// createWith is create with further effects; HistoryDelta follows event 1, and
// token and execution are filled in. Name and version default to created().
func (e *env) createWith(instance string, params provider.AckOrchestrationParams) {
	e.Helper()
	e.enqueue(startItem(instance))
	params.LockToken = e.fetchInstance(instance, held).LockToken
	params.ExecutionID = 1
	params.HistoryDelta = append([]provider.Event{started(instance, 1)}, params.HistoryDelta...)
	if params.Metadata.OrchestrationName == nil {
		params.Metadata.OrchestrationName = created().OrchestrationName
		params.Metadata.OrchestrationVersion = created().OrchestrationVersion
	}
	e.ack(params)
}

// turn wakes an existing instance with a message and runs one turn on it.
func (e *env) turn(instance string, params provider.AckOrchestrationParams) {
	e.Helper()
	e.enqueue(raised(instance, "wake"))
	got := e.fetchInstance(instance, held)
	params.LockToken = got.LockToken
	if params.ExecutionID == 0 {
		params.ExecutionID = got.Item.ExecutionID
	}
	e.ack(params)
}

// tryFetchWork fetches an untagged activity without a session, or nil.
func (e *env) tryFetchWork(lease time.Duration) *provider.FetchedWorkItem {
	e.Helper()
	return e.tryFetchWorkWith(provider.FetchWorkParams{LockTimeout: lease})
}

// tryFetchWorkWith fetches an activity, or nil.
func (e *env) tryFetchWorkWith(params provider.FetchWorkParams) *provider.FetchedWorkItem {
	e.Helper()
	got, err := e.p.FetchWorkItem(e.ctx, params)
	e.ok(err, "§5.10: FetchWorkItem")
	return got
}

// fetchWork fetches the activity that must be eligible.
func (e *env) fetchWork(lease time.Duration) *provider.FetchedWorkItem {
	e.Helper()
	return e.fetchWorkWith(provider.FetchWorkParams{LockTimeout: lease})
}

// fetchWorkWith is fetchWork with all parameters.
func (e *env) fetchWorkWith(params provider.FetchWorkParams) *provider.FetchedWorkItem {
	e.Helper()
	got := e.tryFetchWorkWith(params)
	e.check(got != nil, "§5.10 step 2: visible rows without a live lock are eligible",
		"FetchWorkItem returned nothing although an activity is eligible")
	return got
}

// fetchNoWork asserts that no activity is eligible.
func (e *env) fetchNoWork(params provider.FetchWorkParams, rule string) {
	e.Helper()
	params.LockTimeout = held
	got := e.tryFetchWorkWith(params)
	e.check(got == nil, rule, "fetched %v, want nothing", got)
}

// history reads one execution.
func (e *env) history(instance string, execution uint64) []provider.Event {
	e.Helper()
	events, err := e.p.ReadWithExecution(e.ctx, instance, execution)
	e.ok(err, "§5.6: ReadWithExecution")
	return events
}

// admin returns the management interface, which every store must have for the
// scenarios that call it; without one they are skipped.
func (e *env) admin() provider.Admin {
	e.Helper()
	a := e.p.Admin()
	if a == nil {
		e.Skip("the store has no management interface")
	}
	return a
}

// needs skips the scenario when the store lacks a hook.
func (e *env) needs(present bool, hook string) {
	e.Helper()
	if !present {
		e.Skipf("the store under test offers no %s hook", hook)
	}
}
