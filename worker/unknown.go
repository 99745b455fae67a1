package worker

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker/internal/turns"
)

// offer is work that this worker was given without having its code.
type offer struct {
	times uint32
	since time.Time
	// event and attempt are the last event of the history and the attempt. If they have
	// changed, a worker that has the code was at it meanwhile.
	event   uint64
	attempt uint32
}

// offered notes such work and returns what is known of it.
func (w *Worker) offered(key workKey, event uint64, attempt uint32) offer {
	return w.offers.update(key, func(o offer) offer {
		if o.times == 0 || o.event != event || o.attempt != attempt {
			o = offer{since: time.Now(), event: event, attempt: attempt}
		}
		o.times++
		return o
	})
}

// hopeless reports work that this worker has been offered again and again for
// UnknownCodeTimeout. An outage counts as a beginning: the workers that have the code may
// come back later than this one.
func (w *Worker) hopeless(o offer) bool {
	since := o.since
	if back := w.outage.SteadySince(); back.After(since) {
		since = back
	}
	return w.options.UnknownCodeTimeout > 0 && time.Since(since) >= w.options.UnknownCodeTimeout
}

// unknown is the failure of work whose code nobody has. It has the form of a history that
// does not fit the code, the only one that the contract has for code (contract §3.4).
func unknown(code provider.CodeName, text string) provider.ErrorDetails {
	return provider.ConfigurationFailure{Kind: provider.Nondeterminism, Resource: code.Name, Message: &text}
}

// offeredInVain is the failure of work that a store kept offering to this worker, which
// knows nothing of others.
func (w *Worker) offeredInVain(kind string, code provider.CodeName) provider.ErrorDetails {
	text := fmt.Sprintf("%s was offered to this worker for %v and run by none", describeCode(kind, code), w.options.UnknownCodeTimeout)
	if kind == anOrchestration {
		text += "; versions known to this worker: " + describeVersions(w.registry.Versions(code.Name))
	}
	return unknown(code, text)
}

// unregistered leaves a turn to a worker that has the orchestration, for instance during
// a rolling upgrade, without counting it as an attempt (contract §7.5).
func (t *turn) unregistered(ctx context.Context, b turns.Begin) verdict {
	var last uint64
	if n := len(t.item.History); n > 0 {
		last = t.item.History[n-1].EventID
	}
	o := t.worker.offered(t.key(), last, t.fetched.AttemptCount)
	if t.worker.hopeless(o) || t.batch().EndsByRequest(b) && time.Since(o.since) >= t.worker.requestPatience() {
		return t.endUnrun(ctx, b, t.worker.offeredInVain(anOrchestration, b.Code()))
	}
	reason := t.worker.lacks(b.Code())
	_, delay := t.note(b, reason, func(uint32) time.Duration { return t.worker.unregisteredDelay(o.times) })
	if tellsTry(o.times) {
		t.logger.WarnContext(ctx, "no handler is registered for the orchestration, the instance is held", "reason", reason,
			"orchestration_version", b.Version, "offered", o.times, "retry_in", delay, "next_line_after", 2*o.times)
	}
	return giveBack{Delay: delay, IgnoreAttempt: true, Misfit: reason}
}

// lacks says which orchestration this worker lacks, and what it has instead.
func (w *Worker) lacks(code provider.CodeName) string {
	return fmt.Sprintf("%s, which this worker does not have; versions that it has: %s",
		describeCode(anOrchestration, code), describeVersions(w.registry.Versions(code.Name)))
}

// requestPatience is how long nobody must have had the code of an instance before a request to cancel ends it.
func (w *Worker) requestPatience() time.Duration {
	if timeout := w.options.UnknownCodeTimeout; timeout > 0 {
		return min(timeout, provider.LiveFor)
	}
	return provider.LiveFor
}

// key is the turn's instance in its execution.
func (t *turn) key() workKey {
	return workKey{instance: t.item.Instance, execution: t.item.ExecutionID}
}

// lacksCode reports a turn whose orchestration this worker does not have. It is never
// poison here: whoever has the orchestration judges.
func (t *turn) lacksCode() bool {
	switch end := t.batch().End(); {
	case t.item.HistoryError != nil, end == turns.Ended, end == turns.Continued && t.batch().Next() == nil:
		return false // it needs none, or which one is not known yet
	}
	b, err := t.batch().Begin()
	if err != nil {
		return false
	}
	_, _, ok := t.worker.registry.Orchestration(b.Started.Name, b.Code().Version)
	return !ok
}

// endUnrun ends an instance without its function: as cancelled if the batch has such a request that may end it, else as
// failed. It has the version that it asked for.
func (t *turn) endUnrun(ctx context.Context, b turns.Begin, details provider.ErrorDetails) verdict {
	if _, requested := t.batch().Request(b); requested {
		t.logger.InfoContext(ctx, "an orchestration is cancelled without its code", "orchestration_version", b.Version)
	} else {
		t.logger.WarnContext(ctx, "an orchestration fails because no worker has its code",
			"orchestration_version", b.Version, "error", details.DisplayMessage())
	}
	started := b.Started
	started.Version = cmp.Or(b.Version, t.item.Version)
	return failure{
		executionID: b.ExecutionID, started: started, delta: t.unrunDelta(b, started, details), unrun: true,
		otherwise: giveBack{Delay: time.Second, IgnoreAttempt: true},
	}
}

// unrunDelta ends a history with the failure, or with the cancellation that the batch has.
func (t *turn) unrunDelta(b turns.Begin, started provider.OrchestrationStarted, details provider.ErrorDetails) []provider.Event {
	reason, requested := t.batch().Request(b)
	if !requested {
		return failureDelta(t.item.Instance, b.ExecutionID, b.History, started, details)
	}
	delta := failureDelta(t.item.Instance, b.ExecutionID, b.History, started,
		provider.ApplicationFailure{Kind: provider.AppCancelled, CancelReason: reason})
	end := &delta[len(delta)-1]
	request := newEvent(t.item.Instance, b.ExecutionID, end.EventID, provider.OrchestrationCancelRequested{Reason: reason})
	end.EventID++
	return slices.Insert(delta, len(delta)-1, request)
}

// unregistered leaves an activity to a worker that has it, without counting it as an attempt.
func (c *call) unregistered(ctx context.Context) verdict {
	o := c.worker.offered(c.key(), 0, c.fetched.AttemptCount)
	if c.worker.hopeless(o) {
		return c.failUnknown(ctx, c.worker.offeredInVain(anActivity, c.code()))
	}
	delay := c.worker.unregisteredDelay(o.times)
	if tellsTry(o.times) {
		c.logger.WarnContext(ctx, "no handler is registered for the activity", "offered", o.times, "retry_in", delay, "next_line_after", 2*o.times)
	}
	return giveBack{Delay: delay, IgnoreAttempt: true}
}

func (c *call) key() workKey {
	return workKey{instance: c.item.Instance, execution: c.item.ExecutionID, activity: c.item.ID}
}

func (c *call) code() provider.CodeName { return provider.CodeName{Name: c.item.Name} }

// failUnknown fails an activity that nobody has, and with it its orchestration, whose code
// is not asked (contract §7.11).
func (c *call) failUnknown(ctx context.Context, details provider.ErrorDetails) verdict {
	c.logger.WarnContext(ctx, "an activity fails because no worker has its code", "error", details.DisplayMessage())
	c.tellNotRun(ctx, details)
	c.worker.offers.forget(c.key())
	return complete{c.failedWith(details)}
}
