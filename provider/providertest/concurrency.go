package providertest

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/duroxide/duroxide-go/provider"
)

// concurrency checks that the promises hold when many callers use a store at
// once, from one process or two, and when calls are cut off.
func concurrency() category {
	return category{"concurrency", []scenario{
		{"many_claimers_of_one_instance", manyClaimersOfOne},
		{"every_activity_is_claimed_once", activitiesClaimedOnce},
		{"as_many_claimers_as_activities", claimersForActivities},
		{"an_activity_is_completed_once", completedOnce},
		{"cancelling_races_completing", cancelRacesComplete},
		{"enqueues_at_once_are_all_kept", enqueuesKept},
		{"whole_orchestrations_side_by_side", soak},
		{"children_finish_for_one_parent_at_once", fanIn},
		{"cancelled_context_changes_nothing", cancelledContext},
		{"waiting_fetch_ends_with_its_context", waitingFetchIsTold},
		{"cut_off_turn_is_whole_or_absent", cutOffTurns},
		{"cut_off_completion_is_whole_or_absent", cutOffCompletions},
		{"cut_off_enqueue_is_whole_or_absent", cutOffEnqueues},
		{"cut_off_fetch_loses_nothing", cutOffFetches},
		{"two_handles_never_claim_twice", twoHandlesClaim},
		{"two_handles_share_one_state", twoHandlesShare},
		{"two_handles_wake_each_other", twoHandlesWake},
	}}
}

const (
	ruleOverlap   = "§7.3: turns of one instance never overlap: exclusive instance lock, token checked at ack"
	ruleEffect    = "§7.3: exactly one effect per message: delete-on-ack with the same transaction as history"
	ruleNotWaited = "§5.10 step 5: take the lowest row id (FIFO); rows locked by others are skipped, not waited for"
	ruleRowsOrder = "§2.2: queue row id: increasing in insertion order; defines FIFO order"
	ruleFanIn     = "§9 P27: many children finishing for one parent at once: no failed acks; deadlocks are retryable"
)

// ackPatiently is an ack under contention, of a turn whose lease cannot end.
func (e *env) ackPatiently(p provider.Provider, turn provider.AckOrchestrationParams) error {
	if err := patiently(func() error { return p.AckOrchestrationItem(e.ctx, turn) }); err != nil {
		return violation("§5.2: the ack of a live token commits the turn", "instance turn failed: %v", err)
	}
	return nil
}

// Thirty-two claimers share one instance that four senders write to: there is
// never more than one turn, and each sender's messages come in order, once.
func manyClaimersOfOne(e *env) {
	const senders, each = 4, 50
	e.create("A")
	var sent [senders]int
	var holders, total atomic.Int64
	var mu sync.Mutex
	next := map[string]int{}
	inOrder := func(item provider.WorkItem) error {
		mu.Lock()
		defer mu.Unlock()
		sender, number, _ := strings.Cut(item.(provider.ExternalRaisedItem).Name, "/")
		if want := strconv.Itoa(next[sender]); number != want {
			return violation(ruleRowsOrder, "sender %s: message %s came when %s was next", sender, number, want)
		}
		next[sender]++
		return nil
	}
	e.loops(32, ruleEffect, func() bool { return total.Load() >= senders*each }, func(i int) (bool, error) {
		if i < senders && sent[i] < each {
			item := raised("A", fmt.Sprintf("%d/%d", i, sent[i]))
			sent[i]++
			return true, patiently(func() error { return e.p.EnqueueForOrchestrator(e.ctx, item, 0) })
		}
		got, err := e.grab(e.p, held)
		if err != nil || got == nil {
			return false, err
		}
		if n := holders.Add(1); n > 1 {
			return false, violation(ruleOverlap, "%d turns at once", n)
		}
		for _, item := range got.Item.Messages {
			if err := inOrder(item); err != nil {
				return false, err
			}
		}
		holders.Add(-1)
		err = e.ackPatiently(e.p, turnOf(got, provider.AckOrchestrationParams{}))
		total.Add(int64(len(got.Item.Messages)))
		return true, err
	})
	same(e, total.Load(), senders*each, ruleEffect)
	e.fetchNone(ruleEffect)
}

