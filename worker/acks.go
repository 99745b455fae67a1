package worker

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// ackTogether is the most activities that one call acknowledges. A store commits one after the
// other, so that a longer call would keep the first waiting for the last.
const ackTogether = 8

// ackPatience is how long a call that the store does not answer keeps others waiting.
const ackPatience = 100 * time.Millisecond

// ackYields is how often a call lets others run before it is made: what has just begun and takes
// no time then ends in time for it. On an idle machine that is a few microseconds.
const ackYields = 4

// activityAcks acknowledges the activities of the dispatcher's slots. What is ready while no call
// is under way is sent at once, with what ends in this moment. What becomes ready while one is shares the next call,
// which begins when that one has returned, or when there is enough for a whole call.
type activityAcks struct {
	dispatcher *dispatcher

	mu sync.Mutex
	// waiting are those that no call has taken up, the oldest first.
	waiting []*activityAck
	// under counts the calls that keep others waiting.
	under int
}

// activityAck is one acknowledgement, and the slot that its call takes work for.
type activityAck struct {
	token      func() string
	completion provider.WorkItem
	take       *taking

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
	a.begin() //nolint:contextcheck // a call belongs to nobody alone
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
	for len(a.waiting) >= ackTogether || a.under == 0 && len(a.waiting) > 0 {
		ctx, cancel := context.WithCancel(context.WithoutCancel(a.dispatcher.work))
		call := &ackCall{ctx: ctx, cancel: cancel}
		a.assign(call, min(len(a.waiting), ackTogether))
		a.under++
		a.dispatcher.worker.loops.Go(func() { a.make(call) })
	}
}

// fill lets a call take up what becomes ready just before it is made.
func (a *activityAcks) fill(call *ackCall) {
	for range ackYields {
		runtime.Gosched()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if call.waiters > 0 { // nobody joins a call that was left
		a.assign(call, min(len(a.waiting), ackTogether-len(call.acks)))
	}
}

// assign gives a call the n oldest that wait. The caller has the mutex.
func (a *activityAcks) assign(call *ackCall, n int) {
	for _, ack := range a.waiting[:n] {
		ack.sent, ack.call = ack.token(), call
	}
	call.acks = append(call.acks, a.waiting[:n]...)
	call.waiters += n
	a.waiting = slices.Delete(a.waiting, 0, n)
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
	a.fill(call)
	all := &taking{dispatcher: d} // for all slots together
	acks, asking := make([]provider.WorkAck, len(call.acks)), make([]*taking, len(call.acks))
	for i, ack := range call.acks {
		acks[i] = provider.WorkAck{LockToken: ack.sent, Completion: ack.completion}
		turns := 1
		if all.asked.Turn != nil {
			turns = 0
		}
		if _, ok := ack.take.begin(turns, 0); ok {
			asking[i] = ack.take
			all.join(ack.take)
		}
	}
	outcomes, taken, err := d.taker.AckWorkAndTake(call.ctx, acks, all.asked)
	if err == nil {
		all.observe(taken)
	}
	all.answered(taken, err)
	for i, ack := range call.acks {
		if ack.err = err; err == nil {
			ack.err = outcomes[i]
		}
		if asking[i] != nil {
			asking[i].receive(all.part(asking[i]), err)
		}
		close(ack.done)
	}
	over() // what was taken begins first, and may end in time for the next call
}

// opAckWork is the call's name in errors.
const opAckWork = "ack_work_item"

// join adds what another taking asks for.
func (k *taking) join(other *taking) {
	if len(k.asked.Work) == 0 {
		k.activitiesSeen = other.activitiesSeen
	}
	if other.asked.Turn != nil {
		k.asked.Turn, k.turnsSeen = other.asked.Turn, other.turnsSeen
	}
	other.from = len(k.asked.Work)
	k.asked.Work = append(k.asked.Work, other.asked.Work...)
}

// part is what was taken for one that has joined.
func (k *taking) part(other *taking) provider.Taken {
	part := provider.Taken{Err: k.taken.Err}
	if other.asked.Turn != nil {
		part.Turn = k.taken.Turn
	}
	for _, work := range k.taken.Work {
		if work.For -= other.from; work.For >= 0 && work.For < len(other.asked.Work) {
			part.Work = append(part.Work, work)
		}
	}
	return part
}
