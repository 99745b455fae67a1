package providertest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// env is what a scenario works with: a fresh store and short ways to say the
// usual things. Its must-methods end the scenario on an unexpected error.
type env struct {
	*testing.T
	ctx    context.Context //nolint:containedctx // the scenario's own, gone with it
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

// Building events and items.

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
		Instance: instance, Orchestration: "Order", Input: "{}", Version: new("1.0.0"), ExecutionID: 1,
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
	return provider.ExecutionMetadata{OrchestrationName: new("Order"), OrchestrationVersion: new("1.0.0")}
}

// ended is the metadata of a last turn.
func ended(status provider.Status, output string) provider.ExecutionMetadata {
	return provider.ExecutionMetadata{Status: &status, Output: &output}
}

// Calls that must succeed.

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

// Running calls at the same time.

// together calls f(0) … f(n-1) at once, waits for all of them, and ends the
// scenario when one returned an error.
func (e *env) together(n int, f func(i int) error) {
	e.Helper()
	errs := make([]error, n)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-start
			errs[i] = f(i)
		})
	}
	close(start)
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		e.Fatal(err)
	}
}

// violation is violated for a goroutine, which has to return its failure.
func violation(rule, format string, args ...any) error {
	return fmt.Errorf("violates %s\n\t%s", rule, fmt.Sprintf(format, args...))
}

// Fetched activities.

// work is the activity that was fetched.
func (e *env) work(got *provider.FetchedWorkItem) provider.ActivityExecuteItem {
	e.Helper()
	item, ok := got.Item.(provider.ActivityExecuteItem)
	e.check(ok, "§5.10: FetchWorkItem returns an ActivityExecute", "fetched a %T", got.Item)
	return item
}

// ackWork completes a fetched activity with the result "ok".
func (e *env) ackWork(got *provider.FetchedWorkItem) {
	e.Helper()
	item := e.work(got)
	done := provider.ActivityCompletedItem{
		Instance: item.Instance, ExecutionID: item.ExecutionID, ID: item.ID, Result: "ok",
	}
	e.ok(e.p.AckWorkItem(e.ctx, got.LockToken, done), "§5.11: a row with this token and a live lock is deleted")
}

// abandonWork returns a fetched activity to the queue.
func (e *env) abandonWork(got *provider.FetchedWorkItem, delay time.Duration, ignoreAttempt bool) {
	e.Helper()
	e.ok(e.p.AbandonWorkItem(e.ctx, provider.AbandonParams{
		LockToken: got.LockToken, Delay: delay, IgnoreAttempt: ignoreAttempt,
	}), "§5.13: abandon clears token and deadline")
}

// claim fetches the activity that must be next: the one with the given id.
func (e *env) claim(params provider.FetchWorkParams, id uint64, rule string) *provider.FetchedWorkItem {
	e.Helper()
	got := e.tryFetchWorkWith(params)
	e.check(got != nil, rule, "fetched nothing, want activity %d", id)
	e.check(e.work(got).ID == id, rule, "fetched activity %d, want %d", e.work(got).ID, id)
	return got
}

// The lives of instances.

// terminal is the event that ends an execution with the given status.
func terminal(status provider.Status, output string) provider.EventKind {
	switch status {
	case provider.StatusFailed:
		return provider.OrchestrationFailed{Details: provider.Application{
			Kind: provider.AppOrchestrationFailed, Message: output,
		}}
	case provider.StatusContinuedAsNew:
		return provider.OrchestrationContinuedAsNew{Input: output}
	default:
		return provider.OrchestrationCompleted{Output: output}
	}
}

// childOf is the metadata of the first turn of parent's sub-orchestration.
func childOf(parent string) provider.ExecutionMetadata {
	return provider.ExecutionMetadata{ParentInstanceID: &parent}
}

// createChild creates a running sub-orchestration of parent.
func (e *env) createChild(parent, child string) {
	e.Helper()
	e.createWith(child, provider.AckOrchestrationParams{Metadata: childOf(parent)})
}

// createEnded creates an instance whose first turn was its last: its history is
// event 1 and the terminal event.
func (e *env) createEnded(instance string, status provider.Status) {
	e.Helper()
	e.createWith(instance, endedAtOnce(instance, status, ended(status, "out")))
}

// createEndedChild is createEnded for a sub-orchestration of parent.
func (e *env) createEndedChild(parent, child string, status provider.Status) {
	e.Helper()
	metadata := ended(status, "out")
	metadata.ParentInstanceID = &parent
	e.createWith(child, endedAtOnce(child, status, metadata))
}

