package sqlite

import (
	"github.com/duroxide/duroxide-go/gen/sqlitedb"
	"github.com/duroxide/duroxide-go/provider"
)

// The values of orchestrator_queue.kind: what the rules about instances without a
// row distinguish.
const (
	kindQueueMessage  = 0
	kindContinueAsNew = 1
	kindStart         = 2
	kindOther         = 3
)

// message is an item for the orchestrator queue, ready to be stored.
type message struct {
	instance string
	kind     int64
	body     string
	// notBefore is a timer's due time, 0 for other items.
	notBefore int64
}

// newMessage checks and encodes an item for the orchestrator queue.
func newMessage(operation string, item provider.WorkItem) (message, error) {
	m := message{kind: kindOther}
	switch typed := item.(type) {
	case nil:
		return message{}, invalid(operation, "a work item is nil")
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
	m.instance = item.Target()
	if err := checkID(operation, "instance id", m.instance); err != nil {
		return message{}, err
	}
	body, err := provider.EncodeWorkItem(item)
	if err != nil {
		return message{}, invalid(operation, "%s of instance %q cannot be encoded: %v", item.Variant(), m.instance, err)
	}
	m.body = string(body)
	return m, nil
}

// newWork checks and encodes an item for the worker queue. The time is left to the
// transaction that stores it.
func newWork(operation string, item provider.WorkItem) (sqlitedb.EnqueueWorkParams, error) {
	var none sqlitedb.EnqueueWorkParams
	if item == nil {
		return none, invalid(operation, "a work item is nil")
	}
	activity, ok := item.(provider.ActivityExecuteItem)
	if !ok {
		return none, invalid(operation,
			"%s of instance %q belongs to the orchestrator queue, not to the worker queue", item.Variant(), item.Target())
	}
	if err := checkActivity(operation, activity); err != nil {
		return none, err
	}
	body, err := provider.EncodeWorkItem(activity)
	if err != nil {
		return none, invalid(operation, "activity %d of instance %q cannot be encoded: %v", activity.ID, activity.Instance, err)
	}
	return sqlitedb.EnqueueWorkParams{
		InstanceID:  activity.Instance,
		ExecutionID: int64(activity.ExecutionID),
		ActivityID:  int64(activity.ID),
		SessionID:   activity.SessionID,
		Tag:         activity.Tag,
		WorkItem:    string(body),
	}, nil
}

// checkActivity checks what becomes columns.
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
