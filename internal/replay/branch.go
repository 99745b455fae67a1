package replay

import (
	"slices"

	"github.com/duroxide/duroxide-go/internal/goroutine"
)

// Branch is a part of the function that runs beside the rest. It has a goroutine of its
// own, which takes strict turns with the others of the function: a branch runs from its
// start to its first wait, and goes on from a wait while the function itself waits. To the
// engine they are all one function.
type Branch struct {
	env *Env
	fn  func()
	// parent is the branch that started it, nil for the function itself.
	parent *Branch
	// at is the line that started it, empty unless the turn asks for places.
	at string
	// resume hands control to the branch, and paused hands it back, once for every resume.
	resume, paused chan struct{}
	// ready is what it waits for.
	ready func() bool
	// asked are the handles that it may still be interested in, which a drop gives up, and
	// tidyAt is how many they may be before those that were read are left out.
	asked  []*Handle
	tidyAt int

	begun, ended bool
	// entered means that it has control, or waits for a branch that it has just started.
	entered bool
	// stopped means that it unwinds when it next uses its Env.
	stopped bool
	// read means that the function has seen that the branch has ended, and dropped that the
	// function no longer wants to know.
	read, dropped bool
}

// Go runs fn as a branch until its first wait. A branch that panics fails the function.
func (v *Env) Go(fn func()) *Branch {
	v.coroutine.mustRun()
	b := &Branch{env: v, fn: fn, parent: v.coroutine.branch.Load(), resume: make(chan struct{}), paused: make(chan struct{})}
	if v.engine.turn.Places || v.engine.turn.AllPlaces {
		b.at = v.place(b.parent)
	}
	v.spendBranch()
	v.branches = append(v.branches, b)
	b.run()
	for n := len(v.branches); n > 0 && v.branches[n-1].ended; n-- {
		v.branches = v.branches[:n-1] // a loop that starts branches for ever is not to keep those that ended at once
	}
	return b
}

// Ready reports whether the branch has ended, which counts as seeing it. One that was
// dropped is never ready.
func (b *Branch) Ready() bool {
	b.env.coroutine.mustOwn()
	b.read = b.read || b.ended && !b.dropped
	return b.read
}

// Dropped reports whether the branch was dropped by a select.
func (b *Branch) Dropped() bool {
	b.env.coroutine.mustOwn()
	return b.dropped
}

// run is enter for a branch that is not unwinding: its panic ends its caller, too, who may
// also have been ended meanwhile, and what it halts goes on nowhere.
func (b *Branch) run() {
	b.enter()
	if b.env.coroutine.panic != nil {
		unwind()
	}
	b.env.coroutine.mustRun()
	if b.env.halted {
		b.env.WaitUntil(func() bool { return false })
	}
}

// enter gives control to the branch until it waits or ends.
func (b *Branch) enter() {
	c := b.env.coroutine
	caller, owner := c.branch.Load(), c.owner.Load()
	b.entered = true
	c.branch.Store(b)
	if b.begun {
		b.resume <- struct{}{}
	} else {
		b.begun = true
		go b.main()
	}
	<-b.paused
	c.branch.Store(caller)
	c.owner.Store(owner)
	b.entered = false
}

// main is the branch's goroutine.
func (b *Branch) main() {
	c := b.env.coroutine
	c.owner.Store(uintptr(goroutine.Current()))
	returned := false
	defer func() {
		b.ended = true
		b.paused <- struct{}{}
	}()
	defer func() {
		// A branch that unwinds has not returned. Only when it was dropped, its deferred calls are still
		// part of the function.
		if value := recover(); !returned && (!b.stopped || b.dropped && value != nil) {
			c.fail(value)
		}
	}()
	b.fn()
	returned = true
}

// wait hands control back until what the branch waits for is there.
func (b *Branch) wait(ready func() bool) {
	b.ready = ready
	b.paused <- struct{}{}
	<-b.resume
	b.env.coroutine.owner.Store(uintptr(goroutine.Current()))
}

// runBranches lets each branch go on that has what it waits for, in the order of their
// starts, and reports whether there was one. It is called by the function itself.
func (v *Env) runBranches() bool {
	progress := false
	for i := 0; i < len(v.branches) && !v.halted; i++ {
		if b := v.branches[i]; !b.ended && b.ready() {
			b.run()
			progress = true
		}
	}
	v.branches = slices.DeleteFunc(v.branches, func(b *Branch) bool { return b.ended })
	return progress
}

// DropBranch gives a branch up, with all it has asked for and the branches it has started:
// its deferred calls run, and it asks for nothing more. Dropping one whose end was seen has
// no effect.
func (v *Env) DropBranch(b *Branch) {
	v.coroutine.mustRun()
	b.drop()
}

func (b *Branch) drop() {
	if b.read || b.dropped {
		return
	}
	b.dropped = true
	for _, child := range slices.Clone(b.env.branches) {
		if child.parent == b {
			child.drop()
		}
	}
	b.stop()
	if b.env.coroutine.panic != nil {
		unwind()
	}
	for _, h := range b.asked {
		b.env.drop(h)
	}
}

// stop unwinds the branch. One that drops itself unwinds when it next uses its Env.
func (b *Branch) stop() {
	b.stopped = true
	if !b.ended && !b.entered {
		b.enter()
	}
}

// stopBranches unwinds all branches, when the function itself ends.
func (v *Env) stopBranches() {
	for len(v.branches) > 0 {
		b := v.branches[0]
		v.branches = v.branches[1:]
		b.stop()
	}
}

// asks notes a handle of the branch, to be given up with it.
func (b *Branch) asks(h *Handle) {
	switch h.action.(type) {
	case CallActivity, CallSub, CreateTimer, WaitEvent, Dequeue:
	default:
		return
	}
	if len(b.asked) >= b.tidyAt {
		b.asked = slices.DeleteFunc(b.asked, func(h *Handle) bool { return h.read || h.dropped })
		b.tidyAt = 2*len(b.asked) + 16
	}
	b.asked = append(b.asked, h)
}
