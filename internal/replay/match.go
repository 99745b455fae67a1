package replay

import (
	"fmt"

	"github.com/duroxide/duroxide-go/provider"
)

// isSchedule reports whether the event records something the function asked for.
func isSchedule(kind provider.EventKind) bool {
	switch kind.(type) {
	case provider.ActivityScheduled, provider.TimerCreated, provider.ExternalSubscribed,
		provider.QueueSubscribed, provider.SubOrchestrationScheduled, provider.OrchestrationChained:
		return true
	}
	return isStateChange(kind)
}

// isStateChange reports whether the event records a change of custom status or
// key-value map.
func isStateChange(kind provider.EventKind) bool {
	switch kind.(type) {
	case provider.CustomStatusUpdated, provider.KeyValueSet, provider.KeyValueCleared, provider.KeyValuesCleared:
		return true
	}
	return false
}

// matches compares what the code asks for with what is recorded: exactly the
// parts that contract §7.12 lists. Others may differ: a timer's due time, a child's
// instance and version, a status text, a time stamp.
func matches(action Action, recorded provider.EventKind) bool {
	switch a := action.(type) {
	case CallActivity:
		r, ok := recorded.(provider.ActivityScheduled)
		return ok && r.Name == a.Name && r.Input == a.Input && equal(r.SessionID, a.SessionID) && equal(r.Tag, a.Tag)
	case CreateTimer:
		_, ok := recorded.(provider.TimerCreated)
		return ok
	case WaitEvent:
		r, ok := recorded.(provider.ExternalSubscribed)
		return ok && r.Name == a.Name
	case Dequeue:
		r, ok := recorded.(provider.QueueSubscribed)
		return ok && r.Name == a.Name
	case CallSub:
		r, ok := recorded.(provider.SubOrchestrationScheduled)
		return ok && r.Name == a.Name && r.Input == a.Input
	case StartDetached:
		r, ok := recorded.(provider.OrchestrationChained)
		return ok && r == provider.OrchestrationChained{Name: a.Name, Instance: a.Instance, Input: a.Input}
	case SetStatus:
		_, ok := recorded.(provider.CustomStatusUpdated)
		return ok
	case SetKV:
		r, ok := recorded.(provider.KeyValueSet)
		return ok && r.Key == a.Key && r.Value == a.Value
	case ClearKV:
		r, ok := recorded.(provider.KeyValueCleared)
		return ok && r.Key == a.Key
	case ClearAllKV:
		_, ok := recorded.(provider.KeyValuesCleared)
		return ok
	}
	return false
}

func equal(a, b *string) bool {
	return a == b || (a != nil && b != nil && *a == *b)
}

// describe says what a recorded event is, for people who look for the change in
// their code: its kind and names, and of a payload only the size, as messages
// end up in logs.
func describe(kind provider.EventKind) string {
	switch k := kind.(type) {
	case nil:
		return "not in the history"
	case provider.ActivityScheduled:
		return fmt.Sprintf("activity %q%s with %s", k.Name, routing(k.SessionID, k.Tag), size(k.Input))
	case provider.TimerCreated:
		return "a timer"
	case provider.ExternalSubscribed:
		return fmt.Sprintf("a wait for event %q", k.Name)
	case provider.QueueSubscribed:
		return fmt.Sprintf("a dequeue from %q", k.Name)
	case provider.SubOrchestrationScheduled:
		return fmt.Sprintf("sub-orchestration %q with %s", k.Name, size(k.Input))
	case provider.OrchestrationChained:
		return fmt.Sprintf("a detached start of %q as %q with %s", k.Name, k.Instance, size(k.Input))
	case provider.CustomStatusUpdated:
		return "a custom status"
	case provider.KeyValueSet:
		return fmt.Sprintf("setting key %q to %s", k.Key, size(k.Value))
	case provider.KeyValueCleared:
		return fmt.Sprintf("clearing key %q", k.Key)
	case provider.KeyValuesCleared:
		return "clearing all keys"
	}
	return kind.Type()
}

// describeAction is describe for what the code asks for.
func describeAction(action Action) string {
	if _, ok := action.(NextExecution); ok {
		return "continue-as-new"
	}
	return describe(action.event(&Handle{}))
}

func routing(session, tag *string) string {
	text := ""
	if session != nil {
		text += fmt.Sprintf(" in session %q", *session)
	}
	if tag != nil {
		text += fmt.Sprintf(" for tag %q", *tag)
	}
	return text
}

// size says how long a payload is, without showing it.
func size(payload string) string {
	if len(payload) == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", len(payload))
}

// difference says where two payloads part, as neither may be shown. It is empty
// when something else is the difference.
func difference(action Action, recorded provider.EventKind) string {
	asked := action.event(&Handle{})
	if asked == nil || asked.Type() != recorded.Type() {
		return ""
	}
	a, b := payloadOf(asked), payloadOf(recorded)
	if a == b {
		return ""
	}
	at := 0
	for at < len(a) && at < len(b) && a[at] == b[at] {
		at++
	}
	return fmt.Sprintf("; the payloads differ from byte %d on", at)
}

// payloadOf is the text that describe gives only the size of.
func payloadOf(kind provider.EventKind) string {
	switch k := kind.(type) {
	case provider.ActivityScheduled:
		return k.Input
	case provider.SubOrchestrationScheduled:
		return k.Input
	case provider.OrchestrationChained:
		return k.Input
	case provider.KeyValueSet:
		return k.Value
	}
	return ""
}
