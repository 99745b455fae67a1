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
	// At is the line that asks, empty when nobody does and without [Turn].AllPlaces.
	At string
	// Message says all of that, without any payload.
	Message string
}

// Now says what the code asks for now, for who changes it.
func (m *Misfit) Now() string {
	if m.EventID == 0 {
		return m.Message
	}
	text := fmt.Sprintf("event %d was %s, the code now asks for %s", m.EventID, m.Recorded, m.Asked)
	if m.At != "" {
		text += " at " + m.At
	}
	return text + m.Difference
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

// misfit ends the turn as Failed: the code does not fit the history. The first reason wins.
func (e *engine) misfit(m Misfit) {
	if e.failure == nil {
		e.nondeterministicf("%s", m.Message)
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
	turn.Silent = true
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

// Patched reports whether the function may take a changed path that a marker announces: always
// where the history has ended, and else where it holds the marker. The first call with a marker
// decides for the execution. The marker is a wait for an event of that name, which is given up at
// once.
func (v *Env) Patched(marker string) bool {
	v.coroutine.mustRun()
	mustBeText("a marker", marker)
	patched, known := v.patches[marker]
	if known {
		return patched
	}
	patched = v.mayMark(marker)
	if v.patches == nil {
		v.patches = map[string]bool{}
	}
	v.patches[marker] = patched
	if patched {
		v.Drop(v.Emit(WaitEvent{Name: marker}))
	}
	return patched
}

// mayMark reports whether what the function asks for next is new, or recorded as the marker.
func (v *Env) mayMark(marker string) bool {
	e := v.engine
	if e.at >= e.persisted {
		return true
	}
	before := len(v.emitted) // what it has asked for since event at
	for _, event := range e.events[e.at:e.persisted] {
		if !isSchedule(event.Kind) {
			continue
		}
		if before == 0 {
			return event.Kind == provider.ExternalSubscribed{Name: marker}
		}
		before--
	}
	return true
}
