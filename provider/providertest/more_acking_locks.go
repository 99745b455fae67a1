package providertest

import (
	"slices"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

const (
	ruleLateAck    = "§5.2: ack after expiry when nobody else fetched: still rejected; messages become fetchable again"
	ruleTaken      = "§5.2: ack after another dispatcher re-fetched: Invalid lock token"
	ruleLostAnswer = "§5.2: retry after an ambiguous failure: if the first attempt committed, " +
		"the retry fails with Invalid lock token; no double effects"
	ruleOwnRows   = "§5.3: scope: MUST touch exactly the rows carrying this token (P21)"
	ruleHides     = "§5.3: delay: batch rows: visible_at = now + delay"
	ruleLater     = "§5.3: messages enqueued meanwhile stay visible, so the instance can be fetched again before the delay ends"
	ruleOldToken  = "§5.3: token expired but not taken over: accepted (only existence is checked)"
	ruleGiveUp    = "§5.3: token unknown: permanent Invalid lock token"
	ruleRenewLive = "§5.4: token exists and locked_until > now; otherwise permanent error"
)

// A token whose lease ended, or whose instance somebody else took, commits
// nothing; the next turn sees everything as before.
func ackWithLostToken(e *env) {
	e.create("A")
	e.enqueueWork(activityItem("A", 90))
	e.enqueue(raised("A", "go"))
	late := e.fetchInstance("A", e.lease)
	e.expire()
	e.permanent(e.p.AckOrchestrationItem(e.ctx, turnOf(late, everything("A"))), provider.ErrLockExpired, ruleLateAck)
	got := e.fetchInstance("A", held)
	err := e.p.AckOrchestrationItem(e.ctx, turnOf(late, everything("A")))
	e.permanent(err, provider.ErrInvalidLockToken, ruleTaken)
	e.says(err, ruleTaken, "Invalid lock token")
	e.batch(got, ruleLateAck, raised("A", "go"))
	same(e, got.AttemptCount, 2, ruleRefetch)
	e.untouched("A", ruleNothing)
	e.commit(got, everything("A"))
	e.batch(e.fetchInstance("A", held), ruleNotMixed, raised("A", "knock"))
	e.happened("A", ruleAll)
}

// A turn whose instance was deleted cannot be committed and brings nothing back.
func ackAfterDelete(e *env) {
	got := e.readyForEverything("A")
	e.delete("A", true)
	const rule = "§5.2: instance force-deleted during the turn: lock row is gone → Invalid lock token; nothing is recreated (P19)"
	turn := turnOf(got, everything("A"))
	turn.Metadata.OrchestrationName, turn.Metadata.OrchestrationVersion = new("Order"), new("1.0.0")
	e.permanent(e.p.AckOrchestrationItem(e.ctx, turn), provider.ErrInvalidLockToken, rule)
	abandon := provider.AbandonParams{LockToken: got.LockToken}
	e.permanent(e.p.AbandonOrchestrationItem(e.ctx, abandon), provider.ErrInvalidLockToken, rule)
	e.permanent(e.p.RenewOrchestrationItemLock(e.ctx, got.LockToken, held), provider.ErrInvalidLockToken, rule)
	e.gone(rule, "A")
	e.fetchNone(rule)
	e.fetchNoWork(provider.FetchWorkParams{}, rule)
}

// An ack repeated because its answer was lost fails as lost lock and does nothing
// twice.
func ackRepeated(e *env) {
	turn := turnOf(e.readyForEverything("A"), everything("A"))
	e.ack(turn)
	for range 2 {
		e.permanent(e.p.AckOrchestrationItem(e.ctx, turn), provider.ErrInvalidLockToken, ruleLostAnswer)
	}
	e.happened("A", ruleLostAnswer)
}

// Whoever has lost the lock is told so, and not that something else is wrong with the
// turn: that would look like a turn which its holder has to fail.
func lostLockFirst(e *env) {
	turn := turnOf(e.readyForEverything("A"), everything("A"))
	e.ack(turn)
	zero, twice := turn, turn
	zero.ExecutionID = 0
	twice.HistoryDelta = append(slices.Clone(turn.HistoryDelta), turn.HistoryDelta[0])
	for _, again := range []provider.AckOrchestrationParams{zero, twice} {
		e.permanent(e.p.AckOrchestrationItem(e.ctx, again), provider.ErrLockLost, ruleLostAnswer)
	}
	e.happened("A", ruleLostAnswer)
}

// An abandon repeated because its answer was lost fails and leaves the
// instance's next holder alone.
func abandonRepeated(e *env) {
	e.enqueue(startItem("A"))
	got := e.fetchInstance("A", held)
	e.abandon(got, 0, true)
	params := provider.AbandonParams{LockToken: got.LockToken, Delay: held, IgnoreAttempt: true}
	e.permanent(e.p.AbandonOrchestrationItem(e.ctx, params), provider.ErrInvalidLockToken, ruleGiveUp)
	next := e.fetchInstance("A", held)
	same(e, next.AttemptCount, 1, ruleGiveBack)
	err := e.p.AbandonOrchestrationItem(e.ctx, params)
	e.permanent(err, provider.ErrInvalidLockToken, ruleGiveUp)
	e.says(err, ruleGiveUp, "Invalid lock token")
	e.lockHeld("A", ruleGiveUp)
	e.commit(next, provider.AckOrchestrationParams{Metadata: created()})
}

// Giving a turn up with its attempt does not give back the attempts of other
// messages of the instance, nor hide or reveal them.
func abandonTouchesOwn(e *env) {
	e.create("A")
	e.enqueue(raised("A", "hidden"))
	e.abandon(e.fetchInstance("A", held), 0, false)
	hidden := e.fetchInstance("A", held)
	same(e, hidden.AttemptCount, 2, ruleCounts)
	due := time.Now().Add(2 * e.lease)
	e.abandon(hidden, 2*e.lease, false)

	e.enqueue(raised("A", "other"))
	other := e.fetchInstance("A", held)
	if time.Now().After(due) {
		e.Skip("too slow: the abandoned message became visible again before another could be fetched alone")
	}
	e.batch(other, ruleHides, raised("A", "other"))
	same(e, other.AttemptCount, 1, ruleHides)
	e.abandon(other, held, true)

	got := e.awaitFetch(held, ruleOwnRows)
	e.notBefore(due, ruleOwnRows)
	e.batch(got, ruleOwnRows, raised("A", "hidden"))
	same(e, got.AttemptCount, 3, ruleOwnRows)
}

// Messages that come during a turn are neither delayed nor counted when it is
// abandoned with a delay: the next turn has them alone.
func abandonLeavesLater(e *env) {
	e.create("A")
	e.enqueue(raised("A", "hidden"))
	got := e.fetchInstance("A", held)
	e.enqueue(raised("A", "during"))
	e.abandon(got, held, false)
	e.enqueue(raised("A", "after"))
	got = e.fetchInstance("A", held)
	e.batch(got, ruleLater, raised("A", "during"), raised("A", "after"))
	same(e, got.AttemptCount, 1, ruleOwnRows)
	e.drop(got)
	e.fetchNone(ruleHides)
}

// An abandoned batch is hidden for the delay, from now, and then comes whole.
func abandonHides(e *env) {
	e.enqueue(startItem("B"), startItem("A"), raised("A", "go"))
	e.abandon(e.fetchInstance("B", held), held, false)
	got := e.fetchInstance("A", held)
	due := time.Now().Add(e.lease)
	e.abandon(got, e.lease, false)
	again := e.awaitFetch(held, ruleHides)
	e.notBefore(due, ruleHides)
	e.batch(again, ruleHides, startItem("A"), raised("A", "go"))
	same(e, again.AttemptCount, 2, ruleCounts)
	e.fetchNone(ruleHides)
}

// A negative delay is a mistake: refused without effect, on both queues.
func abandonNegativeDelay(e *env) {
	e.enqueue(startItem("A"))
	e.enqueueWork(activityItem("A", 2))
	turn, work := e.fetchInstance("A", held), e.fetchWork(held)
	const rule = "AbandonParams: Delay: 0 is none; negative is invalid; §2.3: bad argument → permanent"
	params := provider.AbandonParams{LockToken: turn.LockToken, Delay: -time.Second, IgnoreAttempt: true}
	e.permanent(e.p.AbandonOrchestrationItem(e.ctx, params), provider.ErrInvalidArgument, rule)
	e.lockHeld("A", ruleNothing)
	params.LockToken = work.LockToken
	e.permanent(e.p.AbandonWorkItem(e.ctx, params), provider.ErrInvalidArgument, rule)
	e.fetchNoWork(provider.FetchWorkParams{}, ruleNothing)
	e.commit(turn, provider.AckOrchestrationParams{Metadata: created()})
	e.ackWork(work)
}

// A turn can be given up after its lease's end as long as nobody took over.
func abandonExpired(e *env) {
	e.enqueue(startItem("A"))
	late := e.fetchInstance("A", e.lease)
	e.expire()
	e.ok(e.p.AbandonOrchestrationItem(e.ctx, provider.AbandonParams{LockToken: late.LockToken, IgnoreAttempt: true}), ruleOldToken)
	late = e.fetchInstance("A", e.lease)
	same(e, late.AttemptCount, 1, ruleGiveBack)
	e.expire()
	got := e.fetchInstance("A", held)
	e.permanent(e.p.AbandonOrchestrationItem(e.ctx, provider.AbandonParams{LockToken: late.LockToken}),
		provider.ErrInvalidLockToken, ruleGiveUp)
	same(e, got.AttemptCount, 2, ruleRefetch)
	e.lockHeld("A", ruleGiveUp)
}

// A turn given up has no effects on history, executions, status or queues.
func abandonHasNoEffects(e *env) {
	e.abandon(e.readyForEverything("A"), 0, false)
	got := e.fetchInstance("A", held)
	e.sameEvents(got.Item.History, []provider.Event{started("A", 1)}, "§5.3: give up a turn without effects")
	e.untouched("A", "§5.3: give up a turn without effects")
}

// Renewal sets the lease from now, for the lock and for the messages it holds:
// it can shorten a long lease, after which the batch can be fetched again.
func renewFromNow(e *env) {
	e.create("A")
	e.enqueue(raised("A", "go"))
	got := e.fetchInstance("A", e.lease)
	e.ok(e.p.RenewOrchestrationItemLock(e.ctx, got.LockToken, held), ruleFromNow)
	e.expire()
	e.lockHeld("A", ruleFromNow)
	due := time.Now().Add(e.lease)
	e.ok(e.p.RenewOrchestrationItemLock(e.ctx, got.LockToken, e.lease), ruleFromNow)
	again := e.awaitFetch(held, ruleFromNow)
	e.notBefore(due, ruleLease)
	e.batch(again, "§5.4: … and on the batch rows if they carry a deadline", raised("A", "go"), raised("A", "knock"))
	same(e, again.AttemptCount, 2, ruleCounts)
}

// Renewal needs a token that is held: not an unknown one, nor one whose turn was
// committed, given up, or taken over.
func renewNeedsLiveToken(e *env) {
	renew := func(token string) {
		e.Helper()
		err := e.p.RenewOrchestrationItemLock(e.ctx, token, held)
		e.permanent(err, provider.ErrInvalidLockToken, ruleRenewLive)
		e.says(err, ruleBadToken, "Invalid lock token")
	}
	e.enqueue(startItem("A"))
	given := e.fetchInstance("A", held)
	e.abandon(given, 0, false)
	renew(given.LockToken)
	acked := e.fetchInstance("A", held)
	renew(given.LockToken)
	e.commit(acked, provider.AckOrchestrationParams{Metadata: created()})
	renew(acked.LockToken)
	e.enqueue(raised("A", "go"))
	lost := e.fetchInstance("A", e.lease)
	e.expire()
	live := e.fetchInstance("A", held)
	renew(lost.LockToken)
	renew("no-such-token")
	e.ok(e.p.RenewOrchestrationItemLock(e.ctx, live.LockToken, held), ruleFromNow)
}
