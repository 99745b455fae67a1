package mssql

import (
	"context"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// Read implements [provider.Provider]. Error: [provider.ErrCorrupt].
func (s *Store) Read(ctx context.Context, instance string) ([]provider.Event, error) {
	return s.readHistory(ctx, "read", instance, nil)
}

// ReadWithExecution implements [provider.Provider]. Error:
// [provider.ErrCorrupt].
func (s *Store) ReadWithExecution(ctx context.Context, instance string, executionID uint64) ([]provider.Event, error) {
	return s.readHistory(ctx, "read_with_execution", instance, &executionID)
}

// ReadHistory implements [provider.Admin]. Error: [provider.ErrCorrupt].
func (s *Store) ReadHistory(ctx context.Context, instance string) ([]provider.Event, error) {
	return s.readHistory(ctx, "read_history", instance, nil)
}

// ReadHistoryWithExecutionID implements [provider.Admin]. Error:
// [provider.ErrCorrupt].
func (s *Store) ReadHistoryWithExecutionID(
	ctx context.Context, instance string, executionID uint64,
) ([]provider.Event, error) {
	return s.readHistory(ctx, "read_history_with_execution_id", instance, &executionID)
}

// readHistory reads the history of one execution; nil is the highest that anything is
// stored of, which is not always the current one of an instance: an execution may have
// been written without the instance. One event that cannot be decoded fails the call: a
// history with a hole would be worse than none.
func (s *Store) readHistory(
	ctx context.Context, operation, instance string, executionID *uint64,
) ([]provider.Event, error) {
	id, ok := lookupID(instance)
	if !ok {
		return []provider.Event{}, nil
	}
	params := mssqldb.ReadHistoryParams{InstanceID: id}
	if executionID != nil {
		params.ExecutionID = new(columns.ExecutionKey(*executionID))
	}
	result, err := read(ctx, s, operation, func(ctx context.Context, q *mssqldb.Queries) (result mssqldb.ReadHistoryResult, err error) {
		// What was deleted meanwhile is read again: without row versions, events may be missing from its middle.
		for whole := false; !whole && err == nil; whole = result.Whole.Whole {
			result, err = q.ReadHistory(ctx, params)
		}
		return result, err
	})
	if err != nil {
		return nil, err
	}
	if result.Execution.ExecutionID == nil {
		return []provider.Event{}, nil
	}
	events, err := columns.DecodeEvents(instance, uint64(*result.Execution.ExecutionID), historyEvents(result.Events))
	if err != nil {
		return nil, columns.CorruptEvent(operation, err)
	}
	return events, nil
}
