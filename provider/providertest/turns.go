package providertest

import (
	"strings"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// commit acks a fetched turn. Token and, unless given, execution are got's.
func (e *env) commit(got *provider.FetchedOrchestration, params provider.AckOrchestrationParams) {
	e.Helper()
	e.ack(turnOf(got, params))
}

// turnOf fills in what an ack takes from the fetch.
func turnOf(got *provider.FetchedOrchestration, params provider.AckOrchestrationParams) provider.AckOrchestrationParams {
	params.LockToken = got.LockToken
	if params.ExecutionID == 0 {
		params.ExecutionID = got.Item.ExecutionID
	}
	return params
}

// drop acks a fetched turn without effects: its messages are consumed.
func (e *env) drop(got *provider.FetchedOrchestration) {
	e.Helper()
	e.commit(got, provider.AckOrchestrationParams{})
}

// abandon gives a fetched turn up.
func (e *env) abandon(got *provider.FetchedOrchestration, delay time.Duration, ignoreAttempt bool) {
	e.Helper()
	e.ok(e.p.AbandonOrchestrationItem(e.ctx, provider.AbandonParams{
		LockToken: got.LockToken, Delay: delay, IgnoreAttempt: ignoreAttempt,
	}), "§5.3: abandon gives up a turn whose token exists")
}

// batch asserts which messages a fetch delivered, in queue order.
func (e *env) batch(got *provider.FetchedOrchestration, rule string, want ...provider.WorkItem) {
	e.Helper()
	e.sameMessages(got.Item.Messages, want, rule)
}

// enqueueLater queues a message that becomes visible after delay.
func (e *env) enqueueLater(item provider.WorkItem, delay time.Duration) {
	e.Helper()
	e.ok(e.p.EnqueueForOrchestrator(e.ctx, item, delay), "§5.9: visibility: now + delay")
}

// appendEvents writes history outside a turn.
func (e *env) appendEvents(instance string, execution uint64, events ...provider.Event) {
	e.Helper()
	e.ok(e.p.AppendWithExecution(e.ctx, instance, execution, events), "§5.7: appends events outside a turn")
}

// read reads the latest execution.
func (e *env) read(instance string) []provider.Event {
	e.Helper()
	events, err := e.p.Read(e.ctx, instance)
	e.ok(err, "§5.5: Read")
	return events
}

// noInstance asserts that no instance row exists.
func (e *env) noInstance(instance, rule string) {
	e.Helper()
	stats, err := e.p.GetInstanceStats(e.ctx, instance)
	e.ok(err, "§5.19: nil if there is no instance row")
	e.check(stats == nil, rule, "GetInstanceStats knows instance %q: %+v", instance, stats)
	if a := e.p.Admin(); a != nil {
		_, err := a.GetInstanceInfo(e.ctx, instance)
		e.permanent(err, provider.ErrNotFound, rule)
	}
}

// lockHeld asserts that the instance is still locked, by a message that would
// otherwise make it fetchable. No other instance may have messages.
func (e *env) lockHeld(instance, rule string) {
	e.Helper()
	e.enqueue(raised(instance, "knock"))
	e.fetchNone(rule)
}

// says asserts that an error's text holds one of the phrases.
func (e *env) says(err error, rule string, phrases ...string) {
	e.Helper()
	for _, phrase := range phrases {
		if err != nil && strings.Contains(err.Error(), phrase) {
			return
		}
	}
	e.violated(rule, "error text %q, want one of %q", err, phrases)
}

// refused asserts a permanent error of whatever cause.
func (e *env) refused(err error, rule string) {
	e.Helper()
	e.check(err != nil, rule, "the call succeeded, want a permanent error")
	e.permanent(err, err, rule)
}
