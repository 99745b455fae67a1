package sqlite

import (
	"context"
	"slices"
	"time"
)

// The first turn of an instance seldom takes longer than the flush of a transaction. So when
// somebody starts an instance, nobody else calls, and the start has served a waiting Take the
// turn, the Take returns before the transaction ends, and the transaction waits a moment for
// the turn's acknowledgement, which joins it: the start, the turn and the locks on its
// activities are one transaction.
//
// Nothing is lost that anybody could have relied on. If the transaction fails, or the process
// ends, nobody was told that the instance was started, and the turn's token is unknown as after
// the loss of any lease. Activities are told of after the commit.

// joinFor is how long a start waits for its turn's acknowledgement, unless that was in vain before.
const joinFor = 400 * time.Microsecond

// joinTurn lets the acknowledgement of a turn join the transaction that started its instance.
// The error is the transaction's.
func (w *writer) joinTurn(ctx context.Context, group []*job) error {
	taker := w.startedFor(group)
	if taker == nil || w.joining.passes() {
		return nil
	}
	token := taker.waits.foundTurn.LockToken
	taker.answered = true
	taker.state.Store(finished)
	close(taker.done)
	j := w.awaitAck(token)
	w.joining.learn(j != nil)
	if j == nil {
		return nil
	}
	w.parking.joined = j
	return w.join(ctx, j)
}

// startedFor returns the waiting Take that was served the turn of the instance that the group
// starts, which does nothing else, while nobody else calls; nil if there is none.
func (w *writer) startedFor(group []*job) *job {
	if w.single || len(group) != 1 || group[0].tx.started == "" || w.othersCall() {
		return nil
	}
	for _, j := range w.parking.served {
		if t := j.waits.foundTurn; t != nil && len(j.waits.work) == 0 && t.Item.Instance == group[0].tx.started {
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