// Of 500 activities each is claimed by exactly one of 32 workers, and its result
// arrives once.
func activitiesClaimedOnce(e *env) {
	const n = 500
	var turn provider.AckOrchestrationParams
	for id := range uint64(n) {
		turn.WorkerItems = append(turn.WorkerItems, activityItem("A", id+2))
	}
	e.createWith("A", turn)
	var claims [n]atomic.Int32
	var total atomic.Int32
	e.loops(32, ruleEffect, func() bool { return total.Load() >= n }, func(int) (bool, error) {
		got, err := e.grabWork(e.p, held)
		if err != nil || got == nil {
			return false, err
		}
		id := got.Item.(provider.ActivityExecuteItem).ID
		if claims[id-2].Add(1) > 1 || got.AttemptCount != 1 {
			return false, violation("§5.10 step 6: lock: new token, attempt_count += 1",
				"activity %d was claimed twice (attempt %d)", id, got.AttemptCount)
		}
		err = patiently(func() error { return e.p.AckWorkItem(e.ctx, got.LockToken, completedItem("A", id)) })
		if err != nil {
			return false, violation(ruleWorkAck, "the ack of a live token failed: %v", err)
		}
		total.Add(1)
		return true, nil
	})
	results := map[uint64]int{}
	for _, item := range e.fetchInstance("A", held).Item.Messages {
		results[item.(provider.ActivityCompletedItem).ID]++
	}
	e.check(len(results) == n && total.Load() == n, ruleEffect,
		"%d results of %d completions, want %d", len(results), total.Load(), n)
	e.fetchNoWork(provider.FetchWorkParams{}, ruleEffect)
	e.lockHeld("A", ruleExclusive)
}

// As many workers as activities, all at once: each finds one of its own.
func claimersForActivities(e *env) {
	const n = 32
	for round := range uint64(3) {
		for id := range uint64(n) {
			e.enqueueWork(activityItem("A", 100*round+id))
		}
		var claims [n]*provider.FetchedWorkItem
		e.together(n, func(i int) error {
			got, err := e.grabWork(e.p, held)
			if err == nil && got == nil {
				return violation(ruleNotWaited, "a worker got nothing although there are as many activities as workers")
			}
			claims[i] = got
			return err
		})
		ids := map[uint64]bool{}
		for _, got := range claims {
			ids[e.work(got).ID] = true
			e.ackWork(got)
		}
		same(e, len(ids), n, ruleNotWaited)
	}
}

// However often and from wherever a result is delivered at once, it counts once.
func completedOnce(e *env) {
	e.create("A")
	for id := uint64(2); id < 7; id++ {
		e.enqueueWork(activityItem("A", id))
		got := e.fetchWork(held)
		var won atomic.Int32
		e.together(12, func(int) error {
			err := patiently(func() error { return e.p.AckWorkItem(e.ctx, got.LockToken, completedItem("A", id)) })
			switch {
			case err == nil:
				won.Add(1)
			case !lostLock(err):
				return violation(ruleWorkOnce, "an ack that came too late failed with: %v", err)
			}
			return nil
		})
		same(e, won.Load(), 1, ruleWorkOnce)
		turn := e.fetchInstance("A", held)
		e.batch(turn, ruleWorkOnce, completedItem("A", id))
		e.drop(turn)
	}
}

