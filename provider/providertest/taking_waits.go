package providertest

import (
	"context"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// takingWaits are about a Claim that may wait.
func takingWaits() []scenario {
	return []scenario{
		{"wait_is_bounded", waitIsBounded},
		{"waiting_take_finds_what_is_ready", waitingFindsReady},
		{"ended_wait_locks_nothing", endedWaitLocksNothing},
		{"what_is_made_meanwhile_is_taken_once", waitingTakesOnce},
	}
}

const (
	ruleWait      = "§5.23 waiting: a Claim that finds nothing may wait, for Wait at most"
	ruleWaitEnded = "§5.23 waiting: a wait that the context ends leaves nothing locked"
	ruleWaitMade  = "§5.23 waiting: what becomes ready while a Claim waits is taken once, by the Claim or by others"
)

// waiting is what to take with a wait.
func waiting(wait time.Duration) provider.ClaimParams {
	params := aTurn(noSession())
	params.Wait = wait
	return params
}

func waitIsBounded(e *env) {
	wait := e.lease / 4
	took := fastest(3, func() {
		taken := e.take(waiting(wait))
		e.gotTurn(taken, "", ruleWait)
		e.gotWork(taken, ruleWait)
	})
	limit := max(wait+pollSlack, e.config.ShortPollLimit)
	e.check(took <= limit, ruleWait, "took %v, want at most %v", took, limit)
}

// What is ready is not waited for.
func waitingFindsReady(e *env) {
	e.createWithActivities("A", 2)
	e.enqueue(startItem("B"))
	taken := e.take(waiting(held))
	e.gotTurn(taken, "B", ruleWait)
	e.gotWork(taken, ruleWait, "0:2")
	e.check(!taken.Waited, ruleWait, "a Claim that found something at once says that it has waited")
}

// takeAside starts a Claim that waits, and returns what ends it and gives its outcome.
func (e *env) takeAside() (end func() (taken provider.Claimed, err error), done <-chan struct{}) {
	ctx, cancel := context.WithCancel(e.ctx)
	var taken provider.Claimed
	var err error
	over := make(chan struct{})
	taker := e.full()
	go func() {
		defer close(over)
		taken, err = taker.Claim(ctx, waiting(held))
	}()
	return func() (provider.Claimed, error) {
		cancel()
		<-over
		return taken, err
	}, over
}

// What becomes ready after the context of a wait has ended is everybody's, at its first attempt.
func endedWaitLocksNothing(e *env) {
	end, _ := e.takeAside()
	e.tick()
	taken, err := end()
	e.check(err != nil || taken.Turn == nil && len(taken.Work) == 0, ruleWaitEnded, "took %v and %v of an empty store", taken.Turn, taken.Work)
	e.enqueueWork(plain(2))
	e.enqueue(startItem("B"))
	taken = e.take(aTurn(noSession()))
	e.gotTurn(taken, "B", ruleWaitEnded)
	e.gotWork(taken, ruleWaitEnded, "0:2")
	same(e, taken.Turn.AttemptCount, 1, ruleWaitEnded)
	same(e, taken.Work[0].AttemptCount, 1, ruleWaitEnded)
}

// What becomes ready while a Claim waits is taken by that, or there for others: once, at its
// first attempt.
func waitingTakesOnce(e *env) {
	for i := range 5 {
		end, done := e.takeAside()
		e.tick()
		instance := instanceNumber(i)
		e.enqueue(startItem(instance))
		select {
		case <-done:
		case <-time.After(e.lease): // it may leave it to others
		}
		taken, err := end()
		turn := taken.Turn
		if err != nil || turn == nil {
			turn = e.fetchInstance(instance, held)
		}
		same(e, turn.Item.Instance, instance, ruleWaitMade)
		same(e, turn.AttemptCount, 1, ruleWaitMade)
		e.fetchNone(ruleWaitMade)
	}
}
