// Package replay runs one turn of an orchestration: a pure function from a
// history and a batch of messages to new events and outgoing work.
//
// The orchestration function is run from its start, or goes on where an earlier turn
// suspended it; both have the same effects. What it asks
// for (an activity, a timer, a wait) is an action; an action is matched to the
// schedule event that an earlier turn recorded for it, and the results that
// history holds are handed back in the order in which they arrived. Where the
// history ends, actions become new events. So the function sees the same answers
// at the same points every time, and no side effect is started twice (contract §7.11).
//
// The function runs on a goroutine of its own that takes strict turns with the
// engine: at any time only one of them runs.
//
// Files, in reading order: turn.go (what goes in and comes out), messages.go
// (queue messages become events), engine.go (the walk along the history),
// apply.go (one event), match.go and misfit.go (does the code still fit the history), env.go
// and handle.go (the function's side), coroutine.go (the taking of turns),
// branch.go (parts of the function that run beside each other), blocked.go (functions that do not give control back),
// convert.go (actions become events), subscription.go and policy.go (waits,
// dequeues and what becomes of dropped ones), finish.go (the outcome), stuck.go (waits for nothing), effects.go
// (outgoing items and metadata), limits.go, extent.go (how much a turn and a history
// may hold), suspend.go (from one turn to the next).
package replay
