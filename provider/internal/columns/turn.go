package columns

import (
	"fmt"
	"slices"

	"github.com/duroxide/duroxide-go/provider"
)

// TurnResult is what a turn changes (contract §5.2), checked and encoded. Its texts are as
// [Text] makes them, so that a column says what the turn's events say.
type TurnResult struct {
	Token     string
	Execution int64
	Metadata  provider.ExecutionMetadata
	// Code is that of the execution, nil for any or when the metadata names none.
	Code    *provider.CodeName
	History []Event
	// CustomStatus is the turn's last update of the custom status, if any (step 9).
	CustomStatus *provider.CustomStatusUpdated
	// Values are the turn's changes of the key-value map, in order (step 10).
	Values    []provider.EventKind
	Work      []Work
	Messages  []Message
	Cancelled []provider.ActivityRef
	// DropTimers is that of the arguments, and Queues as well.
	DropTimers bool
	Queues     *provider.QueueReads
}

// NewTurnResult checks and encodes what a turn hands in, with shortest as in [NewEvents], all but whether its
// execution id is set: a lost lock is reported first. Error:
// [provider.ErrInvalidArgument].
func NewTurnResult(operation string, params provider.AckOrchestrationParams, shortest int) (*TurnResult, error) {
	r := &TurnResult{Token: params.LockToken, Metadata: params.Metadata, DropTimers: params.DropTimers}
	r.Metadata.OrchestrationName = optionalText(params.Metadata.OrchestrationName)
	r.Metadata.OrchestrationVersion = optionalText(params.Metadata.OrchestrationVersion)
	r.Metadata.Output = optionalText(params.Metadata.Output)
	if m := r.Metadata; m.OrchestrationName != nil && m.OrchestrationVersion != nil {
		r.Code = NewCode(*m.OrchestrationName, *m.OrchestrationVersion)
	}
	if err := checkNumber(operation, "execution id", params.ExecutionID); err != nil {
		return nil, err
	}
	r.Execution = int64(params.ExecutionID)
	if err := checkMetadata(operation, params.Metadata); err != nil {
		return nil, err
	}
	var err error
	if r.History, err = NewEvents(operation, params.HistoryDelta, shortest); err != nil {
		return nil, err
	}
	r.readEvents(params.HistoryDelta)
	for _, item := range params.WorkerItems {
		w, err := NewWork(operation, item, shortest)
		if err != nil {
			return nil, err
		}
		r.Work = append(r.Work, w)
	}
	for _, item := range params.OrchestratorItems {
		m, err := NewMessage(operation, item, shortest)
		if err != nil {
			return nil, err
		}
		r.Messages = append(r.Messages, m)
	}
	if r.Cancelled, err = cancelled(operation, params.CancelledActivities); err != nil {
		return nil, err
	}
	r.Queues, err = queueReads(operation, params.Queues)
	return r, err
}

// queueReads checks what a turn did with queue messages.
func queueReads(operation string, q *provider.QueueReads) (*provider.QueueReads, error) {
	if q == nil {
		return nil, nil //nolint:nilnil // nothing was said
	}
	reads := &provider.QueueReads{Read: map[string]int{}}
	for queue, n := range q.Read {
		if n < 0 {
			return nil, Invalid(operation, "%d messages of queue %q were read", n, queue)
		}
		if n > 0 {
			reads.Read[Text(queue)] += n
		}
	}
	for _, queue := range q.Awaited {
		reads.Awaited = append(reads.Awaited, Text(queue))
	}
	return reads, nil
}

// cancelled checks the activities to cancel. Those of an instance that cannot be are
// left out: there is nothing to cancel.
func cancelled(operation string, activities []provider.ActivityRef) ([]provider.ActivityRef, error) {
	var list []provider.ActivityRef
	for _, a := range activities {
		if err := checkNumber(operation, "execution id", a.ExecutionID); err != nil {
			return nil, err
		}
		if err := checkNumber(operation, "activity id", a.ActivityID); err != nil {
			return nil, err
		}
		if CheckID(operation, "instance id", a.Instance) == nil {
			list = append(list, a)
		}
	}
	return list, nil
}

// checkMetadata checks what becomes columns.
func checkMetadata(operation string, m provider.ExecutionMetadata) error {
	if v := m.PinnedDuroxideVersion; v != nil {
		if err := checkNumber(operation, "pinned version", max(v.Major, v.Minor, v.Patch)); err != nil {
			return err
		}
	}
	if s := m.Status; s != nil && *s != provider.StatusRunning && !s.Terminal() {
		return Invalid(operation, "status %q is none that an execution can have", *s)
	}
	if m.ParentInstanceID != nil {
		return CheckID(operation, "parent instance id", *m.ParentInstanceID)
	}
	return nil
}

// readEvents picks out the events that change more than the history.
func (r *TurnResult) readEvents(events []provider.Event) {
	for _, event := range events {
		switch kind := event.Kind.(type) {
		case provider.CustomStatusUpdated:
			kind.Status = optionalText(kind.Status)
			r.CustomStatus = &kind
		case provider.KeyValueSet:
			kind.Key, kind.Value = Text(kind.Key), Text(kind.Value)
			r.Values = append(r.Values, kind)
		case provider.KeyValueCleared:
			kind.Key = Text(kind.Key)
			r.Values = append(r.Values, kind)
		case provider.KeyValuesCleared:
			r.Values = append(r.Values, kind)
		}
	}
}

// OrUnknown is the version to report for one that may not have been recorded.
func OrUnknown(version *string) string {
	if version == nil {
		return provider.UnknownVersion
	}
	return *version
}

// NameFromStart takes name and version from the first message that starts an
// execution, wherever it stands in the batch, and reports whether there
// is one.
func NameFromStart(item *provider.OrchestrationItem) bool {
	for _, m := range item.Messages {
		switch m := m.(type) {
		case provider.StartOrchestrationItem:
			item.OrchestrationName, item.Version = m.Orchestration, OrUnknown(m.Version)
			return true
		case provider.ContinueAsNewItem:
			item.OrchestrationName, item.Version = m.Orchestration, OrUnknown(m.Version)
			return true
		}
	}
	return false
}

// NameFromHistory takes name and version from the history's start event. If that
// cannot be decoded, DecodeHistory will say so.
func NameFromHistory(item *provider.OrchestrationItem, history []Event) {
	for _, row := range history {
		event, err := provider.DecodeEvent([]byte(row.Data))
		if err != nil {
			return
		}
		if started, ok := event.Kind.(provider.OrchestrationStarted); ok {
			item.OrchestrationName, item.Version = started.Name, started.Version
			return
		}
	}
}

// OnlyQueueMessages reports whether nothing but mailbox messages has arrived.
func OnlyQueueMessages(messages []provider.WorkItem) bool {
	return !slices.ContainsFunc(messages, func(m provider.WorkItem) bool {
		_, ok := m.(provider.QueueMessageItem)
		return !ok
	})
}

// DecodeHistory gives the item its history, or says why that is impossible: then the
// item carries neither history nor snapshot, and the lock stands, so that the runtime
// can count the attempts and in the end fail the instance (contract §5.1).
func DecodeHistory(item *provider.OrchestrationItem, history []Event) {
	events, err := DecodeEvents(item.Instance, item.ExecutionID, history)
	if err != nil {
		item.HistoryError = fmt.Errorf("%s%w", deserializeFailed, err)
		item.KVSnapshot, item.HistoryFrom = nil, 0
		return
	}
	item.History = events
}
