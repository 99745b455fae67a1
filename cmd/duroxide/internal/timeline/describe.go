package timeline

import (
	"fmt"
	"strings"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// entry is an event in words.
type entry struct {
	// what happened, to what.
	what, subject string
	note          string
	// said is a text that people wrote for people: a reason, a failure, a status.
	said *string
	// data is the payload, nil when the kind has none.
	data *string
}

// describe puts an event into words. byID finds what an outcome belongs to.
func describe(event provider.Event, byID map[uint64]provider.Event) entry {
	switch k := event.Kind.(type) {
	case provider.OrchestrationStarted:
		return started(k)
	case provider.OrchestrationCompleted:
		return entry{what: "completed", data: &k.Output}
	case provider.OrchestrationFailed:
		if d, ok := k.Details.(provider.ApplicationFailure); ok && d.Kind == provider.AppCancelled {
			return entry{what: "cancelled", said: &d.CancelReason}
		}
		return entry{what: "failed", note: k.Details.Category(), said: message(k.Details)}
	case provider.OrchestrationContinuedAsNew:
		return entry{what: "continued as new", note: dropped(k.DroppedMessages), data: &k.Input}
	case provider.OrchestrationCancelRequested:
		return entry{what: "cancel requested", said: &k.Reason}
	case provider.OrchestrationChained:
		return entry{what: "orchestration detached", subject: k.Name, note: k.Instance, data: &k.Input}
	case provider.CustomStatusUpdated:
		return entry{what: "custom status", said: k.Status}
	case provider.KeyValueSet:
		return entry{what: "key set", subject: k.Key, data: &k.Value}
	case provider.KeyValueCleared:
		return entry{what: "key cleared", subject: k.Key}
	case provider.KeyValuesCleared:
		return entry{what: "all keys cleared"}
	}
	if e, ok := schedule(event); ok {
		return e
	}
	return outcome(event, byID)
}

func started(k provider.OrchestrationStarted) entry {
	e := entry{what: "started", subject: k.Name + " " + k.Version, data: &k.Input, note: dropped(k.DroppedMessages)}
	if k.ParentInstance != nil {
		e.note = "for " + *k.ParentInstance
		if k.DroppedMessages > 0 {
			e.note += ", " + dropped(k.DroppedMessages)
		}
	}
	return e
}

// dropped tells of queue messages that continue-as-new lost.
func dropped(messages uint64) string {
	if messages == 0 {
		return ""
	}
	return fmt.Sprintf("messages dropped: %d", messages)
}

func message(details provider.ErrorDetails) *string {
	text := details.DisplayMessage()
	return &text
}

// schedule describes what asks for something.
func schedule(event provider.Event) (e entry, ok bool) {
	switch k := event.Kind.(type) {
	case provider.ActivityScheduled:
		e = entry{what: "activity scheduled", subject: k.Name, data: &k.Input}
		if k.SessionID != nil {
			e.note = "session " + *k.SessionID
		}
	case provider.TimerCreated:
		due := time.Duration(int64(k.FireAtMs)-int64(event.TimestampMs)) * time.Millisecond
		e = entry{what: "timer created", subject: fmt.Sprintf("due in %.3f s", due.Seconds())}
	case provider.SubOrchestrationScheduled:
		e = entry{what: "sub-orchestration started", subject: k.Name, note: childID(event.InstanceID, k.Instance), data: &k.Input}
	case provider.ExternalSubscribed:
		e = entry{what: "waits for event", subject: k.Name}
	case provider.QueueSubscribed:
		e = entry{what: "waits for message", subject: k.Name}
	default:
		return entry{}, false
	}
	return e, true
}

// childID is the id by which commands find a sub-orchestration: a generated id continues its parent's.
func childID(parent, id string) string {
	if strings.HasPrefix(id, "sub::") {
		return parent + "::" + id
	}
	return id
}

// outcome describes what answers a schedule or calls it off.
func outcome(event provider.Event, byID map[uint64]provider.Event) entry {
	e := entry{what: event.Kind.Type()}
	if event.SourceEventID != nil {
		source := byID[*event.SourceEventID]
		if asked, ok := schedule(source); ok && source.Kind.Type() != (provider.TimerCreated{}).Type() {
			e.subject = asked.subject
		}
		e.note = fmt.Sprintf("← #%d", *event.SourceEventID)
		if source.Kind != nil {
			e.note += fmt.Sprintf(" after %d ms", int64(event.TimestampMs)-int64(source.TimestampMs))
		}
	}
	switch k := event.Kind.(type) {
	case provider.ActivityCompleted:
		e.what, e.data = "activity completed", &k.Result
	case provider.ActivityFailed:
		e.what, e.said = "activity failed", message(k.Details)
	case provider.ActivityCancelRequested:
		e.what, e.said = "activity called off", &k.Reason
	case provider.TimerFired:
		e.what = "timer fired"
	case provider.SubOrchestrationCompleted:
		e.what, e.data = "sub-orchestration done", &k.Result
	case provider.SubOrchestrationFailed:
		e.what, e.said = "sub-orchestration failed", message(k.Details)
	case provider.SubOrchestrationCancelRequested:
		e.what, e.said = "sub-orchestration called off", &k.Reason
	case provider.ExternalEvent:
		e.what, e.subject, e.data = "event arrived", k.Name, &k.Data
	case provider.QueueEventDelivered:
		e.what, e.subject, e.data = "message arrived", k.Name, &k.Data
	case provider.ExternalSubscribedCancelled:
		e.what, e.said = "wait called off", &k.Reason
	case provider.QueueSubscriptionCancelled:
		e.what, e.said = "wait called off", &k.Reason
	}
	return e
}
