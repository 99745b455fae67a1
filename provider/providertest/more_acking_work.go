package providertest

import (
	"github.com/duroxide/duroxide-go/provider"
)

const (
	ruleCompletion = "§5.11: completion must be ActivityCompleted or ActivityFailed; otherwise permanent error and rollback"
	ruleWorkOnce   = "§5.11: delete the row; if completion != nil, enqueue it; §5: second call fails"
	rulePreserved  = "§5.13: session: unchanged; tag, session id and identity columns are preserved"
	ruleWorkToken  = "§5.13: unknown token: permanent error (`Invalid lock token or already acked`)"
)

// An activity's ack repeated because its answer was lost fails as lost lock and
// queues no second completion.
func workAckRepeated(e *env) {
	e.create("A")
	e.enqueueWork(activityItem("A", 2), activityItem("A", 3))
	first, second := e.fetchWork(held), e.fetchWork(held)
	e.ackWork(first)
	e.ok(e.p.AckWorkItem(e.ctx, second.LockToken, nil), "§5.11: completion == nil: delete only")
	for _, completion := range []provider.WorkItem{completedItem("A", 2), nil} {
		err := e.p.AckWorkItem(e.ctx, first.LockToken, completion)
		e.permanent(err, provider.ErrLockLost, ruleWorkOnce)
		e.workerText(err)
		e.permanent(e.p.AckWorkItem(e.ctx, second.LockToken, completion), provider.ErrLockLost, ruleWorkOnce)
	}
	e.batch(e.fetchInstance("A", held), ruleWorkOnce, completedItem("A", 2))
	e.fetchNoWork(provider.FetchWorkParams{}, ruleWorkOnce)
}

// Anything but an activity's result is refused as completion; the activity stays
// locked and can be completed properly.
func workAckRefusesOthers(e *env) {
	e.create("A")
	e.enqueueWork(activityItem("A", 2))
	got := e.fetchWork(held)
	for _, item := range append(otherItems("A"), activityItem("A", 2)) {
		switch item.(type) {
		case provider.ActivityCompletedItem, provider.ActivityFailedItem:
			continue
		}
		e.permanent(e.p.AckWorkItem(e.ctx, got.LockToken, item), provider.ErrInvalidArgument, ruleCompletion+": "+item.Variant())
	}
	e.fetchNone(ruleCompletion)
	e.fetchNoWork(provider.FetchWorkParams{}, ruleCompletion)
	e.ackWork(got)
	e.batch(e.fetchInstance("A", held), ruleWorkAck, completedItem("A", 2))
}

// An activity of an instance that does not exist can be completed; its result
// waits like any other early message.
func workAckUnknownInstance(e *env) {
	e.enqueueWork(activityItem("A", 2))
	e.ackWork(e.fetchWork(held))
	const rule = "§5.11: instance does not exist: not checked; the completion becomes an orphan (§5.1)"
	e.fetchNone(rule)
	e.enqueue(startItem("A"))
	e.batch(e.fetchInstance("A", held), rule, completedItem("A", 2), startItem("A"))
}

// A worker that lost its activity to another cannot complete, abandon or renew
// it; the other can.
func workAckAfterTakeover(e *env) {
	e.create("A")
	e.enqueueWork(activityItem("A", 2))
	lost := e.fetchWork(e.lease)
	e.expire()
	live := e.fetchWork(held)
	e.permanent(e.p.AckWorkItem(e.ctx, lost.LockToken, completedItem("A", 2)), provider.ErrLockLost, ruleWorkAck+" (P13)")
	e.permanent(e.p.RenewWorkItemLock(e.ctx, lost.LockToken, held), provider.ErrLockLost, ruleRenewWork)
	e.permanent(e.p.AbandonWorkItem(e.ctx, provider.AbandonParams{LockToken: lost.LockToken}), provider.ErrLockLost, ruleWorkToken)
	e.fetchNone(ruleWorkAck)
	e.fetchNoWork(provider.FetchWorkParams{}, ruleWorkAck)
	e.ackWork(live)
	e.batch(e.fetchInstance("A", held), ruleWorkAck, completedItem("A", 2))
}

