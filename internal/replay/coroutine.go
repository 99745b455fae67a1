package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duroxide/duroxide-go/internal/details"
	"github.com/duroxide/duroxide-go/internal/goroutine"
	"github.com/duroxide/duroxide-go/provider"
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
	paused chan struct{}
	// wake tells the engine, while it waits for paused, that foreign or watch has
	// something new.
	wake    chan struct{}
	started bool
	stopped atomic.Bool
	// unwinding means that the function's deferred calls run because its turn is over.
	unwinding atomic.Bool
	// polls counts how often control changed hands: odd while the function has it.
	polls atomic.Uint64
	// owner is the function's goroutine, 0 before and after its life.
	owner atomic.Uintptr
	// branch is the branch that has control, nil for the function itself.
	branch  atomic.Pointer[Branch]
	foreign foreignUse
	// watch is the present turn's.
	watch *watch

	// Set by the function's goroutine before its last paused.
	done   bool
	output string
	err    *returnedError
	panic  *panicked
}

// returnedError is the error that the function has returned. Its methods are the user's code, so
// the function's goroutine asks them, where they may panic.
type returnedError struct {
	details provider.ApplicationFailure
	// cancelled means that the function ended because it was cancelled.
	cancelled bool
}

// ofReturned returns nil for no error.
func ofReturned(err error) *returnedError {
	if err == nil {
		return nil
	}
	return &returnedError{
		details:   details.Of(provider.AppOrchestrationFailed, err),
		cancelled: errors.Is(err, ErrCancelled) && !errors.Is(err, ErrNotUndone),
	}
}

// panicked is a panic of the function.
type panicked struct {
	message string
	stack   []byte
}

// foreignUse is the first use of the context by a goroutine that is not the function's.
type foreignUse struct {
	mu sync.Mutex
	at string
	// closed means that the turn is decided; late is told of what comes then.
	closed bool
	late   func(at string)
	// lateAt is the first use that came then: it fails the next turn.
	lateAt string
}

func newCoroutine(fn func() (string, error)) *coroutine {
	return &coroutine{fn: fn, resume: make(chan struct{}), paused: make(chan struct{}, 1), wake: make(chan struct{}, 1)}
}

// begin prepares for a turn, which fails if the context was used since the last one.
func (c *coroutine) begin(late func(at string), blockedAfter time.Duration, slow func()) {
	c.foreign.mu.Lock()
	defer c.foreign.mu.Unlock()
	c.foreign.closed, c.foreign.late, c.foreign.at = false, late, c.foreign.lateAt
	c.watch = &watch{after: blockedAfter, slow: slow}
}

// rest ends the turn's watch while the function is suspended.
func (c *coroutine) rest() {
	c.watch.stop()
	c.watch = &watch{after: c.watch.after}
}

// poll lets the function run until it pauses or returns, or its context is used by
// another goroutine. Error: [ErrBlocked].
func (c *coroutine) poll(ctx context.Context) error {
	if c.done {
		return nil
	}
	c.polls.Add(1)
	c.watch.start(c)
	if c.started {
		c.resume <- struct{}{}
	} else {
		c.started = true
		go c.main()
	}
	for {
		select {
		case <-c.paused:
			c.polls.Add(1)
			return nil
		case <-c.wake:
			if c.misused() != "" {
				return nil
			}
			if blocked := c.watch.judge(c); blocked != nil {
				return blocked
			}
		case <-ctx.Done():
			return fmt.Errorf("%w (%w)", ErrBlocked, context.Cause(ctx))
		}
	}
}

// inFunction reports whether the function has control. Only the engine may ask.
func (c *coroutine) inFunction() bool { return c.polls.Load()%2 == 1 }

// main is the function's goroutine.
func (c *coroutine) main() {
	c.owner.Store(uintptr(goroutine.Current()))
	returned := false
	defer func() {
		c.owner.Store(0)
		c.done = true
		select {
		case c.paused <- struct{}{}:
		default: // the engine gave up on a blocked function and no longer listens
		}
	}()
	defer func() {
		if value := recover(); !returned {
			c.fail(value)
		}
	}()
	output, err := c.fn()
	c.output, c.err = output, ofReturned(err)
	returned = true
}

