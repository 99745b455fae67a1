package providertest

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// takingNotices are about what a store tells of work that is ready.
func takingNotices() []scenario {
	return []scenario{
		{"notice_of_what_is_queued", noticesQueued},
		{"notice_of_what_a_turn_makes", noticesOfTurns},
		{"notice_of_a_completion", noticesOfCompletions},
		{"notice_of_what_is_given_up", noticesOfAbandons},
		{"notice_when_delays_end", noticesOfDelays},
		{"notice_when_leases_end", noticesOfLeases},
		{"notice_of_what_another_process_does", noticesOfOthers},
		{"notices_wait_to_be_received", noticesWait},
		{"notices_end_with_stop", noticesStop},
	}
}

const (
	ruleReady = "§5.23 WorkReady: a notice comes soon after a call of the same process made something ready, " +
		"when a delay or a lease has ended, and from time to time for what other processes did"
	ruleOneNotice = "§5.23 WorkReady: a channel holds one notice"
	ruleStop      = "§5.23 WorkReady: notices end with stop"
)

func instanceNumber(i int) string { return fmt.Sprint("i", i) }

// numberOf is the i of instanceNumber.
func numberOf(instance string) int {
	i, _ := strconv.Atoi(strings.TrimPrefix(instance, "i"))
	return i
}

// ready are a subscription's channels.
type ready struct{ turns, activities <-chan struct{} }

// subscribe returns the channels, which the scenario's end stops.
func (e *env) subscribe() ready {
	e.Helper()
	turns, activities, stop := e.full().WorkReady()
	e.Cleanup(stop)
	return ready{turns, activities}
}

// noticed takes whenever a notice comes, until there is something. A notice may come for
// nothing; that none comes is what fails.
func (e *env) noticed(notices <-chan struct{}, params provider.ClaimParams) provider.Claimed {
	e.Helper()
	limit := time.NewTimer(20 * e.lease)
	defer limit.Stop()
	for {
		select {
		case <-notices:
		case <-limit.C:
			e.violated(ruleReady, "no notice within %v of something that is ready", 20*e.lease)
		}
		taken := e.take(params)
		if taken.Turn != nil || len(taken.Work) > 0 {
			return taken
		}
	}
}

// nothingYet takes what there is until nothing is ready, and asserts that it was nothing.
func (e *env) nothingYet(r ready) {
	e.Helper()
	for _, notices := range []<-chan struct{}{r.turns, r.activities} {
		select {
		case <-notices:
		default:
		}
	}
	taken := e.take(aTurn(noSession()))
	e.gotTurn(taken, "", ruleTakes)
	e.gotWork(taken, ruleTakes)
}

func noticesQueued(e *env) {
	r := e.subscribe()
	e.nothingYet(r)
	e.enqueue(startItem("A"))
	e.gotTurn(e.noticed(r.turns, aTurn()), "A", ruleReady)
	e.enqueueWork(activityItem("A", 2))
	e.gotWork(e.noticed(r.activities, someWork(noSession())), ruleReady, "0:2")
}

// The turn's call itself takes nothing, or not all: a notice comes for the rest.
func noticesOfTurns(e *env) {
	e.create("A")
	e.wake("A")
	r := e.subscribe()
	turn := turnOf(e.fetchInstance("A", held), provider.AckOrchestrationParams{
		WorkerItems:       []provider.WorkItem{activityItem("A", 2), activityItem("A", 3), activityItem("A", 4)},
		OrchestratorItems: []provider.WorkItem{startItem("B")},
	})
	e.nothingYet(r)
	e.took(e.full().AckTurnAndClaim(e.ctx, turn, someWork(noSession())))
	e.gotTurn(e.noticed(r.turns, aTurn()), "B", ruleReady)
	taken := e.noticed(r.activities, someWork(noSession(), noSession(), noSession()))
	e.check(len(taken.Work) == 2, ruleReady, "took %d activities, want the 2 that are left", len(taken.Work))
}