// An activity that was given back is the same one: its content, tag and session,
// still its owner's, and it can be cancelled by its identity.
func workAbandonKeeps(e *env) {
	e.create("A")
	item := activityItem("A", 2)
	item.SessionID, item.Tag = new("s1"), new("gpu")
	e.enqueueWork(item)
	gpu, err := provider.Tags("gpu")
	e.ok(err, "§3.7: Tags(set): 1–5 tags")
	owner := provider.FetchWorkParams{LockTimeout: held, Tags: gpu, Session: &provider.SessionFetchConfig{OwnerID: "w1", LockTimeout: held}}
	other := owner
	other.Session = &provider.SessionFetchConfig{OwnerID: "w2", LockTimeout: held}
	for _, ignore := range []bool{false, true} {
		e.abandonWork(e.claim(owner, 2, rulePreserved), 0, ignore)
		e.fetchNoWork(other, "§5.13: session: unchanged: the owner keeps it until its lease ends")
		e.fetchNoWork(provider.FetchWorkParams{Session: owner.Session}, rulePreserved)
		e.fetchNoWork(provider.FetchWorkParams{Tags: gpu}, rulePreserved)
	}
	got := e.claim(owner, 2, rulePreserved)
	e.sameItem(got.Item, item, rulePreserved)
	e.abandonWork(got, 0, false)
	e.cancel("A", ref("A", 2))
	e.fetchNoWork(owner, rulePreserved)
}

// An activity can be given back once, also after its lease's end as long as
// nobody took it.
func workAbandonTokens(e *env) {
	e.enqueueWork(activityItem("A", 2))
	late := e.fetchWork(e.lease)
	e.expire()
	e.ok(e.p.AbandonWorkItem(e.ctx, provider.AbandonParams{LockToken: late.LockToken, IgnoreAttempt: true}),
		"§5.13: expired token, row not refetched: accepted")
	for range 2 {
		err := e.p.AbandonWorkItem(e.ctx, provider.AbandonParams{LockToken: late.LockToken, Delay: held, IgnoreAttempt: true})
		e.permanent(err, provider.ErrInvalidLockToken, ruleWorkToken)
		e.says(err, ruleWorkToken, "Invalid lock token")
	}
	got := e.fetchWork(held)
	same(e, got.AttemptCount, 1, ruleWorkBack)
	err := e.p.AbandonWorkItem(e.ctx, provider.AbandonParams{LockToken: "no-such-token"})
	e.permanent(err, provider.ErrInvalidLockToken, ruleWorkToken)
	e.ackWork(got)
}

// An activity that was given back without a delay is still the oldest.
func workAbandonKeepsPlace(e *env) {
	e.enqueueWork(activityItem("A", 2), activityItem("A", 3))
	e.abandonWork(e.claim(provider.FetchWorkParams{LockTimeout: held}, 2, ruleFIFO), 0, false)
	e.claim(provider.FetchWorkParams{LockTimeout: held}, 2, ruleFIFO)
	e.claim(provider.FetchWorkParams{LockTimeout: held}, 3, ruleFIFO)
}

// The token of an activity that was given back renews nothing, neither before
// nor after the next fetch.
func workRenewAfterAbandon(e *env) {
	e.enqueueWork(activityItem("A", 2))
	given := e.fetchWork(held)
	e.abandonWork(given, 0, false)
	e.permanent(e.p.RenewWorkItemLock(e.ctx, given.LockToken, held), provider.ErrLockLost, ruleRenewWork)
	e.fetchWork(held)
	e.permanent(e.p.RenewWorkItemLock(e.ctx, given.LockToken, held), provider.ErrLockLost, ruleRenewWork)
}

// A delay is one thing and the attempt another.
func workDelayCounts(e *env) {
	e.enqueueWork(activityItem("A", 2))
	e.abandonWork(e.fetchWork(held), e.lease, false)
	e.expire()
	same(e, e.fetchWork(held).AttemptCount, 2, "§5.13: only IgnoreAttempt uncounts the attempt")
}

// A finished instance gets the completion, and the runtime drops it.
func workAckFinished(e *env) {
	const rule = "§5.11: if completion != nil, enqueue it for its instance; §5.9: finished instance: accepted"
	e.createEnded("A", provider.StatusCompleted)
	e.enqueueWork(activityItem("A", 2))
	e.ackWork(e.fetchWork(held))
	got := e.tryFetch(held)
	e.check(got != nil, rule, "the completion is gone")
	e.batch(got, rule, completedItem("A", 2))
}
