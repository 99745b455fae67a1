package replay

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duroxide/duroxide-go/internal/goroutine"
)

// BlockedError is the error of a turn whose function waited for something other than its
// context. It matches ErrBlocked. The turn has no effects and can be repeated.
type BlockedError struct {
	// For is how long the function had kept control.
	For time.Duration
	// State is what it did, in the words of Go's traces, such as "chan receive".
	State string
	// At is the line of the user's code, such as "orders/pay.go:31"; empty when the
	// function could not be found among the program's goroutines.
	At string
	// Stack is the function's whole stack.
	Stack string
}

// Error says where the function waits, and what it should do instead.
func (b *BlockedError) Error() string {
	at := b.At
	if at == "" {
		at = "an unknown line"
	}
	if b.computing() {
		return fmt.Sprintf("the orchestration function computed for %v at %s without a wait; leave long computations to activities, "+
			"and wait by Await or Select instead of asking Ready in a loop", b.For, at)
	}
	return fmt.Sprintf("the orchestration function blocked for %v on %q at %s; "+
		"it may only wait through its context, and leaves other waits to activities", b.For, b.State, at)
}

// Unwrap returns ErrBlocked.
func (b *BlockedError) Unwrap() error { return ErrBlocked }

func (b *BlockedError) computing() bool {
	return goroutine.Trace{State: b.State, Text: b.Stack}.Computing()
}

const (
	// looks is how often the watch looks before it takes a function for blocked.
	looks = 16
	// slowLooks is after how many looks a function counts as slow.
	slowLooks = 2
	// patience is how many times as long a function may take that computes: it may
	// only have got no processor.
	patience = 10
)

// watch looks at a function from time to time and counts how often in a row it found
// it in the same poll. So a function that gives control back soon costs no more than
// starting and stopping one timer a turn.
type watch struct {
	// after is when a function counts as blocked; 0 is never.
	after time.Duration
	// slow is called once, by the engine's goroutine.
	slow  func()
	timer *time.Timer
	ended atomic.Bool
	// started is the engine's.
	started bool

	mu sync.Mutex
	// poll is the poll that was seen last, and count how often in a row.
	poll  uint64
	count int

	// judged and due are the engine's: the poll that it judged last, and from which
	// count on it judges it again.
	judged uint64
	due    int
}

// start begins to look, unless it has begun.
func (w *watch) start(c *coroutine) {
	if w.after <= 0 || w.started {
		return
	}
	w.started = true
	w.mu.Lock() // look may run before timer is set
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(w.after/looks, func() { w.look(c) })
}

// look is called by the timer.
func (w *watch) look(c *coroutine) {
	poll := c.polls.Load()
	w.mu.Lock()
	defer w.mu.Unlock()
	if poll%2 == 0 || poll != w.poll {
		w.poll, w.count = poll, 0
	}
	w.count++
	if poll%2 == 1 && w.count >= slowLooks {
		c.tellEngine()
	}
	if !w.ended.Load() {
		w.timer.Reset(w.after / looks)
	}
}

func (w *watch) stop() {
	w.ended.Store(true)
	if w.timer != nil {
		w.timer.Stop()
	}
}

// judge decides what to do about a function that is still in the present poll.
func (w *watch) judge(c *coroutine) *BlockedError {
	w.mu.Lock()
	poll, count := w.poll, w.count
	w.mu.Unlock()
	if poll != c.polls.Load() || w.after <= 0 {
		return nil
	}
	if count >= slowLooks && w.slow != nil {
		w.slow()
		w.slow = nil
	}
	if poll != w.judged {
		w.judged, w.due = poll, looks+1
	}
	if count < w.due {
		return nil
	}
	w.due += looks
	blocked := &BlockedError{For: w.after * time.Duration(count-1) / looks}
	if trace, ok := stacks.of(c); ok {
		blocked.State, blocked.Stack, blocked.At = trace.State, trace.Text, trace.Place()
		if trace.Computing() && count <= patience*looks {
			return nil
		}
	}
	return blocked
}

// stacks remembers the last dump, so that many blocked functions don't stop the program
// again and again.
var stacks dumps

// dumps is the stacks of all functions of orchestrations at some time.
type dumps struct {
	mu     sync.Mutex
	at     time.Time
	traces []goroutine.Trace
}

// dumpInterval is the least time between two dumps.
const dumpInterval = 100 * time.Millisecond

// of finds the stack of the function, or of its branch that has control, by the address
// that is the first argument of its outermost call.
func (d *dumps) of(c *coroutine) (goroutine.Trace, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	mark := fmt.Sprintf("replay.(*coroutine).main(%p", c)
	if b := c.branch.Load(); b != nil {
		mark = fmt.Sprintf("replay.(*Branch).main(%p", b)
	}
	if time.Since(d.at) < dumpInterval {
		if i := d.find(mark); i >= 0 {
			return d.traces[i], true
		}
	}
	d.traces, d.at = goroutine.Traces(".main(0x"), time.Now()
	if i := d.find(mark); i >= 0 {
		return d.traces[i], true
	}
	return goroutine.Trace{}, false
}

func (d *dumps) find(mark string) int {
	return slices.IndexFunc(d.traces, func(trace goroutine.Trace) bool { return strings.Contains(trace.Text, mark) })
}
