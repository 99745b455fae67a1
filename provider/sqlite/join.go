package sqlite

import (
	"context"
	"slices"
	"time"
)

// A turn seldom takes longer than the flush of a transaction. So when somebody starts an instance,
// nobody else calls, and the start has served a waiting Take the turn, the Take returns before the
// transaction ends, and the transaction waits a moment for the turn's acknowledgement, which joins
// it: the start, the turn and the locks on its activities are one transaction. So are the end of
// activities and the turn that its call has taken (TakeParams.Early).
//
// Nothing is lost that anybody could have relied on. If the transaction fails, or the process
// ends, nobody was told that the instance was started, or the activities ended, and the turn's
// token is unknown as after the loss of any lease. Activities are told of after the commit.

// joinFor is how long a transaction waits for its turn's acknowledgement, unless that was in vain
// before.
const joinFor = 400 * time.Microsecond

// joinTurn lets the acknowledgement of a turn join the transaction that has locked it. The error
// is the transaction's.
func (w *writer) joinTurn(ctx context.Context, group []*job) error {
	if w.single || len(group) != 1 || w.othersCall() {
		return nil
	}
	token, learnt := w.tellEarly(group[0])
	if token == "" {
		return nil
	}
	j := w.awaitAck(token)
	learnt.learn(j != nil)
	if j == nil {
		return nil
	}
	w.parking.joined, j.joined = j, true
	return w.join(ctx, j)
}

// tellEarly hands the turn that a call has taken for itself, or has made and served a waiting
// Take, to whom it is for before the transaction ends, unless he is to get activities as well. It
// returns the turn's token, "" if there is none to wait for.
func (w *writer) tellEarly(call *job) (token string, learnt *gathering) {
	if call.early != nil {
		k := call.tx.taking
		if k.foundTurn == nil || len(k.foundWork) > 0 || w.joiningEnd.passes() {
			return "", nil
		}
		call.early <- k.foundTurn
		return k.foundTurn.LockToken, &w.joiningEnd
	}
	taker := w.startedFor(call)
	if taker == nil || w.joiningStart.passes() {
		return "", nil
	}
	taker.answered = true
	taker.state.Store(finished)
	close(taker.done)
	return taker.waits.foundTurn.LockToken, &w.joiningStart
}

// startedFor returns the waiting Take that was served the turn of the instance that the call
// starts; nil if there is none.
func (w *writer) startedFor(call *job) *job {
	if call.tx.started == "" {
		return nil
	}
	for _, j := range w.parking.served {
		if t := j.waits.foundTurn; t != nil && len(j.waits.work) == 0 && t.Item.Instance == call.tx.started {
			return j
		}
	}
	return nil
}

// awaitAck waits for the acknowledgement of a turn, and takes it out of the queue. It gives up,
// and returns nil, when somebody else calls.
func (w *writer) awaitAck(token string) *job {
	timer := time.NewTimer(w.joinFor)
	defer timer.Stop()
	for {
		ack := w.takeQueued(func(j *job) bool { return j.acks == token && j.ctx.Err() == nil })
		if len(ack) > 0 {
			return ack[0]
		}
		if w.othersCall() {
			return nil
		}
		select {
		case <-w.wake: // work looks at the queue in any case
		case <-timer.C:
			return nil
		}
	}
}

// join does a job in a transaction that has done others, which stay as they are if it fails.
func (w *writer) join(ctx context.Context, j *job) error {
	j.tx = w.newTx()
	failed, err := w.apart(ctx, j.tx, func(ctx context.Context, _ *tx) error {
		if err := w.runCall(ctx, j, unguarded); err != nil {
			return err
		}
		return w.runThen(ctx, j, unguarded)
	})
	if failed == nil || err != nil {
		return err
	}
	// Again, so that what was done before the step that failed stays.
	j.err, j.thenErr = nil, nil
	if err := w.runCall(ctx, j, w.apart); err != nil {
		return err
	}
	return w.runThen(ctx, j, w.apart)
}

// takeQueued takes the calls that fit out of the queue, to be run.
func (w *writer) takeQueued(fits func(*job) bool) (taken []*job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	rest := w.queue[:0]
	for _, j := range w.queue {
		if fits(j) && j.state.CompareAndSwap(queued, running) {
			taken = append(taken, j)
		} else {
			rest = append(rest, j)
		}
	}
	clear(w.queue[len(rest):])
	w.queue = rest
	return taken
}

// queueAgain puts those jobs back that are to be run after all.
func (w *writer) queueAgain(jobs []*job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, j := range jobs {
		if j.state.Load() == queued {
			w.queue = append(w.queue, j)
		}
	}
}

// othersCall reports whether there is a call that does not wait for what others make.
func (w *writer) othersCall() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.queue, func(j *job) bool { return j.waits == nil })
}
