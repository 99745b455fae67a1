package replay

import (
	"cmp"
	"fmt"

	"github.com/duroxide/duroxide-go/internal/history"
	"github.com/duroxide/duroxide-go/provider"
)

// Limits bound what an execution may become. A value that is not positive is no limit.
type Limits struct {
	// Actions is how much a function may ask for in one turn.
	Actions int
	// Events is the number of events in a history.
	Events int
	// Bytes is the sum of the payloads in a history, in UTF-8 bytes.
	Bytes int
	// Nesting is how many sub-orchestrations with generated ids may be below each other.
	Nesting int
}

// DefaultLimits are those of a worker that was given no others.
var DefaultLimits = Limits{Actions: 10_000, Events: 50_000, Bytes: 64 << 20, Nesting: 100}

// Nearing says that a turn has reached half of a limit.
type Nearing struct {
	// What is limited, such as "events in the history".
	What         string
	Count, Limit int
}

// What the limits are about, in messages.
const (
	whatActions  = "actions in one turn"
	whatBranches = "blocks that have not ended"
	whatEvents   = "events in the history"
	whatBytes    = "bytes of payload in the history"
)

// extent is how much something takes of the limits.
type extent struct {
	// actions counts schedule events, or what will become one.
	actions int
	// actionBytes are the payloads of these, and otherBytes those of other events.
	actionBytes, otherBytes int
}

func (s extent) bytes() int { return s.actionBytes + s.otherBytes }

// plus counts an event.
func (s extent) plus(kind provider.EventKind) extent {
	if isSchedule(kind) {
		s.actions++
		s.actionBytes += payloadBytes(kind)
	} else {
		s.otherBytes += payloadBytes(kind)
	}
	return s
}

// add sums up.
func (s extent) add(t extent) extent {
	return extent{s.actions + t.actions, s.actionBytes + t.actionBytes, s.otherBytes + t.otherBytes}
}

func measure(events []provider.Event) extent {
	var s extent
	for _, event := range events {
		s = s.plus(event.Kind)
	}
	return s
}

// spend counts an action, and ends the function when it is one too many: a loop that
// asks for ever would take all memory before its turn ends. A replay asks again for
// what is recorded, which counts for nothing, and so does a dequeue that found its message:
// a loop may read what is there.
func (v *Env) spend(action Action) {
	kind := action.event(&Handle{})
	if kind == nil {
		return
	}
	v.asked = v.asked.plus(kind)
	e := v.engine
	limits := e.turn.Limits
	if actions := v.asked.actions - e.recorded.actions - e.queues.readAtOnce; limits.Actions > 0 && actions > limits.Actions {
		v.exceeded = exceeds(whatActions, actions, limits.Actions)
	} else if bytes := v.asked.actionBytes - e.recorded.actionBytes; limits.Bytes > 0 && bytes > limits.Bytes {
		v.exceeded = exceeds(whatBytes, bytes, limits.Bytes)
	} else if actions > 0 && startsGenerated(action) {
		v.exceeded = cmp.Or(v.exceeded, tooDeep(e.turn.Instance, limits.Nesting))
	}
	if v.exceeded != "" {
		v.Halt()
	}
}

// spendBranch is spend for a branch that begins: each that has not ended holds a goroutine.
func (v *Env) spendBranch() {
	limit := v.engine.turn.Limits.Actions
	if open := len(v.branches) + 1; limit > 0 && open > limit {
		v.exceeded = exceeds(whatBranches, open, limit)
		v.Halt()
	}
}

// exceeds is the message of a failure.
func exceeds(what string, count, limit int) string {
	advice := "keep the history short with ContinueAsNew"
	if what == whatActions || what == whatBranches {
		advice = "await some of them before asking for more"
	}
	return fmt.Sprintf("the orchestration has %d %s, the limit is %d; %s", count, what, limit, advice)
}

// tooDeep is the message of a failure if a child with a generated id would be nested too deep, otherwise empty.
func tooDeep(parent string, limit int) string {
	if depth := history.Nesting(parent) + 1; limit > 0 && depth > limit {
		return fmt.Sprintf("sub-orchestrations are nested %d deep, the limit is %d; see that the recursion ends", depth, limit)
	}
	return ""
}

// exceed ends the turn as Failed by a limit, without sending anything.
func (e *engine) exceed(message string) {
	if e.failure == nil {
		e.limitExceeded = true
		e.failure = provider.ApplicationFailure{Kind: provider.AppOrchestrationFailed, Message: message}
	}
}

// tooLarge names the first limit of the history that it has grown beyond.
func (e *engine) tooLarge() string {
	limits, bytes := e.turn.Limits, e.recorded.bytes()+e.grown().bytes()
	switch {
	case limits.Events > 0 && len(e.events) > limits.Events:
		return exceeds(whatEvents, len(e.events), limits.Events)
	case limits.Bytes > 0 && bytes > limits.Bytes:
		return exceeds(whatBytes, bytes, limits.Bytes)
	}
	return ""
}

// grown is what this turn adds to what is recorded.
func (e *engine) grown() extent { return measure(e.events[max(e.persisted, 1):]) }

// warn notes the limits of which this turn has reached half.
func (e *engine) warn() {
	limits, grown := e.turn.Limits, e.grown()
	for _, c := range []struct {
		what                 string
		before, after, limit int
	}{
		{whatActions, 0, grown.actions - e.queues.readAtOnce, limits.Actions},
		{whatEvents, e.persisted, len(e.events), limits.Events},
		{whatBytes, e.recorded.bytes(), e.recorded.bytes() + grown.bytes(), limits.Bytes},
	} {
		if half := (c.limit + 1) / 2; c.limit > 0 && c.before < half && c.after >= half {
			e.res.Nearing = append(e.res.Nearing, Nearing{What: c.what, Count: c.after, Limit: c.limit})
		}
	}
}

// payloadBytes is the size of an event's payload.
func payloadBytes(kind provider.EventKind) int {
	switch k := kind.(type) {
	case provider.OrchestrationStarted:
		n := len(k.Input)
		for _, carried := range k.CarryForwardEvents {
			n += len(carried.Data)
		}
		return n
	case provider.ActivityCompleted:
		return len(k.Result)
	case provider.SubOrchestrationCompleted:
		return len(k.Result)
	case provider.ActivityFailed:
		return detailBytes(k.Details)
	case provider.SubOrchestrationFailed:
		return detailBytes(k.Details)
	case provider.ExternalEvent:
		return len(k.Data)
	case provider.QueueEventDelivered:
		return len(k.Data)
	case provider.CustomStatusUpdated:
		if k.Status != nil {
			return len(*k.Status)
		}
	}
	return len(payloadOf(kind))
}

func detailBytes(details provider.ErrorDetails) int {
	if details == nil {
		return 0
	}
	bytes := len(details.DisplayMessage())
	if d, ok := details.(provider.ApplicationFailure); ok {
		bytes += len(d.FailureKind) + len(d.FailureDetails) + len(d.Heartbeat)
	}
	return bytes
}

// startsGenerated reports whether an action starts a child with a generated id.
func startsGenerated(action Action) bool {
	sub, ok := action.(CallSub)
	return ok && sub.Instance == ""
}
