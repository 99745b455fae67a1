package replay

import (
	"context"
	"fmt"
	"strings"

	"github.com/duroxide/duroxide-go/provider"
)

// Misfit is where the code stops fitting a recorded history.
type Misfit struct {
	// EventID is the recorded event that the code does not ask for, 0 when it is something else
	// that does not fit; then there is only the message.
	EventID uint64
	// Recorded is what the event is, and Asked what the code asks for there.
	Recorded, Asked string
	// Difference, if not empty, says where the payloads of the two part.
	Difference string
	// At is the line that asks, empty when nobody does and when the turn did not ask for places.
	At string
	// Message says all of that, without any payload.
	Message string
}

// misfitAt ends the turn at a recorded event.
func (e *engine) misfitAt(event provider.Event, asked *Handle) {
	m := Misfit{EventID: event.EventID, Recorded: describe(event.Kind), Asked: "nothing"}
	if asked != nil {
		m.Asked, m.At, m.Difference = describeAction(asked.action), asked.at, difference(asked.action, event.Kind)
	}
	m.Message = fmt.Sprintf("history has event %d, %s, where the code asks for %s", m.EventID, m.Recorded, m.Asked)
	if m.At != "" {
		m.Message += " at " + m.At
	}
	m.Message += m.Difference
	e.misfit(m)
}

func (e *engine) misfit(m Misfit) {
	if e.failure == nil {
		e.failure = provider.Configuration{Kind: provider.Nondeterminism, Message: &m.Message}
		e.res.Misfit = &m
	}
}

// places are the lines that asked for what was recorded in this turn.
func (e *engine) places() map[uint64]string {
	places := map[uint64]string{}
	for _, h := range e.pending {
		places[h.eventID] = h.at
	}
	return places
}

// Check replays a recorded history and does nothing else: Result.Misfit says where the code no
// longer fits, nil when it fits all of it. What the code asks for beyond the history is as free as
// in a turn. Of an execution that has ended, the end is left out, and Result.Outcome is free.
func Check(ctx context.Context, turn Turn) (*Result, error) {
	n := beforeTheEnd(turn.History)
	turn.ended = n < len(turn.History)
	turn.History = turn.History[:n]
	turn.Places, turn.Silent = true, true
	return Run(ctx, turn)
}

// beforeTheEnd is the number of events that come before those which end the execution.
func beforeTheEnd(history []provider.Event) int {
	for i, event := range history {
		if reason, _ := droppedReason(event.Kind); event.Terminal() || strings.HasPrefix(reason, reasonTerminal) {
			return i
		}
	}
	return len(history)
}
