package sqlite

import (
	"context"
	"sync/atomic"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// The states of a job.
const (
	// queued: nothing has happened, and the caller may withdraw it.
	queued int32 = iota
	// running: it is being executed, and the caller may stop waiting.
	running
	// left: the caller has stopped waiting.
	left
	// finished: the outcome stands.
	finished
)

// job is one call in the writer's queue.
type job struct {
	operation string
	// run does the call's work. Its context never ends: a call that has begun is
	// carried out. It may be done twice, of which the second counts.
	run func(context.Context, *tx) error
	// then, if set, is done after run, in order. A step that fails takes back its own
	// changes and ends the job, but what was done before it stays: thenErr says why.
	// All calls of a group are done before the first of these steps, so that these find
	// what the others have made.
	then    []func(context.Context, *tx) error
	thenErr error
	// undo, if set, takes back what run did when nobody was left to hear of it.
	undo func(context.Context, *tx) error
	// bare stands in for run and is executed outside any transaction.
	bare func(context.Context) error

	ctx   context.Context //nolint:containedctx // it travels with the call it belongs to
	state atomic.Int32
	err   error
	done  chan struct{}
	// tx is that of the latest try.
	tx *tx
}

// failed reports whether the job's call has failed, or what follows it.
func (j *job) failed() bool { return j.err != nil || j.thenErr != nil }

// do queues a call and waits for its outcome. When ctx ends first, the error says
// whether the call may have happened.
func (w *writer) do(ctx context.Context, j *job) error {
	if ctx.Err() != nil {
		return provider.ContextError(ctx, j.operation)
	}
	j.ctx = ctx
	j.done = make(chan struct{})
	if !w.push(j) {
		return columns.Closed(j.operation)
	}
	select {
	case <-j.done:
		return j.err
	case <-ctx.Done():
	}
	if j.state.CompareAndSwap(queued, left) {
		return provider.ContextError(ctx, j.operation)
	}
	if j.state.CompareAndSwap(running, left) {
		err := provider.ContextError(ctx, j.operation)
		err.Message += "; the call was being carried out and its outcome is unknown"
		return err
	}
	<-j.done
	return j.err
}

// push appends a job, unless the writer is closed.
func (w *writer) push(j *job) bool {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return false
	}
	w.queue = append(w.queue, j)
	w.mu.Unlock()
	w.notify()
	return true
}
