package mssql

import (
	"context"
	"slices"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// PruneExecutions implements [provider.Admin], the oldest executions first, in transactions of about 1,000 events.
// Error: [provider.ErrNotFound].
func (s *Store) PruneExecutions(
	ctx context.Context, instance string, options provider.PruneOptions,
) (provider.PruneResult, error) {
	const operation = "prune_executions"
	id, ok := lookupID(instance)
	if !ok {
		return provider.PruneResult{}, columns.InstanceNotFound(operation, instance)
	}
	result, err := s.prune(ctx, operation, mssqldb.PruneExecutionsParams{
		Listed: true, List: listOf(id), KeepLast: keepLast(options), CompletedBefore: columns.Millis(options.CompletedBefore),
	}, 1)
	if err == nil && result.InstancesProcessed == 0 {
		err = columns.InstanceNotFound(operation, instance)
	}
	return result, err
}

// keepLast is the number of executions to keep; 0 is none but the current one.
func keepLast(options provider.PruneOptions) int64 {
	if options.KeepLast == nil {
		return 0
	}
	return int64(*options.KeepLast)
}

// PruneExecutionsBulk implements [provider.Admin], in the order of the ids. For each instance it deletes the oldest
// executions first, in transactions of about 1,000 events. After an error the result counts what was deleted before it.
func (s *Store) PruneExecutionsBulk(
	ctx context.Context, filter provider.InstanceFilter, options provider.PruneOptions,
) (provider.PruneResult, error) {
	const operation = "prune_executions_bulk"
	params := mssqldb.PruneExecutionsParams{
		EndedBefore: columns.Millis(filter.CompletedBefore), KeepLast: keepLast(options),
		CompletedBefore: columns.Millis(options.CompletedBefore),
	}
	limit := limitOf(filter)
	if filter.InstanceIDs == nil {
		return s.prune(ctx, operation, params, limit)
	}
	var sum provider.PruneResult
	for ids := range slices.Chunk(idsOf(filter.InstanceIDs), bulkPortion) {
		params.Listed, params.List = true, listOf(ids...)
		result, err := s.prune(ctx, operation, params, limit-int(sum.InstancesProcessed))
		sum.InstancesProcessed += result.InstancesProcessed
		sum.ExecutionsDeleted += result.ExecutionsDeleted
		sum.EventsDeleted += result.EventsDeleted
		if err != nil {
			return sum, err
		}
	}
	return sum, nil
}

// prune calls the procedure until it has handled all instances, or as many as the limit.
func (s *Store) prune(
	ctx context.Context, operation string, params mssqldb.PruneExecutionsParams, limit int,
) (sum provider.PruneResult, err error) {
	for more := true; more && int(sum.InstancesProcessed) < limit; more = params.After != nil {
		params.MaxInstances = int64(limit) - int64(sum.InstancesProcessed)
		var result mssqldb.PruneExecutionsResult
		err := s.call(ctx, operation, once, func(ctx context.Context, q *mssqldb.Queries) (err error) {
			result, err = q.PruneExecutions(ctx, params)
			return err
		})
		if err != nil {
			return sum, err
		}
		c := result.Counts
		sum.InstancesProcessed += uint64(c.Instances)
		sum.ExecutionsDeleted += uint64(c.Executions)
		sum.EventsDeleted += uint64(c.Events)
		params.After = c.AfterInstanceID
	}
	return sum, nil
}