func endedAtOnce(instance string, status provider.Status, metadata provider.ExecutionMetadata) provider.AckOrchestrationParams {
	return provider.AckOrchestrationParams{
		HistoryDelta: []provider.Event{event(instance, 1, 2, terminal(status, "out"))},
		Metadata:     metadata,
	}
}

// finish runs the last turn of the instance's current execution, which records
// the terminal event; for StatusContinuedAsNew it also queues the next start.
func (e *env) finish(instance string, status provider.Status, output string) {
	e.Helper()
	e.enqueue(raised(instance, "wake"))
	got := e.fetchInstance(instance, held)
	execution := got.Item.ExecutionID
	params := provider.AckOrchestrationParams{
		LockToken: got.LockToken, ExecutionID: execution, Metadata: ended(status, output),
		HistoryDelta: []provider.Event{
			event(instance, execution, uint64(len(got.Item.History)+1), terminal(status, output)),
		},
	}
	if status == provider.StatusContinuedAsNew {
		params.OrchestratorItems = []provider.WorkItem{
			provider.ContinueAsNewItem{Instance: instance, Orchestration: "Order", Input: output},
		}
	}
	e.ack(params)
}

// nextExecution runs the first turn of the execution that finish queued: its
// history is event 1 and the given further events.
func (e *env) nextExecution(instance string, params provider.AckOrchestrationParams) {
	e.Helper()
	got := e.fetchInstance(instance, held)
	params.LockToken, params.ExecutionID = got.LockToken, got.Item.ExecutionID+1
	params.HistoryDelta = append([]provider.Event{started(instance, params.ExecutionID)}, params.HistoryDelta...)
	params.Metadata.OrchestrationName = created().OrchestrationName
	params.Metadata.OrchestrationVersion = created().OrchestrationVersion
	e.ack(params)
}

// continueAsNew ends the current execution and starts the next one, which stays
// running.
func (e *env) continueAsNew(instance string) {
	e.Helper()
	e.finish(instance, provider.StatusContinuedAsNew, "next")
	e.nextExecution(instance, provider.AckOrchestrationParams{})
}

// createExecutions creates an instance with n executions: all but the last
// continued as new, with 2 events each; the last runs, with 1 event.
func (e *env) createExecutions(instance string, n int) {
	e.Helper()
	e.create(instance)
	for range n - 1 {
		e.continueAsNew(instance)
	}
}

// tick lets the store's clock move on, so that what follows has a later time.
func (e *env) tick() {
	e.Helper()
	e.sleep(15 * time.Millisecond)
}

// corrupt replaces the stored JSON of one event; without the hook the scenario
// is skipped.
func (e *env) corrupt(instance string, execution, id uint64, data string) {
	e.Helper()
	e.needs(e.store.CorruptHistory != nil, "CorruptHistory")
	if err := e.store.CorruptHistory(e.ctx, instance, execution, id, data); err != nil {
		e.Fatalf("the CorruptHistory hook failed: %v", err)
	}
}

// Management calls that must succeed.

// info reads an instance's facts.
func (e *env) info(instance string) provider.InstanceInfo {
	e.Helper()
	info, err := e.admin().GetInstanceInfo(e.ctx, instance)
	e.ok(err, "§6.8: GetInstanceInfo describes an existing instance")
	return info
}

// execution reads an execution's facts.
func (e *env) execution(instance string, id uint64) provider.ExecutionInfo {
	e.Helper()
	info, err := e.admin().GetExecutionInfo(e.ctx, instance, id)
	e.ok(err, "§6.9: GetExecutionInfo describes an existing execution")
	return info
}

// completedAt is when an ended execution ended, by the store's clock.
func (e *env) completedAt(instance string, id uint64) time.Time {
	e.Helper()
	at := e.execution(instance, id).CompletedAt
	e.check(at != nil, "§5.2 step 8: completed_at = now for Completed, Failed and ContinuedAsNew",
		"execution %d of %q has ended and no CompletedAt", id, instance)
	return *at
}

// executions lists an instance's execution ids.
func (e *env) executions(instance string) []uint64 {
	e.Helper()
	ids, err := e.admin().ListExecutions(e.ctx, instance)
	e.ok(err, "§6.5: ListExecutions")
	return ids
}

// metrics reads the system metrics.
func (e *env) metrics() provider.SystemMetrics {
	e.Helper()
	m, err := e.admin().GetSystemMetrics(e.ctx)
	e.ok(err, "§6.10: GetSystemMetrics")
	return m
}

// depths reads the queue depths.
func (e *env) depths() provider.QueueDepths {
	e.Helper()
	d, err := e.admin().GetQueueDepths(e.ctx)
	e.ok(err, "§6.11: GetQueueDepths")
	return d
}