// fail notes that the function or a branch did not return: value is what it panicked with, nil if
// it ended its goroutine. The first counts, and what deferred calls do after the turn does not.
// The text of the value is the user's code: it may block, or end the goroutine.
func (c *coroutine) fail(value any) {
	switch {
	case c.stopped.Load() || c.panic != nil:
	case value != nil:
		c.panic = &panicked{stack: debug.Stack()}
		c.panic.message = fmt.Sprint(value)
	case endedByMisuse():
		c.panic = &panicked{message: "the context of another orchestration was used at " + goroutine.Caller()}
	default:
		c.panic = &panicked{message: "runtime.Goexit was called in an orchestration function at " + goroutine.Caller()}
	}
}

// endedByMisuse reports whether mustOwn has ended the calling goroutine, whose deferred calls run.
func endedByMisuse() bool {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		frame, more := frames.Next()
		if strings.HasSuffix(frame.Function, "/internal/replay.(*coroutine).mustOwn") {
			return true
		}
		if !more {
			return false
		}
	}
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
	c.unwind()
}

// unwind ends the function, whose turn is over, or a branch.
func (c *coroutine) unwind() {
	if c.stopped.Load() {
		c.unwinding.Store(true)
	}
	unwind()
}

// unwind ends the calling goroutine, running its deferred calls. It is not a panic,
// since a function that recovers from panics would take one for its own and go on.
func unwind() { runtime.Goexit() }

// mustOwn ends a goroutine that is not the function's, and lets the turn fail. It is
// not a panic, since nobody recovers from one there, and the process would end. It also
// ends a function that had control when its turn was given up: one that only looks, in a
// loop, would look for ever. Deferred calls that run at the end of a turn may look.
func (c *coroutine) mustOwn() {
	if uintptr(goroutine.Current()) != c.owner.Load() {
		c.usedBy(goroutine.Caller())
		unwind()
	}
	if c.stopped.Load() && !c.unwinding.Load() {
		c.unwind()
	}
}

// mustRun is mustOwn for what has an effect, and ends the function once its turn is over,
// and a branch that was dropped.
func (c *coroutine) mustRun() {
	c.mustOwn()
	if b := c.branch.Load(); c.stopped.Load() || (b != nil && b.stopped) {
		c.unwind()
	}
}

// usedBy notes that another goroutine used the context at that place.
func (c *coroutine) usedBy(at string) {
	f := &c.foreign
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.closed:
		if f.lateAt == "" && f.late != nil {
			f.late(at)
		}
		f.lateAt = cmp.Or(f.lateAt, at)
	case f.at == "":
		f.at = at
		c.tellEngine()
	}
}

// tellEngine wakes the engine if it waits.
func (c *coroutine) tellEngine() {
	select {
	case c.wake <- struct{}{}:
	default: // it has not yet seen what came before
	}
}

// misused is where another goroutine used the context, or empty.
func (c *coroutine) misused() string {
	c.foreign.mu.Lock()
	defer c.foreign.mu.Unlock()
	return c.foreign.at
}

// decide is misused for the last time: later uses cannot fail the turn any more.
func (c *coroutine) decide() string {
	c.foreign.mu.Lock()
	defer c.foreign.mu.Unlock()
	c.foreign.closed = true
	return c.foreign.at
}

// stop ends the function: its deferred calls run, then its goroutine is gone. A
// function that is blocked elsewhere ends when it next uses its Env. Deferred calls
// that block hold the caller up until ctx ends or the watch has seen enough of them;
// the error says where they block.
func (c *coroutine) stop(ctx context.Context) *BlockedError {
	if c.stopped.Swap(true) || !c.started {
		return nil
	}
	defer c.watch.stop()
	paused := !c.inFunction() && !c.done // else blocked elsewhere, or gone: nothing to wait for
	c.polls.Add(1)
	c.watch.start(c)
	close(c.resume)
	if !paused {
		return nil
	}
	for {
		select {
		case <-c.paused:
			return nil
		case <-c.wake:
			if blocked := c.watch.judge(c); blocked != nil {
				return blocked
			}
		case <-ctx.Done():
			return nil
		}
	}
}
