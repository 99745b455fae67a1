package columns

import (
	"github.com/duroxide/duroxide-go/provider"
)

// The kinds of messages that the rules about instances without a row distinguish
// (contract §5.1). Scripts and queries name them as numbers.
const (
	KindQueueMessage  = 0
	KindContinueAsNew = 1
	KindStart         = 2
	KindOther         = 3
	// KindWaiting is a queue message that does not make its instance fetchable. The store chooses
	// between it and KindQueueMessage.
	KindWaiting = 4
)

// Message is an item for the orchestrator queue, checked and encoded.
type Message struct {
	Instance string
	// Kind is one of the constants above.
	Kind int64
	// Queue is that of a queue message, nil for other items.
	Queue *string
	// Body is the item's JSON, and Apart the text that it leaves out, nil for none.
	Body  string
	Apart *string
	// Code is what a message that starts an execution needs, nil for any.
	Code *provider.CodeName
	// NotBefore is a timer's due time in milliseconds, 0 for other items.
	NotBefore int64
}

// NewMessage checks and encodes an item for the orchestrator queue, with shortest as in [NewEvents]. Error:
// [provider.ErrInvalidArgument].
func NewMessage(operation string, item provider.WorkItem, shortest int) (Message, error) {
	body, apart, err := encodeItem(operation, item, shortest)
	if err != nil {
		return Message{}, err
	}
	m := Message{Instance: item.Target(), Kind: KindOther, Body: body, Apart: apart}
	switch typed := item.(type) {
	case provider.ActivityExecuteItem:
		return Message{}, Invalid(operation,
			"ActivityExecute of instance %q belongs to the worker queue, not to the orchestrator queue", typed.Instance)
	case provider.QueueMessageItem:
		m.Kind, m.Queue = KindQueueMessage, new(Text(typed.Name))
	case provider.ContinueAsNewItem:
		m.Kind, m.Code = KindContinueAsNew, newStartCode(typed.Orchestration, typed.Version)
	case provider.StartOrchestrationItem:
		m.Kind, m.Code = KindStart, newStartCode(typed.Orchestration, typed.Version)
	case provider.CancelInstanceItem:
		m.Code = &provider.CodeName{Name: CancelCode}
	case provider.TimerFiredItem:
		if err := checkNumber(operation, "fire time", typed.FireAtMs); err != nil {
			return Message{}, err
		}
		m.NotBefore = int64(typed.FireAtMs)
	}
	return m, CheckID(operation, "instance id", m.Instance)
}

// NewCompletion checks and encodes what ends an activity (contract §5.11); nil, which is no
// completion, gives an empty message. Error: [provider.ErrInvalidArgument].
func NewCompletion(operation string, completion provider.WorkItem, shortest int) (Message, error) {
	switch completion.(type) {
	case nil:
		return Message{}, nil
	case provider.ActivityCompletedItem, provider.ActivityFailedItem:
		return NewMessage(operation, completion, shortest)
	}
	return Message{}, Invalid(operation, "an activity ends with ActivityCompleted or ActivityFailed, not with %T", completion)
}

// Work is an activity for the worker queue, checked and encoded.
type Work struct {
	Instance              string
	ExecutionID, Activity int64
	// Session and Tag are nil for none, which is not the same as empty.
	Session, Tag *string
	// Code is what the activity needs, nil for any.
	Code *provider.CodeName
	// Body is the item's JSON, and Apart the text that it leaves out, nil for none.
	Body  string
	Apart *string
}

// NewWork checks and encodes an item for the worker queue, with shortest as in [NewEvents]. Error:
// [provider.ErrInvalidArgument].
func NewWork(operation string, item provider.WorkItem, shortest int) (Work, error) {
	body, apart, err := encodeItem(operation, item, shortest)
	if err != nil {
		return Work{}, err
	}
	activity, ok := item.(provider.ActivityExecuteItem)
	if !ok {
		return Work{}, Invalid(operation,
			"%s of instance %q belongs to the orchestrator queue, not to the worker queue", item.Variant(), item.Target())
	}
	if err := checkActivity(operation, activity); err != nil {
		return Work{}, err
	}
	return Work{
		Instance: activity.Instance, ExecutionID: int64(activity.ExecutionID), Activity: int64(activity.ID),
		Session: activity.SessionID, Tag: activity.Tag, Code: NewCode(activity.Name, ""), Body: body, Apart: apart,
	}, nil
}

// encodeItem encodes an item and refuses what is none: nil, and a type that is not
// one of the eleven, such as a pointer to one.
func encodeItem(operation string, item provider.WorkItem, shortest int) (string, *string, error) {
	if item == nil {
		return "", nil, Invalid(operation, "a work item is nil")
	}
	body, apart, err := provider.EncodeWorkItemApart(item, shortest)
	if err != nil {
		return "", nil, Invalid(operation, "a work item of type %T cannot be encoded: %v", item, err)
	}
	return string(body), apart, nil
}

// checkActivity checks what becomes columns. Sessions and tags may be empty, which
// is not the same as absent.
func checkActivity(operation string, activity provider.ActivityExecuteItem) error {
	if err := CheckID(operation, "instance id", activity.Instance); err != nil {
		return err
	}
	if err := checkNumber(operation, "execution id", activity.ExecutionID); err != nil {
		return err
	}
	if err := checkNumber(operation, "activity id", activity.ID); err != nil {
		return err
	}
	if activity.SessionID != nil {
		if err := CheckText(operation, "session id", *activity.SessionID); err != nil {
			return err
		}
	}
	if activity.Tag != nil {
		return CheckText(operation, "tag", *activity.Tag)
	}
	return nil
}
