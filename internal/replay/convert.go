package replay

import (
	"github.com/duroxide/duroxide-go/internal/history"
	"github.com/duroxide/duroxide-go/provider"
)

// convert records what the function newly asked for and reports whether there
// was anything. Waits are bound at once, so that a dequeue can be satisfied by a
// message that is already there.
func (e *engine) convert() bool {
	emitted := e.env.emitted
	e.env.emitted = nil
	for _, h := range emitted {
		if next, ok := h.action.(NextExecution); ok {
			e.next = &next
			continue
		}
		if startsGenerated(h.action) {
			h.child = history.GeneratedSuffix(e.turn.ExecutionID, e.nextEventID())
		}
		e.bind(h, e.record(nil, h.action.event(h)))
		e.pending = append(e.pending, h)
	}
	return len(emitted) > 0
}

// persistedEvent reports whether the event was recorded by an earlier turn.
func (e *engine) persistedEvent(id uint64) bool {
	return e.persisted > 0 && id <= e.events[e.persisted-1].EventID
}

// delta returns this turn's events.
func (e *engine) delta() []provider.Event { return e.events[e.persisted:] }
