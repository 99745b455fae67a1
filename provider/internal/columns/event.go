package columns

import (
	"fmt"

	"github.com/duroxide/duroxide-go/provider"
)

// Event is an event as a store keeps it.
type Event struct {
	ID int64
	// Type is the wire name of its kind.
	Type string
	// Data is its JSON.
	Data string
	// Apart is the text that Data leaves out, nil for none.
	Apart *string
}

// NewEvents checks and encodes events to append. Their first texts of at least shortest bytes are kept apart; 0 is for
// a store that keeps none apart. Error: [provider.ErrInvalidArgument].
func NewEvents(operation string, events []provider.Event, shortest int) ([]Event, error) {
	rows := make([]Event, 0, len(events))
	for i, event := range events {
		if event.EventID == 0 {
			return nil, Invalid(operation, "event_id must be set by runtime: event %d of %d has none", i+1, len(events))
		}
		if err := checkNumber(operation, "event id", event.EventID); err != nil {
			return nil, err
		}
		if event.Kind == nil {
			return nil, Invalid(operation, "event %d has no kind", event.EventID)
		}
		data, apart, err := provider.EncodeEventApart(event, shortest)
		if err != nil {
			return nil, Invalid(operation, "event %d cannot be encoded: %v", event.EventID, err)
		}
		rows = append(rows, Event{ID: int64(event.EventID), Type: event.Kind.Type(), Data: string(data), Apart: apart})
	}
	return rows, nil
}

// CheckExecution refuses an execution id that no execution has.
func CheckExecution(operation string, executionID uint64) error {
	if executionID == 0 {
		return Invalid(operation, "execution id must be set: the first is 1")
	}
	return checkNumber(operation, "execution id", executionID)
}

// DecodeEvents decodes all events of an execution, or none. Who an event belongs to
// is what the row says: the JSON of older writers may be wrong about it (contract §3.2). The
// error matches [provider.ErrCorrupt] and says which event it was; whoever asked knows the instance.
func DecodeEvents(instance string, executionID uint64, rows []Event) ([]provider.Event, error) {
	events := make([]provider.Event, 0, len(rows))
	for _, row := range rows {
		event, err := provider.DecodeEventApart([]byte(row.Data), row.Apart)
		if err != nil {
			return nil, fmt.Errorf("event %d of execution %d: %w", row.ID, executionID, err)
		}
		event.InstanceID, event.ExecutionID, event.EventID = instance, executionID, uint64(row.ID)
		events = append(events, event)
	}
	return events, nil
}

// CarriedMessages counts the messages that an execution began with, by its event 1: none
// if that is missing or begins nothing. Error: [provider.ErrCorrupt].
func CarriedMessages(operation, instance string, first *string) (uint64, error) {
	if first == nil {
		return 0, nil
	}
	event, err := provider.DecodeEvent([]byte(*first))
	if err != nil {
		return 0, provider.Permanent(operation,
			fmt.Sprintf("Failed to deserialize OrchestrationStarted event of instance %s: %v", instance, err), err)
	}
	started, _ := event.Kind.(provider.OrchestrationStarted)
	return uint64(len(started.CarryForwardEvents)), nil
}

// deserializeFailed begins the text of a report of a corrupt event (contract §2.3).
const deserializeFailed = "Failed to deserialize event: "

// CorruptEvent is a stored event that cannot be decoded. It matches
// [provider.ErrCorrupt] if cause does.
func CorruptEvent(operation string, cause error) error {
	return provider.Permanent(operation, deserializeFailed+cause.Error(), cause)
}
