package providertest

import (
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// longPolling checks how long an idle fetch takes. Waiting is optional, waiting
// too long is not.
func longPolling() category {
	return category{"long polling", []scenario{
		{"short_poll_returns_immediately", shortPoll(fetchesOrchestrations)},
		{"long_poll_waits_for_timeout", longPoll(fetchesOrchestrations)},
		{"fetch_respects_timeout_upper_bound", pollIsBounded},
		{"short_poll_work_item_returns_immediately", shortPoll(fetchesWork)},
		{"long_poll_work_item_waits_for_timeout", longPoll(fetchesWork)},
	}}
}

const (
	ruleShortPoll = "§5.1: pollTimeout: 0 means never wait; a short-polling provider must return within about 100 ms " +
		"locally / 500 ms remotely when idle"
	ruleLongPoll  = "§5.1: pollTimeout: how long the call may wait for work"
	rulePollBound = "§5.1: pollTimeout: if honoured, the call MUST return within pollTimeout + 200 ms"
)

// pollSlack is how much later than pollTimeout a fetch may return.
const pollSlack = 200 * time.Millisecond

// idleFetch is a fetch on a store that has nothing to offer.
type idleFetch func(e *env, poll time.Duration)

func fetchesOrchestrations(e *env, poll time.Duration) {
	e.Helper()
	got, err := e.p.FetchOrchestrationItem(e.ctx, provider.FetchOrchestrationParams{LockTimeout: held, PollTimeout: poll})
	e.ok(err, "§5.1: nil when nothing is eligible")
	e.check(got == nil, "§5.1: nil when nothing is eligible", "an idle store returned %v", got)
}

func fetchesWork(e *env, poll time.Duration) {
	e.Helper()
	got, err := e.p.FetchWorkItem(e.ctx, provider.FetchWorkParams{LockTimeout: held, PollTimeout: poll})
	e.ok(err, "§5.10: nil when nothing is eligible")
	e.check(got == nil, "§5.10: nil when nothing is eligible", "an idle store returned %v", got)
}

// Without a poll timeout an idle fetch answers at once.
func shortPoll(fetch idleFetch) func(*env) {
	return func(e *env) {
		took := fastest(5, func() { fetch(e, 0) })
		e.check(took <= e.config.ShortPollLimit, ruleShortPoll, "took %v, limit %v", took, e.config.ShortPollLimit)
	}
}

// A store that honours the poll timeout waits that long for work; none waits
// longer.
func longPoll(fetch idleFetch) func(*env) {
	return func(e *env) {
		poll := e.lease / 4
		took := fastest(3, func() { fetch(e, poll) })
		if e.config.LongPolling {
			e.check(took >= poll-tolerance, ruleLongPoll, "took %v, want %v", took, poll)
		}
		limit := max(poll+pollSlack, e.config.ShortPollLimit)
		e.check(took <= limit, rulePollBound, "took %v, want at most %v", took, limit)
	}
}

// No fetch outlasts its poll timeout by more than the tolerance, whatever is
// queued that it may not have: locked, delayed or orphaned.
func pollIsBounded(e *env) {
	e.create("A")
	e.enqueue(raised("A", "go"), provider.CancelInstanceItem{Instance: "ghost", Reason: "user"})
	e.enqueueWork(activityItem("A", 2))
	e.fetchInstance("A", held)
	e.fetchWork(held)
	e.enqueue(raised("A", "later"))
	e.enqueueLater(raised("B", "much later"), held)
	for name, fetch := range map[string]idleFetch{"orchestration": fetchesOrchestrations, "activity": fetchesWork} {
		poll := e.lease / 10
		took := fastest(4, func() { fetch(e, poll) })
		limit := max(poll+pollSlack, e.config.ShortPollLimit)
		e.check(took <= limit, rulePollBound, "%s fetch took %v, want at most %v", name, took, limit)
	}
}
