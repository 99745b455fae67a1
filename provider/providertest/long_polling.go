package providertest

import (
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// longPolling checks how long an idle fetch takes, and what ends the wait of a store
// that honours PollTimeout. Waiting is optional, waiting too long is not.
func longPolling() category {
	return category{"long polling", append([]scenario{
		{"short_poll_returns_immediately", shortPoll(fetchesOrchestrations)},
		{"long_poll_waits_for_timeout", longPoll(fetchesOrchestrations)},
		{"fetch_respects_timeout_upper_bound", pollIsBounded},
		{"short_poll_work_item_returns_immediately", shortPoll(fetchesWork)},
		{"long_poll_work_item_waits_for_timeout", longPoll(fetchesWork)},
	}, skipped((*env).needsWaiting, []scenario{
		{"long_poll_delivers_a_message_that_arrives", longPollSeesMessage},
		{"turn_whose_lease_ends", waitsForLease},
		{"turn_whose_renewed_lease_ends", waitsForRenewedLease},
		{"abandoned_turn", waitsForAbandon},
		{"abandoned_turn_that_was_delayed", waitsForAbandonDelay},
		{"old_messages_that_become_visible", waitsForOldMessages},
		{"messages_that_came_during_a_turn", waitsForAck},
		{"messages_of_a_turn_to_others", waitsForTurnsMessages},
		{"result_of_an_activity", waitsForResult},
		{"start_that_was_appended", waitsForAppendedStart},
		{"delayed_start_of_waiting_messages", waitsForDelayedStart},
		{"activity_whose_lease_ends", waitsForWorkLease},
		{"activity_whose_renewed_lease_ends", waitsForRenewedWorkLease},
		{"session_whose_lease_ends", waitsForSessionLease},
		{"session_whose_renewed_lease_ends", waitsForRenewedSessionLease},
		{"activity_behind_those_of_other_tags", waitsForTag},
		{"activity_that_is_abandoned", waitsForAbandonedWork},
		{"activity_that_a_turn_schedules", waitsForScheduledWork},
	})...)}
}

const (
	ruleShortPoll = "§5.1: pollTimeout: 0 means never wait; a short-polling provider must return within about 100 ms " +
		"locally / 500 ms remotely when idle"
	ruleLongPoll  = "§5.1: pollTimeout: how long the call may wait for work"
	rulePollBound = "§5.1: pollTimeout: if honoured, the call MUST return within pollTimeout + 200 ms"
	ruleNotices   = "§5.1: pollTimeout: how long the call may wait for work; " +
		"a store that waits returns what becomes eligible meanwhile, and not only what is sent anew, and WorkReady tells of it (§5.23)"
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

// Who waits gets what is queued meanwhile.
func longPollSeesMessage(e *env) {
	e.waitForTurn(func() error { return e.p.EnqueueForOrchestrator(e.ctx, startItem("A"), 0) })
	e.waitForWork(func() error { return e.p.EnqueueForWorker(e.ctx, activityItem("A", 2)) })
}

// needsWaiting skips the scenario when nobody can wait for work of the store.
func (e *env) needsWaiting() {
	e.Helper()
	if _, ok := e.store.Provider.(provider.Store); !ok && !e.config.LongPolling {
		e.Skip("the store neither honours PollTimeout nor has WorkReady")
	}
}

// waitToFetchTurn fetches, and waits for a turn for the scenario's patience: within the fetch if the store honours
// PollTimeout, and otherwise for notices of WorkReady.
func (e *env) waitToFetchTurn(params provider.FetchOrchestrationParams) (got *provider.FetchedOrchestration, err error) {
	params.PollTimeout = e.patience()
	err = e.waitToFetch(true, func() (found bool, err error) {
		got, err = e.p.FetchOrchestrationItem(e.ctx, params)
		return got != nil, err
	})
	return got, err
}

// waitToFetchWork is waitToFetchTurn for an activity.
func (e *env) waitToFetchWork(params provider.FetchWorkParams) (got *provider.FetchedWorkItem, err error) {
	params.PollTimeout = e.patience()
	err = e.waitToFetch(false, func() (found bool, err error) {
		got, err = e.p.FetchWorkItem(e.ctx, params)
		return got != nil, err
	})
	return got, err
}

func (e *env) waitToFetch(turns bool, fetch func() (found bool, err error)) error {
	if e.config.LongPolling {
		_, err := fetch()
		return err
	}
	turnReady, notices, stop := e.full().WorkReady()
	defer stop()
	if turns {
		notices = turnReady
	}
	for late := time.After(e.patience()); ; {
		if found, err := fetch(); found || err != nil {
			return err
		}
		select {
		case <-notices:
		case <-late:
			return nil
		}
	}
}

// waitForTurn waits for a turn that becomes eligible while event is called, a moment
// after the wait has begun; nil when time alone is to do it.
func (e *env) waitForTurn(event func() error) *provider.FetchedOrchestration {
	e.Helper()
	var got *provider.FetchedOrchestration
	e.meanwhile(event, func() (err error) {
		got, err = e.waitToFetchTurn(provider.FetchOrchestrationParams{LockTimeout: held})
		return err
	})
	e.check(got != nil, ruleNotices, "no turn within %v", e.patience())
	return got
}

// waitForWork is waitForTurn for an activity.
func (e *env) waitForWork(event func() error) *provider.FetchedWorkItem {
	e.Helper()
	return e.waitForWorkWith(noSession(), event)
}

// waitForWorkWith is waitForWork with a session's owner or a tag.
func (e *env) waitForWorkWith(params provider.FetchWorkParams, event func() error) *provider.FetchedWorkItem {
	e.Helper()
	var got *provider.FetchedWorkItem
	e.meanwhile(event, func() (err error) {
		got, err = e.waitToFetchWork(params)
		return err
	})
	e.check(got != nil, ruleNotices, "no activity within %v", e.patience())
	return got
}

// meanwhile begins a wait and lets something happen. It must be over long before its
// time-out, which would find everything.
func (e *env) meanwhile(event, wait func() error) {
	e.Helper()
	begin := time.Now()
	e.together(2, func(i int) error {
		if i == 0 {
			return wait()
		}
		time.Sleep(e.lease / 4)
		if event == nil {
			return nil
		}
		return event()
	})
	took := time.Since(begin)
	e.check(took < e.patience()*3/4, ruleNotices, "found only after %v", took)
}

// A turn whose holder is gone is taken over when the lease ends.
func waitsForLease(e *env) {
	e.create("A")
	e.wake("A")
	due := time.Now().Add(e.lease)
	e.fetchInstance("A", e.lease)
	got := e.waitForTurn(nil)
	e.notBefore(due, ruleLease)
	same(e, got.AttemptCount, 2, ruleRefetch)
}

// A renewal during the wait counts, also one that ends the lease sooner.
func waitsForRenewedLease(e *env) {
	e.create("A")
	e.wake("A")
	turn := e.fetchInstance("A", held)
	e.waitForTurn(func() error { return e.p.RenewOrchestrationItemLock(e.ctx, turn.LockToken, e.lease) })
}

// A turn that is given up can be taken at once.
func waitsForAbandon(e *env) {
	e.create("A")
	e.wake("A")
	turn := e.fetchInstance("A", held)
	e.waitForTurn(func() error {
		return e.p.AbandonOrchestrationItem(e.ctx, provider.AbandonParams{LockToken: turn.LockToken})
	})
}

// A turn that is given up for a while can be taken after it.
func waitsForAbandonDelay(e *env) {
	e.create("A")
	e.wake("A")
	turn := e.fetchInstance("A", held)
	var due time.Time
	e.waitForTurn(func() error {
		due = time.Now().Add(e.lease)
		return e.p.AbandonOrchestrationItem(e.ctx, provider.AbandonParams{LockToken: turn.LockToken, Delay: e.lease})
	})
	e.notBefore(due, ruleHides)
}

// Messages that were queued, hidden, long before the wait become visible during it, of an
// instance that exists and of one that starts.
func waitsForOldMessages(e *env) {
	e.create("A")
	due := time.Now().Add(e.lease)
	e.enqueueLater(raised("A", "first"), e.lease)
	e.enqueueLater(startItem("B"), 2*e.lease)
	e.tick()
	got := e.waitForTurn(nil)
	e.notBefore(due, ruleDelay)
	same(e, got.Item.Instance, "A", ruleNotices)
	same(e, e.waitForTurn(nil).Item.Instance, "B", ruleNotices)
}

// What came for an instance during its turn can be taken when the turn is committed.
func waitsForAck(e *env) {
	e.create("A")
	e.wake("A")
	turn := e.fetchInstance("A", held)
	e.enqueue(raised("A", "knock"))
	got := e.waitForTurn(func() error { return e.p.AckOrchestrationItem(e.ctx, turnOf(turn, provider.AckOrchestrationParams{})) })
	e.batch(got, ruleNotices, raised("A", "knock"))
}

// What a turn sends to another instance arrives with its commit.
func waitsForTurnsMessages(e *env) {
	e.create("A")
	e.wake("A")
	turn := turnOf(e.fetchInstance("A", held), provider.AckOrchestrationParams{OrchestratorItems: []provider.WorkItem{startItem("B")}})
	got := e.waitForTurn(func() error { return e.p.AckOrchestrationItem(e.ctx, turn) })
	same(e, got.Item.Instance, "B", ruleNotices)
}

// So does an activity's result.
func waitsForResult(e *env) {
	e.create("A")
	e.enqueueWork(activityItem("A", 2))
	work := e.fetchWork(held)
	got := e.waitForTurn(func() error { return e.p.AckWorkItem(e.ctx, work.LockToken, completedItem("A", 2)) })
	e.batch(got, ruleNotices, completedItem("A", 2))
}

// Messages without an instance can be taken when a history that began is appended.
func waitsForAppendedStart(e *env) {
	e.enqueue(raised("A", "early"))
	got := e.waitForTurn(func() error { return e.p.AppendWithExecution(e.ctx, "A", 1, []provider.Event{started("A", 1)}) })
	e.batch(got, ruleNotices, raised("A", "early"))
}

// They can be taken with their start, which is sent during the wait and hidden for a while.
func waitsForDelayedStart(e *env) {
	e.enqueue(raised("A", "early"))
	got := e.waitForTurn(func() error { return e.p.EnqueueForOrchestrator(e.ctx, startItem("A"), e.lease) })
	e.batch(got, ruleNotices, raised("A", "early"), startItem("A"))
}

// An activity whose worker is gone is taken over when the lease ends.
func waitsForWorkLease(e *env) {
	e.enqueueWork(plain(1))
	due := time.Now().Add(e.lease)
	e.fetchWork(e.lease)
	got := e.waitForWork(nil)
	e.notBefore(due, ruleLease)
	same(e, got.AttemptCount, 2, ruleRefetch)
}

// A renewal during the wait counts, also one that ends the lease sooner.
func waitsForRenewedWorkLease(e *env) {
	e.enqueueWork(plain(1))
	work := e.fetchWork(held)
	e.waitForWork(func() error { return e.p.RenewWorkItemLock(e.ctx, work.LockToken, e.lease) })
}

// What is queued for a session can be taken by anybody when its owner's lease ends.
func waitsForSessionLease(e *env) {
	e.enqueueWork(inSession("s", 1), inSession("s", 2))
	due := time.Now().Add(e.lease)
	e.claim(ownerFor("ann", held, e.lease), 1, ruleUnclaimed)
	got := e.waitForWorkWith(owner("bob"), nil)
	e.notBefore(due, ruleForeign)
	same(e, e.work(got).ID, 2, ruleUnclaimed)
}

// The owner may end the session sooner during the wait: by a renewal, or by taking
// another of its activities for less time.
func waitsForRenewedSessionLease(e *env) {
	e.enqueueWork(inSession("s", 1), inSession("s", 2))
	e.claim(owner("ann"), 1, ruleUnclaimed)
	e.waitForWorkWith(owner("bob"), func() error {
		_, err := e.p.RenewSessionLock(e.ctx, provider.RenewSessionParams{OwnerIDs: []string{"ann"}, ExtendFor: e.lease, IdleTimeout: held})
		return err
	})
	e.enqueueWork(inSession("s", 3), inSession("s", 4))
	got := e.waitForWorkWith(owner("ann"), func() error {
		_, err := e.p.FetchWorkItem(e.ctx, ownerFor("bob", held, e.lease))
		return err
	})
	same(e, e.work(got).ID, 4, ruleUnclaimed)
}

// An activity with the tag that is waited for is found among others that come before it.
func waitsForTag(e *env) {
	gpu, err := provider.Tags("gpu")
	e.ok(err, ruleNotices)
	got := e.waitForWorkWith(provider.FetchWorkParams{LockTimeout: held, Tags: gpu}, func() error {
		for _, item := range []provider.ActivityExecuteItem{plain(1), tagged("cpu", 2), tagged("gpu", 3)} {
			if err := e.p.EnqueueForWorker(e.ctx, item); err != nil {
				return err
			}
		}
		return nil
	})
	same(e, e.work(got).ID, 3, ruleNotices)
}

// An activity that is given up can be taken, at once or after its delay.
func waitsForAbandonedWork(e *env) {
	e.enqueueWork(activityItem("A", 2))
	for _, delay := range []time.Duration{0, e.lease} {
		work := e.fetchWork(held)
		again := e.waitForWork(func() error {
			return e.p.AbandonWorkItem(e.ctx, provider.AbandonParams{LockToken: work.LockToken, Delay: delay})
		})
		e.abandonWork(again, 0, false)
	}
}

// An activity that a turn schedules can be taken when the turn is committed.
func waitsForScheduledWork(e *env) {
	e.create("A")
	e.wake("A")
	turn := turnOf(e.fetchInstance("A", held), provider.AckOrchestrationParams{WorkerItems: []provider.WorkItem{activityItem("A", 2)}})
	e.waitForWork(func() error { return e.p.AckOrchestrationItem(e.ctx, turn) })
}
