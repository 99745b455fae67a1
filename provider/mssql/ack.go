package mssql

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// opAckOrchestration labels the acknowledgement's errors.
const opAckOrchestration = "ack_orchestration_item"

// AckOrchestrationItem implements [provider.Provider]: one call of one
// procedure, so all of the turn's effects become durable together, or none does.
//
// When the connection is lost before the answer the error is retryable and the outcome
// unknown. Repeating the call is safe: if the first did its work, the second is
// answered with [provider.ErrInvalidLockToken].
//
// Errors, the first that applies: [provider.ErrInvalidLockToken], [provider.ErrLockExpired],
// [provider.ErrInvalidArgument], [provider.ErrDuplicateEvent]. After the last two the
// lock is still held.
func (s *Store) AckOrchestrationItem(ctx context.Context, params provider.AckOrchestrationParams) error {
	ack, err := newTurnAck(params)
	if err != nil {
		return err
	}
	var turn mssqldb.AckOrchestrationItemTurnRow
	err = s.call(ctx, opAckOrchestration, once, func(ctx context.Context, q *mssqldb.Queries) error {
		result, err := q.AckOrchestrationItem(ctx, ack.AckOrchestrationItemParams)
		turn = result.Turn
		return err
	})
	if err != nil {
		return ack.explained(err)
	}
	s.published(ack.AckOrchestrationItemParams, turn, provider.Claimed{})
	return nil
}

// turnAck is an acknowledgement, as the procedure takes it.
type turnAck struct {
	mssqldb.AckOrchestrationItemParams

	// refusal is what is wrong with the turn.
	refusal error
}

// newTurnAck makes an acknowledgement. Error: [provider.ErrInvalidLockToken].
func newTurnAck(params provider.AckOrchestrationParams) (ack turnAck, err error) {
	lease, ok := cutTurnToken(params.LockToken)
	if !ok {
		return ack, unknownToken(opAckOrchestration)
	}
	if ack.AckOrchestrationItemParams, ack.refusal = newAck(params); ack.refusal != nil {
		// The procedure refuses execution 0 as well, once it has looked for the token: a
		// lost lock is what the caller must hear of first.
		ack.AckOrchestrationItemParams = mssqldb.AckOrchestrationItemParams{}
	}
	ack.InstanceID, ack.LockToken = lease.instance, lease.secret
	return ack, nil
}

// explained is the acknowledgement's error, or what was wrong before it was sent.
func (a turnAck) explained(err error) error {
	if a.refusal != nil && errors.Is(err, provider.ErrInvalidArgument) {
		return a.refusal
	}
	return err
}

