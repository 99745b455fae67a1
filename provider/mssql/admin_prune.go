package mssql

import (
	"context"
	"errors"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// PruneExecutions implements [provider.Admin], in one transaction. If there are
// hundreds of thousands of events to delete, [Options.CallTimeout] may be too short for
// it. Error: [provider.ErrNotFound].
func (s *Store) PruneExecutions(
	ctx context.Context, instance string, options provider.PruneOptions,
) (provider.PruneResult, error) {
	const operation = "prune_executions"
	id, ok := lookupID(instance)
	if !ok {
		return provider.PruneResult{}, columns.InstanceNotFound(operation, instance)
	}
	var result mssqldb.PruneExecutionsResult
	err := s.call(ctx, operation, once, func(ctx context.Context, q *mssqldb.Queries) (err error) {
		result, err = q.PruneExecutions(ctx, mssqldb.PruneExecutionsParams{
			InstanceID: id, KeepLast: keepLast(options), CompletedBefore: columns.Millis(options.CompletedBefore),
		})
		if errors.Is(err, mssqldb.ErrInstanceNotFound) {
			return columns.InstanceNotFound(operation, instance)
		}
		return err
	})
	if err != nil {
		return provider.PruneResult{}, err
	}
	return provider.PruneResult{
		InstancesProcessed: 1,
		ExecutionsDeleted:  uint64(result.Counts.Executions),
		EventsDeleted:      uint64(result.Counts.Events),
	}, nil
}

// keepLast is the number of executions to keep; 0 is none but the current one.
func keepLast(options provider.PruneOptions) int64 {
	if options.KeepLast == nil {
		return 0
	}
	return int64(*options.KeepLast)
}

// PruneExecutionsBulk implements [provider.Admin], in the order of the ids. For each instance it deletes the oldest
// executions first, about 1,000 events in each transaction. After an error the result counts what was deleted before
// it. For the number of calls of the procedure see [Store.DeleteInstanceBulk].
func (s *Store) PruneExecutionsBulk(
	ctx context.Context, filter provider.InstanceFilter, options provider.PruneOptions,
) (provider.PruneResult, error) {
	const operation = "prune_executions_bulk"
	var sum provider.PruneResult
	selection := newSelection(filter)
	params := mssqldb.PruneExecutionsBulkParams{
		Listed: selection.listed, List: selection.list, FinishedBefore: selection.completedBefore,
		KeepLast: keepLast(options), CompletedBefore: columns.Millis(options.CompletedBefore), BudgetMs: s.bulkBudget(),
	}
	for more := true; more && selection.left > 0; more = params.After != nil {
		params.MaxInstances = selection.portion()
		var result mssqldb.PruneExecutionsBulkResult
		err := s.call(ctx, operation, once, func(ctx context.Context, q *mssqldb.Queries) (err error) {
			result, err = q.PruneExecutionsBulk(ctx, params)
			return err
		})
		if err != nil {
			return sum, err
		}
		c := result.Counts
		sum.InstancesProcessed += uint64(c.Instances)
		sum.ExecutionsDeleted += uint64(c.Executions)
		sum.EventsDeleted += uint64(c.Events)
		selection.left -= c.Instances
		params.After = c.AfterInstanceID
	}
	return sum, nil
}
