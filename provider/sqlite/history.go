package sqlite

import (
	"context"
	"fmt"

	"github.com/duroxide/duroxide-go/gen/sqlitedb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// Read implements [provider.Provider]. Error: [provider.ErrCorrupt].
func (s *Store) Read(ctx context.Context, instance string) ([]provider.Event, error) {
	return s.readLatest(ctx, "read", instance)
}

// ReadWithExecution implements [provider.Provider]. Error:
// [provider.ErrCorrupt].
func (s *Store) ReadWithExecution(ctx context.Context, instance string, executionID uint64) ([]provider.Event, error) {
	return s.readExecution(ctx, "read_with_execution", instance, executionID)
}

// readLatest reads the history of the highest execution there is a row for, which is
// not always the current one of an instance: an execution may have been written
// without the instance.
func (s *Store) readLatest(ctx context.Context, operation, instance string) ([]provider.Event, error) {
	var execution int64
	var rows []sqlitedb.ReadExecutionRow
	err := s.readSnapshot(ctx, operation, func(ctx context.Context, q *sqlitedb.Queries) (err error) {
		if execution, err = q.LatestExecution(ctx, instance); err != nil {
			return err
		}
		rows, err = q.ReadExecution(ctx, instance, execution)
		return err
	})
	return finishRead(operation, instance, uint64(execution), rows, err)
}

// readExecution reads the history of one execution.
func (s *Store) readExecution(
	ctx context.Context, operation, instance string, executionID uint64,
) ([]provider.Event, error) {
	var rows []sqlitedb.ReadExecutionRow
	err := s.read(ctx, operation, func(ctx context.Context, q *sqlitedb.Queries) (err error) {
		rows, err = q.ReadExecution(ctx, instance, columns.ExecutionKey(executionID))
		return err
	})
	return finishRead(operation, instance, executionID, rows, err)
}

// finishRead decodes what was read, after the transaction. One event that cannot be
// decoded fails the call: a history with a hole would be worse than none.
func finishRead(
	operation, instance string, executionID uint64, rows []sqlitedb.ReadExecutionRow, err error,
) ([]provider.Event, error) {
	if err != nil {
		return nil, err
	}
	events, err := columns.DecodeEvents(instance, executionID, storedEvents(rows))
	if err != nil {
		return nil, columns.CorruptEvent(operation, err)
	}
	return events, nil
}

// AppendWithExecution implements [provider.Provider].
//
// Errors: [provider.ErrDuplicateEvent], after which none of the events was stored;
// [provider.ErrInvalidArgument] for an event, execution or instance without id.
func (s *Store) AppendWithExecution(
	ctx context.Context, instance string, executionID uint64, events []provider.Event,
) error {
	const operation = "append_with_execution"
	if len(events) == 0 {
		return nil
	}
	if err := columns.CheckID(operation, "instance id", instance); err != nil {
		return err
	}
	if err := columns.CheckExecution(operation, executionID); err != nil {
		return err
	}
	encoded, err := columns.NewEvents(operation, events, longText)
	if err != nil {
		return err
	}
	return s.write(ctx, operation, func(ctx context.Context, t *tx) error {
		if err := t.appendEvents(ctx, operation, instance, int64(executionID), encoded); err != nil {
			return err
		}
		// A start event makes an instance without a row fetchable.
		return t.refresh(ctx, instance)
	})
}

// appendEvents inserts. It never replaces, and reads nothing back.
func (t *tx) appendEvents(
	ctx context.Context, operation, instance string, execution int64, events []columns.Event,
) error {
	rows := make([]sqlitedb.AppendEventParams, len(events))
	for i, e := range events {
		payload, err := t.payloadOf(ctx, e.Apart)
		if err != nil {
			return err
		}
		rows[i] = sqlitedb.AppendEventParams{
			InstanceID: instance, ExecutionID: execution, EventID: e.ID, EventType: e.Type, EventData: e.Data, PayloadID: payload, CreatedAt: t.now,
		}
	}
	_, err := addRows(ctx, t, appendEvents, rows, func(ctx context.Context, row sqlitedb.AppendEventParams) (int64, error) {
		return 0, duplicateEvent(operation, row, t.AppendEvent(ctx, row))
	})
	return err
}

// duplicateEvent turns the error of an insert into the contract's.
func duplicateEvent(operation string, row sqlitedb.AppendEventParams, err error) error {
	if !isDuplicateKey(err) {
		return err
	}
	return provider.Permanent(operation, fmt.Sprintf(
		"duplicate event: execution %d of instance %s already has event %d", row.ExecutionID, row.InstanceID, row.EventID),
		provider.ErrDuplicateEvent)
}

// storedEvents are rows as the codec takes them.
func storedEvents(rows []sqlitedb.ReadExecutionRow) []columns.Event {
	events := make([]columns.Event, len(rows))
	for i, row := range rows {
		events[i] = columns.Event{ID: row.EventID, Data: row.EventData, Apart: row.Payload}
	}
	return events
}