// unlessZero leaves a parameter to its default, which is the zero value: what is not sent costs nothing.
func unlessZero[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// newAck makes the procedure's arguments of a turn's result. Error:
// [provider.ErrInvalidArgument].
func newAck(params provider.AckOrchestrationParams) (mssqldb.AckOrchestrationItemParams, error) {
	r, err := columns.NewTurnResult(opAckOrchestration, params, 0)
	if err != nil {
		return mssqldb.AckOrchestrationItemParams{}, err
	}
	ack := mssqldb.AckOrchestrationItemParams{
		ExecutionID: r.Execution, Output: storedText(r.Metadata.Output), DropTimers: unlessZero(r.DropTimers),
	}
	for _, step := range []func(*mssqldb.AckOrchestrationItemParams, *columns.TurnResult) error{
		putMetadata, putEvents, putValues, putMessages, putWork, putQueues,
	} {
		if err := step(&ack, r); err != nil {
			return ack, err
		}
	}
	return ack, nil
}

// putMetadata fills in the facts about the instance and the execution.
func putMetadata(ack *mssqldb.AckOrchestrationItemParams, r *columns.TurnResult) (err error) {
	m := r.Metadata
	// Names are not compared, so blanks at their end are no matter.
	ack.Name, ack.Version = storedText(m.OrchestrationName), storedText(m.OrchestrationVersion)
	ack.CodeName, ack.CodeVersion = storedCode(r.Code)
	if ack.ParentInstanceID, err = storedOptional(opAckOrchestration, "parent instance id", m.ParentInstanceID); err != nil {
		return err
	}
	if v := m.PinnedDuroxideVersion; v != nil {
		ack.Major, ack.Minor, ack.Patch = new(int64(v.Major)), new(int64(v.Minor)), new(int64(v.Patch))
	}
	if m.Status != nil {
		ack.Status = new(string(*m.Status))
	}
	if r.CustomStatus != nil {
		ack.SetCustomStatus, ack.CustomStatus = new(true), storedText(r.CustomStatus.Status)
	}
	return nil
}

// putEvents fills in the history.
func putEvents(ack *mssqldb.AckOrchestrationItemParams, r *columns.TurnResult) error {
	ack.Events = eventRows(r.History)
	return nil
}

// eventRows makes a table argument of events.
func eventRows(events []columns.Event) []mssqldb.EventListV1Row {
	rows := make([]mssqldb.EventListV1Row, len(events))
	for i, event := range events {
		rows[i] = mssqldb.EventListV1Row{
			Position: int32(i), EventID: event.ID, EventType: event.Type, EventData: event.Data, DataBytes: int64(len(event.Data)),
		}
	}
	return rows
}

// putValues fills in the changes of the key-value map. Of several changes of a key the
// last counts, and clearing all makes those before it pointless: so each key is sent
// once, and the order does not matter any more.
func putValues(ack *mssqldb.AckOrchestrationItemParams, r *columns.TurnResult) error {
	at := map[string]int{}
	for _, kind := range r.Values {
		var row mssqldb.KVListV1Row
		var key string
		switch change := kind.(type) {
		case provider.KeyValuesCleared:
			ack.ClearValues, ack.Changes = new(true), nil
			clear(at)
			continue
		case provider.KeyValueSet:
			key, row.Value, row.ValueBytes = change.Key, storedText(&change.Value), int64(len(change.Value))
			row.LastUpdatedAtMs = new(columns.Clamp(change.LastUpdatedAtMs))
		case provider.KeyValueCleared:
			key = change.Key
		}
		var err error
		if row.KVKey, err = storedKey(opAckOrchestration, "key", key); err != nil {
			return err
		}
		i, known := at[key]
		if !known {
			i = len(ack.Changes)
			at[key] = i
			ack.Changes = append(ack.Changes, row)
		}
		row.Position = int32(i)
		ack.Changes[i] = row
	}
	return nil
}

// putMessages fills in what goes to instances.
func putMessages(ack *mssqldb.AckOrchestrationItemParams, r *columns.TurnResult) (err error) {
	ack.Messages = make([]mssqldb.MessageListV1Row, len(r.Messages))
	for i, m := range r.Messages {
		row := &ack.Messages[i]
		*row = mssqldb.MessageListV1Row{Position: int32(i), Kind: uint8(m.Kind), WorkItem: m.Body, DelayMs: untilDue(m)}
		row.Name, row.Version = storedCode(m.Code)
		row.Queue = storedQueue(m.Queue)
		if row.InstanceID, err = storedID(opAckOrchestration, m.Instance); err != nil {
			return err
		}
	}
	return nil
}

// putWork fills in the activities to queue and those to cancel. An id that no
// activity can have cancels nothing.
func putWork(ack *mssqldb.AckOrchestrationItemParams, r *columns.TurnResult) (err error) {
	ack.Activities = make([]mssqldb.WorkListV1Row, len(r.Work))
	for i, work := range r.Work {
		if ack.Activities[i], err = workRow(opAckOrchestration, work); err != nil {
			return err
		}
		ack.Activities[i].Position = int32(i)
	}
	for i, a := range r.Cancelled {
		if id, ok := lookupID(a.Instance); ok {
			ack.Cancelled = append(ack.Cancelled, mssqldb.ActivityListV1Row{
				Position: int32(i), InstanceID: id, ExecutionID: int64(a.ExecutionID), ActivityID: int64(a.ActivityID),
			})
		}
	}
	return nil
}

// putQueues fills in what the turn did with queue messages.
func putQueues(ack *mssqldb.AckOrchestrationItemParams, r *columns.TurnResult) error {
	if r.Queues == nil {
		return nil
	}
	ack.Peeked = new(true)
	queues := map[string]*mssqldb.QueueListV1Row{}
	row := func(queue string) *mssqldb.QueueListV1Row {
		if queues[queue] == nil {
			queues[queue] = &mssqldb.QueueListV1Row{Queue: *storedQueue(&queue)}
		}
		return queues[queue]
	}
	for queue, n := range r.Queues.Read {
		row(queue).Messages = int64(n)
	}
	for _, queue := range r.Queues.Awaited {
		row(queue).Awaited = true
	}
	for i, queue := range slices.Sorted(maps.Keys(queues)) {
		queues[queue].Position = int32(i)
		ack.Queues = append(ack.Queues, *queues[queue])
	}
	return nil
}

// published wakes whom a turn that was committed concerns, except for what the same call
// has taken of it.
func (s *Store) published(ack mssqldb.AckOrchestrationItemParams, turn mssqldb.AckOrchestrationItemTurnRow, taken provider.Claimed) {
	ready, instance := 0, restored(turn.InstanceID)
	next := "" // the instance whose turn was taken, in its stored form
	if taken.Turn != nil {
		next = stored(taken.Turn.Item.Instance)
	}
	if ms := turn.ReadyInMs; ms != nil {
		// Because of what arrived while it was locked, or what the turn sent to itself.
		switch {
		case *ms > 0:
			s.sent(*ms)
		case turn.InstanceID != next:
			ready++
			s.instances.marks.putBack() // a message that has waited may be old
		}
	}
	for i := range ack.Messages {
		switch m := &ack.Messages[i]; {
		case m.DelayMs > 0:
			s.sent(m.DelayMs)
		case m.InstanceID != turn.InstanceID && m.InstanceID != next:
			ready++
		}
	}
	s.signalInstances(ready)
	s.signalActivities(len(ack.Activities) - countTaken(ack.Activities, taken.Work))
	if ack.Status != nil && provider.Status(*ack.Status).Ended() {
		s.announceEnd(instance)
	} else {
		s.changes.Announce(instance)
	}
}

// countTaken is how many of the activities were taken.
func countTaken(activities []mssqldb.WorkListV1Row, taken []provider.ClaimedWork) (n int) {
	for _, work := range taken {
		item, _ := work.Item.(provider.ActivityExecuteItem)
		if slices.ContainsFunc(activities, func(row mssqldb.WorkListV1Row) bool {
			return row.ActivityID == int64(item.ID) && row.ExecutionID == int64(item.ExecutionID) && row.InstanceID == stored(item.Instance)
		}) {
			n++
		}
	}
	return n
}