// When an activity is completed and cancelled at the same moment, either its
// result arrives or its worker learns that it is not wanted: never both, never
// neither.
func cancelRacesComplete(e *env) {
	const rule = "§5.11: row deleted by cancellation → permanent error; else delete the row and enqueue the completion"
	for i := range 20 {
		instance := fmt.Sprint("i", i)
		e.createWithActivities(instance, 2)
		work := e.fetchWork(held)
		e.enqueue(raised(instance, "go"))
		turn := turnOf(e.fetchInstance(instance, held), provider.AckOrchestrationParams{
			CancelledActivities: []provider.ActivityRef{ref(instance, 2)},
		})
		var workErr error
		e.together(2, func(caller int) error {
			if caller == 0 {
				return e.ackPatiently(e.p, turn)
			}
			workErr = patiently(func() error { return e.p.AckWorkItem(e.ctx, work.LockToken, completedItem(instance, 2)) })
			return nil
		})
		e.fetchNoWork(provider.FetchWorkParams{}, rule)
		if workErr == nil {
			e.batch(e.fetchInstance(instance, held), rule, completedItem(instance, 2))
			continue
		}
		e.check(lostLock(workErr), rule, "the worker's ack failed with: %v", workErr)
		e.fetchNone(rule)
	}
}

// Messages and activities queued by many callers at once are all there, each
// once.
func enqueuesKept(e *env) {
	const callers, each = 16, 20
	e.create("A")
	e.together(callers, func(i int) error {
		for n := range each {
			id := uint64(i*each + n)
			if err := patiently(func() error { return e.p.EnqueueForOrchestrator(e.ctx, completedItem("A", id), 0) }); err != nil {
				return err
			}
			if err := patiently(func() error { return e.p.EnqueueForWorker(e.ctx, activityItem("A", id)) }); err != nil {
				return err
			}
		}
		return nil
	})
	var delivered, claimed, want []uint64
	for _, item := range e.fetchInstance("A", held).Item.Messages {
		delivered = append(delivered, item.(provider.ActivityCompletedItem).ID)
	}
	for id := range uint64(callers * each) {
		want = append(want, id)
		claimed = append(claimed, e.work(e.fetchWork(held)).ID)
	}
	sameSet(e, delivered, want, "§5.9: every call adds a row")
	sameSet(e, claimed, want, "§5.8: adds one ActivityExecute to the worker queue")
	e.fetchNoWork(provider.FetchWorkParams{}, "§5.8: adds one ActivityExecute to the worker queue")
}

// Sixty-four children that end at the same moment all report to their parent,
// which takes turns meanwhile: no ack is lost and each result arrives once.
func fanIn(e *env) {
	const n = 64
	e.create("parent")
	turns := make([]provider.AckOrchestrationParams, n)
	for i := range turns {
		child := fmt.Sprint("parent::sub::", i)
		e.createChild("parent", child)
		e.enqueue(raised(child, "go"))
		turns[i] = turnOf(e.fetchInstance(child, held), provider.AckOrchestrationParams{
			HistoryDelta: []provider.Event{event(child, 1, 2, provider.OrchestrationCompleted{Output: "ok"})},
			Metadata:     ended(provider.StatusCompleted, "ok"),
			OrchestratorItems: []provider.WorkItem{provider.SubOrchCompletedItem{
				ParentInstance: "parent", ParentExecutionID: 1, ParentID: uint64(i), Result: "ok",
			}},
		})
	}
	var total atomic.Int32
	var results [n]atomic.Int32
	e.loops(n, ruleFanIn, func() bool { return total.Load() >= n }, func(i int) (bool, error) {
		if turn := turns[i]; turn.LockToken != "" {
			turns[i].LockToken = ""
			return true, e.ackPatiently(e.p, turn)
		}
		got, err := e.grab(e.p, held)
		if err != nil || got == nil {
			return false, err
		}
		for _, item := range got.Item.Messages {
			results[item.(provider.SubOrchCompletedItem).ParentID].Add(1)
		}
		err = e.ackPatiently(e.p, turnOf(got, provider.AckOrchestrationParams{}))
		total.Add(int32(len(got.Item.Messages)))
		return true, err
	})
	for i := range results {
		e.check(results[i].Load() == 1, ruleFanIn, "the result of child %d arrived %d times", i, results[i].Load())
	}
	e.fetchNone(ruleFanIn)
}