func noticesOfCompletions(e *env) {
	e.createWithActivities("A", 2)
	work := e.fetchWork(held)
	r := e.subscribe()
	e.nothingYet(r)
	e.ackAndTake(someWork(noSession()), ackOf(work, completedItem("A", 2)))
	e.gotTurn(e.noticed(r.turns, aTurn()), "A", ruleReady)
}

func noticesOfAbandons(e *env) {
	e.createWithActivities("A", 2)
	e.wake("A")
	r := e.subscribe()
	taken := e.take(aTurn(noSession()))
	e.nothingYet(r)
	e.abandon(taken.Turn, 0, true)
	e.gotTurn(e.noticed(r.turns, aTurn()), "A", ruleReady)
	e.abandonWork(taken.Work[0].FetchedWorkItem, 0, true)
	e.gotWork(e.noticed(r.activities, someWork(noSession())), ruleReady, "0:2")
}

// Delays of messages, of timers, and of what was given up for a while.
func noticesOfDelays(e *env) {
	e.createWithActivities("A", 2)
	r := e.subscribe()
	work := e.fetchWork(held)
	e.nothingYet(r)
	due := time.Now().Add(e.lease)
	e.enqueueLater(raised("A", "later"), e.lease)
	taken := e.noticed(r.turns, aTurn())
	e.gotTurn(taken, "A", ruleReady)
	e.notBefore(due.Add(-e.lease/10), ruleDelay)
	e.abandonWork(work, e.lease, true)
	e.gotWork(e.noticed(r.activities, someWork(noSession())), ruleReady, "0:2")
	e.abandon(taken.Turn, e.lease, true)
	e.gotTurn(e.noticed(r.turns, aTurn()), "A", ruleReady)
}

// Leases of others, and of what was taken itself.
func noticesOfLeases(e *env) {
	e.createWithActivities("A", 2)
	e.wake("A")
	e.fetchInstance("A", e.lease)
	e.fetchWork(e.lease)
	r := e.subscribe()
	brief := aTurn(provider.FetchWorkParams{LockTimeout: e.lease})
	brief.Turn.LockTimeout = e.lease
	for range 2 {
		e.gotTurn(e.noticed(r.turns, provider.ClaimParams{Turn: brief.Turn}), "A", ruleReady)
		e.gotWork(e.noticed(r.activities, someWork(brief.Work...)), ruleReady, "0:2")
	}
}

func noticesOfOthers(e *env) {
	other := e.reopen()
	r := e.subscribe()
	e.nothingYet(r)
	e.ok(other.EnqueueForOrchestrator(e.ctx, startItem("A"), 0), ruleReady)
	e.ok(other.EnqueueForWorker(e.ctx, activityItem("A", 2)), ruleReady)
	e.gotTurn(e.noticed(r.turns, aTurn()), "A", ruleReady)
	e.gotWork(e.noticed(r.activities, someWork(noSession())), ruleReady, "0:2")
}

// What becomes ready while nobody receives is told of when somebody does; several
// subscribers are told each.
func noticesWait(e *env) {
	a, b := e.subscribe(), e.subscribe()
	e.nothingYet(a)
	e.nothingYet(b)
	e.enqueue(startItem("A"), startItem("B"))
	e.sleep(e.lease / 4)
	e.gotTurn(e.noticed(a.turns, aTurn()), "A", ruleOneNotice)
	e.gotTurn(e.noticed(b.turns, aTurn()), "B", ruleOneNotice)
}

func noticesStop(e *env) {
	turns, activities, stop := e.full().WorkReady()
	stop()
	stop()
	e.nothingYet(ready{turns, activities})
	e.enqueue(startItem("A"))
	e.enqueueWork(activityItem("A", 2))
	e.sleep(e.lease / 2)
	e.check(len(turns) == 0 && len(activities) == 0, ruleStop, "a notice came after stop")
	e.gotTurn(e.take(aTurn()), "A", ruleTakes)
}
