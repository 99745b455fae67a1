package sqlite

import (
	"github.com/duroxide/duroxide-go/gen/sqlitedb"
	"github.com/duroxide/duroxide-go/provider"
)

// The values of orchestrator_queue.kind: what the rules about instances without a
// row distinguish. Queries name them as numbers.
const (
	kindQueueMessage  = 0
	kindContinueAsNew = 1
	kindStart         = 2
	kindOther         = 3
)

// message is an item for the orchestrator queue, checked and encoded before the
// transaction that stores it.
type message struct {
	instance string
	kind     int64
	// body is the item's JSON.
	body string
	// notBefore is a timer's due time in milliseconds, 0 for other items.
	notBefore int64
}

// newMessage checks and encodes an item for the orchestrator queue.
func newMessage(operation string, item provider.WorkItem) (message, error) {
	body, err := encodeItem(operation, item)
	if err != nil {
		return message{}, err
	}
	m := message{instance: item.Target(), kind: kindOther, body: body}
	switch typed := item.(type) {
	case provider.ActivityExecuteItem:
		return message{}, invalid(operation,
			"ActivityExecute of instance %q belongs to the worker queue, not to the orchestrator queue", typed.Instance)
	case provider.QueueMessageItem:
		m.kind = kindQueueMessage
	case provider.ContinueAsNewItem:
		m.kind = kindContinueAsNew
	case provider.StartOrchestrationItem:
		m.kind = kindStart
	case provider.TimerFiredItem:
		if err := checkNumber(operation, "fire time", typed.FireAtMs); err != nil {
			return message{}, err
		}
		m.notBefore = int64(typed.FireAtMs)
	}
	return m, checkID(operation, "instance id", m.instance)
}

// newWork checks and encodes an item for the worker queue. The time is left to the
// transaction that stores it.
func newWork(operation string, item provider.WorkItem) (sqlitedb.EnqueueWorkParams, error) {
	body, err := encodeItem(operation, item)
	if err != nil {
		return sqlitedb.EnqueueWorkParams{}, err
	}
	activity, ok := item.(provider.ActivityExecuteItem)
	if !ok {
		return sqlitedb.EnqueueWorkParams{}, invalid(operation,
			"%s of instance %q belongs to the orchestrator queue, not to the worker queue", item.Variant(), item.Target())
	}
	if err := checkActivity(operation, activity); err != nil {
		return sqlitedb.EnqueueWorkParams{}, err
	}
	return sqlitedb.EnqueueWorkParams{
		InstanceID:  activity.Instance,
		ExecutionID: int64(activity.ExecutionID),
		ActivityID:  int64(activity.ID),
		SessionID:   activity.SessionID,
		Tag:         activity.Tag,
		WorkItem:    body,
	}, nil
}

// encodeItem encodes an item and refuses what is none: nil, and a type that is not
// one of the eleven, such as a pointer to one.
func encodeItem(operation string, item provider.WorkItem) (string, error) {
	if item == nil {
		return "", invalid(operation, "a work item is nil")
	}
	body, err := provider.EncodeWorkItem(item)
	if err != nil {
		return "", invalid(operation, "a work item of type %T cannot be encoded: %v", item, err)
	}
	return string(body), nil
}

// checkActivity checks what becomes columns. Sessions and tags may be empty, which
// is not the same as absent.
func checkActivity(operation string, activity provider.ActivityExecuteItem) error {
	if err := checkID(operation, "instance id", activity.Instance); err != nil {
		return err
	}
	if err := checkNumber(operation, "execution id", activity.ExecutionID); err != nil {
		return err
	}
	if err := checkNumber(operation, "activity id", activity.ID); err != nil {
		return err
	}
	if activity.SessionID != nil {
		if err := checkText(operation, "session id", *activity.SessionID); err != nil {
			return err
		}
	}
	if activity.Tag != nil {
		return checkText(operation, "tag", *activity.Tag)
	}
	return nil
}
