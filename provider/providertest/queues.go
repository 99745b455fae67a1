package providertest

import (
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// enqueue queues a message for an instance, visible at once.
func (e *env) enqueue(items ...provider.WorkItem) {
	e.Helper()
	for _, item := range items {
		e.ok(e.p.EnqueueForOrchestrator(e.ctx, item, 0), "§5.9: EnqueueForOrchestrator adds a row for any instance")
	}
}

// tryFetchParams fetches with all parameters, or nil.
func (e *env) tryFetchParams(params provider.FetchOrchestrationParams) *provider.FetchedOrchestration {
	e.Helper()
	got, err := e.p.FetchOrchestrationItem(e.ctx, params)
	e.ok(err, "§5.1: FetchOrchestrationItem")
	return got
}

// tryFetch fetches an orchestration without waiting; nil when none is eligible.
func (e *env) tryFetch(lease time.Duration) *provider.FetchedOrchestration {
	e.Helper()
	return e.tryFetchParams(provider.FetchOrchestrationParams{LockTimeout: lease})
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

// history reads one execution.
func (e *env) history(instance string, execution uint64) []provider.Event {
	e.Helper()
	events, err := e.p.ReadWithExecution(e.ctx, instance, execution)
	e.ok(err, "§5.6: ReadWithExecution")
	return events
}
