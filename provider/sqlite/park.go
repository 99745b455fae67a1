package sqlite

import (
	"context"
	"slices"
	"time"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
	"github.com/duroxide/duroxide-go/provider/internal/wakeup"
)

// A Take that finds nothing may wait. Then its job is parked with the writer, and served by
// the group that makes something ready, in the same transaction: what is made is locked before
// anybody else sees it, and nobody has to look for it.
//
// The state of a parked job is queued again, so its caller may withdraw it. While a group
// serves it, it is running.

// waitToTake is takeWith for a Take that waits so long when it finds nothing. It waits no
// longer than until there is a notice of what has become ready for others than those parked,
// or may be.
func (s *Store) waitToTake(ctx context.Context, j *job, k *taking, wait time.Duration) (provider.Taken, error) {
	if err := s.enter(j.operation); err != nil {
		return provider.Taken{}, err
	}
	defer s.leave()
	// Before it looks: what comes later is not missed.
	turns, stopTurns := noticesFor(s.instances, k.turn != nil)
	defer stopTurns()
	work, stopWork := noticesFor(s.activities, len(k.work) > 0)
	defer stopWork()
	k.prepare(j)
	j.waits, j.parked, j.unserved = k, make(chan struct{}), make(chan struct{}, 1)
	if err := s.writer.submit(ctx, j); err != nil {
		return provider.Taken{}, err
	}
	select {
	case <-j.done:
		return k.result(j)
	case <-ctx.Done():
		return s.withdrawTake(j, k, provider.ContextError(ctx, j.operation))
	case <-j.parked:
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	var end error
	select {
	case <-j.done:
	case <-turns:
	case <-work:
	case <-timer.C:
	case <-ctx.Done():
		end = provider.ContextError(ctx, j.operation)
	case <-s.calls.Closing():
		end = columns.Closed(j.operation)
	}
	return s.withdrawTake(j, k, end)
}

// noticesFor is a subscription to a list without the notice that comes at once; nil if it is
// not wanted.
func noticesFor(list *wakeup.List, wanted bool) (notices <-chan struct{}, stop func()) {
	if !wanted {
		return nil, func() {}
	}
	notices, stop = list.Subscribe()
	<-notices
	return notices, stop
}

// withdrawTake ends a wait. What it was served is returned, also when the wait has failed.
func (s *Store) withdrawTake(j *job, k *taking, err error) (provider.Taken, error) {
	for {
		if j.state.CompareAndSwap(queued, left) {
			return provider.Taken{Waited: true}, err
		}
		select {
		case <-j.done:
			return k.result(j)
		case <-j.unserved: // and is parked again
		}
	}
}

// parking holds the jobs that wait in the writer. Only the writer's goroutine uses it.
type parking struct {
	jobs []*job
	// served are the jobs that the transaction has begun to serve, of which late are not parked.
	served, late []*job
	// joined has joined the transaction, nil if none has.
	joined *job
	// unserved is what the jobs have done that a committed transaction served and that found nothing.
	unserved effects
}

// park parks a job that has found nothing, unless its caller has left.
func (p *parking) park(j *job) {
	p.jobs = slices.DeleteFunc(p.jobs, func(j *job) bool { return j.state.Load() != queued })
	if j.state.CompareAndSwap(running, queued) {
		p.jobs = append(p.jobs, j)
	}
	close(j.parked)
	j.tellUnserved()
}

// tellUnserved tells the caller, if he waits to withdraw, that the job is parked again.
func (j *job) tellUnserved() {
	select {
	case j.unserved <- struct{}{}:
	default: // he is told already
	}
}

// parkIdle parks the jobs of a group that would find nothing, as far as the writer knows, and
// returns the others.
func (w *writer) parkIdle(group []*job) []*job {
	if w.unwatched.Load() && slices.ContainsFunc(group, func(j *job) bool { return j.waits != nil }) {
		_ = w.look(context.WithoutCancel(group[0].ctx)) // after an error the jobs look, and meet it
	}
	return slices.DeleteFunc(group, func(j *job) bool {
		if j.waits == nil || !j.waits.wouldFindNothing(w.newTx()) {
			return false
		}
		if _, err := w.files.look(); err != nil { // which the transaction reports
			return false
		}
		w.published(effects{instanceWake: w.ready.nextInstance.at, activityWake: earlier(w.ready.nextActivity.at, w.ready.nextSession.at)})
		w.parking.park(j)
		return true
	})
}

// serve serves the parked jobs with what the group has made ready, and those that would have
// been parked by now if the group had not been under way.
func (w *writer) serve(ctx context.Context, group []*job) (failed *job, err error) {
	p := &w.parking
	wanted := func(j *job) bool { return j.waits != nil && j.waits.wants(group) }
	var jobs []*job
	for _, j := range p.jobs {
		if wanted(j) && j.state.CompareAndSwap(queued, running) {
			jobs = append(jobs, j)
		}
	}
	if !w.single {
		p.late = w.takeQueued(func(j *job) bool { return wanted(j) && j.ctx.Err() == nil })
	}
	jobs = append(jobs, p.late...)
	p.served = append(p.served, jobs...)
	for _, j := range jobs {
		j.tx = w.newTx()
		for _, step := range append([]func(context.Context, *tx) error{j.run}, j.then...) {
			if err := step(ctx, j.tx); err != nil {
				j.err = classify(j.operation, err)
				return j, err
			}
		}
	}
	return nil, nil
}

// endServing returns the jobs that were served in a transaction, or have joined it, and are to be
// answered, given the transaction's error: those that have found something if it is committed, or
// those that have failed. The others stay parked, or queued.
func (w *writer) endServing(err error) (answered []*job) {
	p := &w.parking
	for _, j := range p.served {
		switch {
		case j.answered && err != nil: // and what it has found is not there
		case j.err != nil, err == nil && j.waits.found():
			answered = append(answered, j)
		default:
			if err == nil {
				p.unserved.add(j.tx.effects) // as the next try begins with none
			}
			j.waits.reset()
			j.state.Store(queued) // the caller waits for this, he has not left
			j.tellUnserved()
		}
	}
	w.queueAgain(p.late)
	if j := p.joined; j != nil {
		if err != nil && j.err == nil {
			j.err = classify(j.operation, err)
		}
		answered = append(answered, j)
	}
	p.served, p.late, p.joined = nil, nil, nil
	p.jobs = slices.DeleteFunc(p.jobs, func(j *job) bool { return slices.Contains(answered, j) || j.state.Load() != queued })
	return answered
}

// wants reports whether a group has made something ready of a kind that is waited for.
func (k *taking) wants(group []*job) bool {
	return slices.ContainsFunc(group, func(j *job) bool {
		return (k.turn != nil && len(j.tx.instances) > 0) || (len(k.work) > 0 && (len(j.tx.activities) > 0 || j.tx.due > 0))
	})
}

// wouldFindNothing reports whether a look in this moment finds nothing, as far as the writer
// knows without one. What other processes write is noticed by those who poll for it.
func (k *taking) wouldFindNothing(t *tx) bool {
	r := t.ready
	if k.turn != nil && (!r.instances.read || r.nextInstance.past(t.now) || k.turn.mayFind(t)) {
		return false
	}
	for _, entry := range k.work {
		known, seen := t.seen(entry.codeSelection)
		if !seen || entry.unknownFor > 0 || !r.activities.read || r.nextActivity.past(t.now) ||
			(entry.sessions && r.nextSession.past(t.now)) || entry.findsAny(t, known) {
			return false
		}
	}
	return true
}

// mayFind reports whether there may be something ready that the fetch takes.
func (f *turnFetch) mayFind(t *tx) bool {
	known, seen := t.seen(f.codeSelection)
	if !seen || f.unknownFor > 0 || len(t.ready.due) > 0 {
		return true
	}
	for id, bounds := range t.ready.instances.bounds {
		if version, ok := t.ready.versions[id]; id != 0 && ok && !f.versions.Contains(version) {
			continue
		}
		for code := range bounds {
			if known.admits(code) {
				return true
			}
		}
	}
	return false
}
