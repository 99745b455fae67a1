// Package schedule decides which session runs. All waiting of the server goes through it, so that a test can put
// another scheduler in the place of the real one and choose every interleaving.
//
// One session runs at a time: whoever runs holds the scheduler's latch, and what the sessions share (tables, locks,
// catalog) needs no other protection. A session lets go of it only in [Scheduler.Park], [Scheduler.Outside] and
// [Scheduler.Yield].
package schedule

import (
	"context"
	"time"
)

// ID names a session.
type ID int32

// Point says where a session is when it lets others run.
type Point struct {
	Kind string // "statement", "lock", "sleep", "commit", "wait"
	What string // a statement's position, a resource, …
	Of   any    // what is asked for, in place of What where that would take long to make; valid until the next point
}

// Outcome is why a parked session goes on.
type Outcome uint8

// The outcomes.
const (
	Woken     Outcome = iota // by Unpark
	TimedOut                 // the time-out is over
	Cancelled                // the context has ended
)

// Scheduler runs sessions one at a time.
type Scheduler interface {
	// Enter waits until the session may run, and Leave lets others. Between the two the session may call the others.
	Enter(id ID)
	Leave(id ID)
	// Yield lets another session run first if the scheduler wants that. Positions of cursors may be stale after it.
	Yield(id ID, at Point)
	// Park lets others run until somebody calls Unpark for the session, the time-out is over (negative: there is none)
	// or the context ends. An Unpark that came since the session's last Park counts.
	Park(ctx context.Context, id ID, at Point, timeout time.Duration) Outcome
	Unpark(id ID)
	// Outside runs f, which may block (on the network), without the latch.
	Outside(id ID, f func())
}
