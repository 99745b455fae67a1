package replay

import (
	"bytes"
	"context"

	"github.com/duroxide/duroxide-go/provider"
)

// Suspended is an orchestration function that waits in the middle for its next turn. It
// serves one turn, by [Turn].Resume, or is ended by Stop. It is not for concurrent use.
type Suspended struct{ engine *engine }

// eventBytes is about what an event costs a suspended function beside its payload: the
// event, and what the engine and the function know of what it schedules. entryBytes is
// about what a function costs that does nothing, most of it its stack. Both are measured
// by BenchmarkSuspended.
const (
	eventBytes = 300
	entryBytes = 8 << 10
)

// Bytes estimates how much memory it holds, without what the function itself has made.
func (s *Suspended) Bytes() int {
	return entryBytes*(1+len(s.engine.env.branches)) + eventBytes*len(s.engine.events) + s.engine.recorded.bytes()
}

// ExecutionID is the execution it belongs to.
func (s *Suspended) ExecutionID() uint64 { return s.engine.turn.ExecutionID }

// Events is the number of events it knows. None of them ends the execution.
func (s *Suspended) Events() int { return len(s.engine.events) }

// LastEventID is the id of the last event it knows.
func (s *Suspended) LastEventID() uint64 { return s.engine.nextEventID() - 1 }

// Extend makes the whole history of the events that it knows and those that a store has
// sent: all, when from is 0, or those from event from on. It reports false when these are
// not the same history, or leave a gap; then it cannot go on. The history is valid until
// Stop or the end of the turn that it serves.
func (s *Suspended) Extend(from uint64, sent []provider.Event) (history []provider.Event, ok bool) {
	known := s.engine.events
	at := len(known) - 1 // where the last known event is among those sent
	switch {
	case from == 0 && (len(sent) == 0 || !same(known[0], sent[0])):
		return nil, false
	case from != 0:
		at = 0
	}
	if at >= len(sent) || !same(known[len(known)-1], sent[at]) {
		return nil, false
	}
	return append(known, sent[at+1:]...), true
}

// same compares two events as they are stored: an instance that was deleted and started
// again has others under the same ids.
func same(a, b provider.Event) bool {
	x, errA := provider.EncodeEvent(a)
	y, errB := provider.EncodeEvent(b)
	return errA == nil && errB == nil && bytes.Equal(x, y)
}

// Stop ends the function: its deferred calls run. If they block it returns when ctx ends
// or, with an error, when it has seen enough of that.
func (s *Suspended) Stop(ctx context.Context) *BlockedError { return s.engine.coroutine.stop(ctx) }

// suspendable reports whether the next turn can go on where this one ends. Under the legacy
// policy what a turn dropped comes back in a replay for a while (see policy.go), so such an
// execution always replays.
func (e *engine) suspendable() bool {
	return e.outcome == Continue && e.exact && e.coroutine.started && !e.alreadyEnded()
}

// suspend ends the turn and lets go of what belongs to it alone.
func (e *engine) suspend() *Suspended {
	e.coroutine.rest()
	e.recorded = e.recorded.add(e.grown())
	e.known = len(e.events)
	e.pending, e.cancelledChildren, e.env.dropped = nil, nil, nil
	e.res = Result{}
	e.turn = Turn{Instance: e.turn.Instance, ExecutionID: e.turn.ExecutionID, NowMs: e.turn.NowMs}
	return &Suspended{engine: e}
}

// resume begins the next turn.
func (s *Suspended) resume(turn Turn) *engine {
	e := s.engine
	e.turn, e.events, e.persisted = turn, turn.History, len(turn.History)
	e.recorded = e.recorded.add(measure(e.events[e.known:]))
	e.queues.beginTurn(e.nextEventID())
	e.coroutine.begin(turn.UsedLate, turn.BlockedAfter, turn.Slow)
	return e
}
