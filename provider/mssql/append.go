package mssql

import (
	"context"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

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
	id, err := storedID(operation, instance)
	if err != nil {
		return err
	}
	if err := columns.CheckExecution(operation, executionID); err != nil {
		return err
	}
	checked, err := columns.NewEvents(operation, events, 0)
	if err != nil {
		return err
	}
	err = s.call(ctx, operation, once, func(ctx context.Context, q *mssqldb.Queries) error {
		return q.AppendWithExecution(ctx, mssqldb.AppendWithExecutionParams{
			InstanceID: id, ExecutionID: int64(executionID), Events: eventRows(checked),
		})
	})
	if err != nil {
		return err
	}
	// A start event makes an instance without a row fetchable.
	s.signalInstances(1)
	return nil
}