// delete deletes a root instance with its tree.
func (e *env) delete(instance string, force bool) provider.DeleteInstanceResult {
	e.Helper()
	result, err := e.admin().DeleteInstance(e.ctx, instance, force)
	e.ok(err, "§6.15: DeleteInstance deletes a root instance with all its descendants")
	return result
}

// deleteList deletes the given instances.
func (e *env) deleteList(force bool, instances ...string) provider.DeleteInstanceResult {
	e.Helper()
	result, err := e.admin().DeleteInstancesAtomic(e.ctx, instances, force)
	e.ok(err, "§6.16: DeleteInstancesAtomic deletes the whole list")
	return result
}

// deleteBulk deletes the matching finished roots with their trees.
func (e *env) deleteBulk(filter provider.InstanceFilter) provider.DeleteInstanceResult {
	e.Helper()
	result, err := e.admin().DeleteInstanceBulk(e.ctx, filter)
	e.ok(err, "§6.17: DeleteInstanceBulk deletes finished roots")
	return result
}

// prune prunes one instance.
func (e *env) prune(instance string, options provider.PruneOptions) provider.PruneResult {
	e.Helper()
	result, err := e.admin().PruneExecutions(e.ctx, instance, options)
	e.ok(err, "§6.18: PruneExecutions deletes old executions of an instance")
	return result
}

// pruneBulk prunes the matching instances.
func (e *env) pruneBulk(filter provider.InstanceFilter, options provider.PruneOptions) provider.PruneResult {
	e.Helper()
	result, err := e.admin().PruneExecutionsBulk(e.ctx, filter, options)
	e.ok(err, "§6.19: PruneExecutionsBulk prunes every matching instance")
	return result
}

// exists asserts that the instances have their rows and a history.
func (e *env) exists(rule string, instances ...string) {
	e.Helper()
	for _, instance := range instances {
		_, err := e.admin().GetInstanceInfo(e.ctx, instance)
		e.check(err == nil, rule, "GetInstanceInfo of %q, which must have stayed: %v", instance, err)
		events, err := e.p.Read(e.ctx, instance)
		e.check(err == nil && len(events) > 0, rule,
			"history of %q, which must have stayed: %d events, error %v", instance, len(events), err)
	}
}

// gone asserts that nothing is left of the instances but what is queued.
func (e *env) gone(rule string, instances ...string) {
	e.Helper()
	for _, instance := range instances {
		_, err := e.admin().GetInstanceInfo(e.ctx, instance)
		e.permanent(err, provider.ErrNotFound, rule)
		events, err := e.p.Read(e.ctx, instance)
		e.check(err == nil && len(events) == 0, rule,
			"history of deleted %q: %d events, error %v", instance, len(events), err)
		e.check(len(e.executions(instance)) == 0, rule, "deleted %q still has executions", instance)
	}
}

// same ends the scenario unless got equals want.
func same[T comparable](e *env, got, want T, rule string) {
	e.Helper()
	e.check(got == want, rule, "got  %+v\n\twant %+v", got, want)
}

// sameList ends the scenario unless got holds want's elements in order.
func sameList[T comparable](e *env, got, want []T, rule string) {
	e.Helper()
	e.check(slices.Equal(got, want), rule, "got  %v\n\twant %v", got, want)
}

// sameSet ends the scenario unless got holds want's elements in any order.
func sameSet[T cmp.Ordered](e *env, got, want []T, rule string) {
	e.Helper()
	sameList(e, slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want)), rule)
}

// samePtr ends the scenario unless both are nil or point to equal values.
func samePtr[T comparable](e *env, got, want *T, rule string) {
	e.Helper()
	if got == nil || want == nil {
		e.check(got == nil && want == nil, rule, "got %s, want %s", render(got), render(want))
		return
	}
	same(e, *got, *want, rule)
}

// patiently repeats a call that competes with others for as long as it fails
// with a retryable error, which the contract allows for deadlocks and the like.
func patiently(call func() error) error {
	var err error
	for range 100 {
		if err = call(); !provider.IsRetryable(err) {
			return err
		}
	}
	return fmt.Errorf("still failing after 100 tries: %w", err)
}

// lookalikes are different strings that a careless comparison takes for one
// another: by case, accents, width, blanks, or as a pattern or a list.
var lookalikes = []string{
	"a", "A", "a ", " a", "a  ", "a\t", "aa", "ａ", "á", "a\u0301", "à", "ß", "ss", "SS",
	"_", "%", "[a]", "a,b", `["a"]`, `a"`, "a'", `a\`, "a/b", "a.b", "ａ.ｂ", "日本語", "日本", "😀", "😁",
}
