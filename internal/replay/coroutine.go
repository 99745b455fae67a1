package replay

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
)

// coroutine runs a function in alternation with its caller. It is a goroutine
// with a handshake rather than iter.Pull, because a function that calls
// runtime.Goexit or never gives control back must not take its caller along.
type coroutine struct {
	fn func() (string, error)
	// resume hands control to the function; closing it makes every later
	// pause unwind the function.
	resume chan struct{}
	// paused hands control back, once for every resume.
	paused  chan struct{}
	started bool
	stopped atomic.Bool
	// running is true while the function has control. It turns a call from a
	// foreign goroutine into a clear panic instead of corrupt state.
	running atomic.Bool

	// Set by the function's goroutine before its last paused.
	done   bool
	output string
	err    error
	panic  *panicked
}

// panicked is a panic of the function.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) message() string { return fmt.Sprint(p.value) }

func newCoroutine(fn func() (string, error)) *coroutine {
	return &coroutine{fn: fn, resume: make(chan struct{}), paused: make(chan struct{}, 1)}
}

// poll lets the function run until it pauses or returns.
func (c *coroutine) poll(ctx context.Context) error {
	if c.done {
		return nil
	}
	c.running.Store(true)
	if c.started {
		c.resume <- struct{}{}
	} else {
		c.started = true
		go c.main()
	}
	select {
	case <-c.paused:
		c.running.Store(false)
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w (%w)", ErrBlocked, context.Cause(ctx))
	}
}

// main is the function's goroutine.
func (c *coroutine) main() {
	returned := false
	defer func() {
		value := recover()
		switch {
		case returned || c.stopped.Load(): // what deferred calls do after the turn counts for nothing
		case value != nil:
			c.panic = &panicked{value: value, stack: debug.Stack()}
		default:
			c.panic = &panicked{value: "runtime.Goexit was called in an orchestration function"}
		}
		c.done = true
		select {
		case c.paused <- struct{}{}:
		default: // the engine gave up on a blocked function and no longer listens
		}
	}()
	c.output, c.err = c.fn()
	returned = true
}

// pause gives control back to the engine until the next poll. It is called by
// the function.
func (c *coroutine) pause() {
	if !c.stopped.Load() {
		c.paused <- struct{}{}
		if _, ok := <-c.resume; ok {
			return
		}
	}
	unwind()
}

// unwind ends the calling goroutine, running its deferred calls. It is not a panic,
// since a function that recovers from panics would take one for its own and go on.
func unwind() { runtime.Goexit() }

// mustRun panics when it is not the function that calls.
func (c *coroutine) mustRun() {
	if c.stopped.Load() {
		unwind()
	}
	if !c.running.Load() {
		panic("an orchestration context was used outside its orchestration function; " +
			"orchestrations must not start goroutines, use orchestration.Join and orchestration.Select")
	}
}

// stop ends the function: its deferred calls run, then its goroutine is gone. A
// function that is blocked elsewhere ends when it next uses its Env. Deferred calls
// that block hold the caller up until ctx ends.
func (c *coroutine) stop(ctx context.Context) {
	if c.stopped.Swap(true) || !c.started {
		return
	}
	paused := !c.running.Load() && !c.done // else blocked elsewhere, or gone: nothing to wait for
	close(c.resume)
	if !paused {
		return
	}
	select {
	case <-c.paused:
	case <-ctx.Done():
	}
}
