package taking

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// ackTogether is the most activities that one call acknowledges. A store may commit those of
// different instances one after the other, so that a longer call would keep the first waiting for
// the last.
const ackTogether = 16

// ackPatience is how long a call that the store does not answer keeps others waiting.
const ackPatience = 100 * time.Millisecond

// ackApart is how many calls are under way before others are kept waiting for them. A store in this
// process makes one transaction of calls that come together, and begins with none of them later.
const ackApart = 2

// activityAcks acknowledges the activities of the dispatcher's slots. What is ready is sent at once
// while few calls are under way. What becomes ready later shares the next call, which begins when
// one of them has returned, or when there is enough for a whole call.
type activityAcks struct {
	dispatcher *dispatcher

	mu sync.Mutex
	// waiting are those that no call has taken up, the oldest first.
	waiting []*activityAck
	// under counts the calls that keep others waiting, from the number apart on. gathering is set
	// while one of them has not taken up what waits.
	under, apart int
	gathering    bool
}

// activityAck is one acknowledgement, and the claim for the slot of its activity.
type activityAck struct {
	token      func() string
	completion provider.WorkItem
	claim      *Claim

	// sent is the token that was used, and call the call, from when there is one.
	sent string
	call *ackCall
	// done is closed when err is the outcome.
	done chan struct{}
	err  error
}

// ackCall is one call for several activities.
type ackCall struct {
	acks []*activityAck
	// ctx ends when nobody waits for the call any more.
	ctx     context.Context //nolint:containedctx // as above
	cancel  context.CancelFunc
	waiters int
}

// do acknowledges an activity and returns the token that was used. When ctx ends first, the error
// is that of a call of the store that was left.
func (a *activityAcks) do(ctx context.Context, ack *activityAck) (token string, err error) {
	ack.done = make(chan struct{})
	a.mu.Lock()
	a.waiting = append(a.waiting, ack)
	a.begin()
	a.mu.Unlock()
	select {
	case <-ack.done:
		return ack.sent, ack.err
	case <-ctx.Done():
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if ack.call == nil {
		a.waiting = slices.DeleteFunc(a.waiting, func(other *activityAck) bool { return other == ack })
		return ack.token(), provider.ContextError(ctx, opAckWork)
	}
	if ack.call.waiters--; ack.call.waiters == 0 {
		ack.call.cancel()
	}
	return ack.sent, provider.ContextError(ctx, opAckWork)
}

// begin begins the calls that it is time for. The caller has the mutex.
func (a *activityAcks) begin() {
	for len(a.waiting) >= ackTogether {
		a.under++
		call := a.gather()
		a.dispatcher.Loops.Go(func() { a.make(call) })
	}
	if a.gathering || a.under >= a.apart || len(a.waiting) == 0 {
		return
	}
	a.under++
	a.gathering = true
	a.dispatcher.Loops.Go(func() {
		for range 2 {
			runtime.Gosched() // activities that are about to end share the call
		}
		a.mu.Lock()
		a.gathering = false
		if len(a.waiting) == 0 { // they have gone with a whole call, or nobody waits for them any more
			a.under--
			a.mu.Unlock()
			return
		}
		call := a.gather()
		a.begin()
		a.mu.Unlock()
		a.make(call)
	})
}

// gather takes up what waits, as much as a call acknowledges. The caller has the mutex.
func (a *activityAcks) gather() *ackCall {
	n := min(len(a.waiting), ackTogether)
	ctx, cancel := context.WithCancel(context.WithoutCancel(a.dispatcher.work))
	call := &ackCall{acks: slices.Clone(a.waiting[:n]), waiters: n, ctx: ctx, cancel: cancel}
	a.waiting = slices.Delete(a.waiting, 0, n)
	for _, ack := range call.acks {
		ack.sent, ack.call = ack.token(), call
	}
	return call
}

// make makes a call and tells everybody's outcome.
func (a *activityAcks) make(call *ackCall) {
	defer call.cancel()
	over := sync.OnceFunc(func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.under--
		a.begin()
	})
	patience := time.AfterFunc(ackPatience, over)
	defer patience.Stop()
	d := a.dispatcher
	acks := make([]provider.WorkAck, len(call.acks))
	var claims batch
	for i, ack := range call.acks {
		acks[i] = provider.WorkAck{LockToken: ack.sent, Completion: ack.completion}
		claims.ask(ack.claim)
	}
	outcomes, taken, err := d.Store.AckWorkAndClaim(call.ctx, acks, claims.request.params)
	if err == nil {
		d.observe(claims.request, taken)
	}
	d.note(claims.request, taken, err)
	claims.answered(taken, err)
	for i, ack := range call.acks {
		if ack.err = err; err == nil {
			ack.err = outcomes[i]
		}
		close(ack.done)
	}
	over() // what was taken begins first, and may end in time for the next call
}

// opAckWork is the call's name in errors.
const opAckWork = "ack_work_item"
