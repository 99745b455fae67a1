package sqlite

import (
	"context"
	"fmt"

	"github.com/duroxide/duroxide-go/gen/sqlitedb"
	"github.com/duroxide/duroxide-go/provider"
)

// Read implements [provider.Provider] (§5.5). Error: [provider.ErrCorrupt].
func (s *Store) Read(ctx context.Context, instance string) ([]provider.Event, error) {
	return s.readLatest(ctx, "read", instance)
}

// ReadWithExecution implements [provider.Provider] (§5.6). Error:
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
		rows, err = q.ReadExecution(ctx, instance, clamp(executionID))
		return err
	})
	return finishRead(operation, instance, executionID, rows, err)
}

// finishRead decodes what was read, after the transaction. One event that cannot be
// decoded fails the call: a history with a hole would be worse than none (pitfall P8).
func finishRead(
	operation, instance string, executionID uint64, rows []sqlitedb.ReadExecutionRow, err error,
) ([]provider.Event, error) {
	if err != nil {
		return nil, err
	}
	events, err := decodeEvents(instance, executionID, rows)
	if err != nil {
		return nil, corruptEvent(operation, err)
	}
	return events, nil
}

// AppendWithExecution implements [provider.Provider] (§5.7).
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
	if err := checkID(operation, "instance id", instance); err != nil {
		return err
	}
	if executionID == 0 {
		return invalid(operation, "execution id must be set: the first is 1")
	}
	if err := checkNumber(operation, "execution id", executionID); err != nil {
		return err
	}
	encoded, err := encodeEvents(operation, events)
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

// encodeEvents checks and encodes events to append. Keys and time are left to
// appendEvents.
func encodeEvents(operation string, events []provider.Event) ([]sqlitedb.AppendEventParams, error) {
	rows := make([]sqlitedb.AppendEventParams, 0, len(events))
	for i, event := range events {
		if event.EventID == 0 {
			return nil, invalid(operation, "event_id must be set by runtime: event %d of %d has none", i+1, len(events))
		}
		if err := checkNumber(operation, "event id", event.EventID); err != nil {
			return nil, err
		}
		if event.Kind == nil {
			return nil, invalid(operation, "event %d has no kind", event.EventID)
		}
		data, err := provider.EncodeEvent(event)
		if err != nil {
			return nil, invalid(operation, "event %d cannot be encoded: %v", event.EventID, err)
		}
		rows = append(rows, sqlitedb.AppendEventParams{
			EventID: int64(event.EventID), EventType: event.Kind.Type(), EventData: string(data),
		})
	}
	return rows, nil
}

// appendEvents inserts. It never replaces, and reads nothing back (pitfall P10).
func (t *tx) appendEvents(
	ctx context.Context, operation, instance string, execution int64, rows []sqlitedb.AppendEventParams,
) error {
	for _, row := range rows {
		row.InstanceID, row.ExecutionID, row.CreatedAt = instance, execution, t.now
		err := t.AppendEvent(ctx, row)
		if isDuplicateKey(err) {
			return provider.Permanent(operation, fmt.Sprintf(
				"duplicate event: execution %d of instance %s already has event %d", execution, instance, row.EventID),
				provider.ErrDuplicateEvent)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// decodeEvents decodes all events or none. Who an event belongs to is what the row
// says: the JSON of older writers may be wrong about it (§3.2).
func decodeEvents(instance string, executionID uint64, rows []sqlitedb.ReadExecutionRow) ([]provider.Event, error) {
	events := make([]provider.Event, 0, len(rows))
	for _, row := range rows {
		event, err := provider.DecodeEvent([]byte(row.EventData))
		if err != nil {
			return nil, fmt.Errorf("event %d of execution %d of instance %s: %w", row.EventID, executionID, instance, err)
		}
		event.InstanceID, event.ExecutionID, event.EventID = instance, executionID, uint64(row.EventID)
		events = append(events, event)
	}
	return events, nil
}
