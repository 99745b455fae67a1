package sqlite

import (
	"context"

	"github.com/duroxide/duroxide-go/gen/sqlitedb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// finishedRoots are the instances a bulk deletion begins at.
func (s selection) finishedRoots(ctx context.Context, q *sqlitedb.Queries) ([]string, error) {
	if s.instances != nil {
		return q.ListFinishedRootsOf(ctx, *s.instances, s.completedBefore, s.limit)
	}
	return q.ListFinishedRoots(ctx, s.completedBefore, s.limit)
}

// prunable are the instances a bulk pruning looks at.
func (s selection) prunable(ctx context.Context, q *sqlitedb.Queries) ([]string, error) {
	if s.instances != nil {
		return q.ListPrunableOf(ctx, *s.instances, s.completedBefore, s.limit)
	}
	return q.ListPrunable(ctx, s.completedBefore, s.limit)
}

// PruneExecutions implements [provider.Admin]. Error: [provider.ErrNotFound].
func (s *Store) PruneExecutions(
	ctx context.Context, instance string, options provider.PruneOptions,
) (provider.PruneResult, error) {
	return s.prune(ctx, "prune_executions", instance, options)
}

// PruneExecutionsBulk implements [provider.Admin]. Each instance is a transaction
// of its own; after an error the result counts what was deleted before it.
func (s *Store) PruneExecutionsBulk(
	ctx context.Context, filter provider.InstanceFilter, options provider.PruneOptions,
) (provider.PruneResult, error) {
	const operation = "prune_executions_bulk"
	var sum provider.PruneResult
	selection, err := newSelection(operation, filter)
	if err != nil || selection.nothing {
		return sum, err
	}
	instances, err := readList(ctx, s, operation, selection.prunable)
	if err != nil {
		return sum, err
	}
	for _, instance := range instances {
		result, err := s.prune(ctx, operation, instance, options)
		if err != nil {
			return sum, err
		}
		sum.InstancesProcessed += result.InstancesProcessed
		sum.ExecutionsDeleted += result.ExecutionsDeleted
		sum.EventsDeleted += result.EventsDeleted
	}
	return sum, nil
}

// prune deletes old executions of one instance (§6.18), and nothing else of it: the
// key-value map belongs to the instance, not to the execution that wrote it (pitfall
// P15).
func (s *Store) prune(
	ctx context.Context, operation, instance string, options provider.PruneOptions,
) (provider.PruneResult, error) {
	var keep int64
	if options.KeepLast != nil {
		keep = int64(*options.KeepLast)
	}
	before := columns.Millis(options.CompletedBefore)
	var result provider.PruneResult
	err := s.write(ctx, operation, func(ctx context.Context, t *tx) error {
		result = provider.PruneResult{InstancesProcessed: 1}
		known, err := t.InstanceExists(ctx, instance)
		if err != nil {
			return err
		}
		if !known {
			return columns.InstanceNotFound(operation, instance)
		}
		executions, err := t.ListPrunableExecutions(ctx, instance, before, keep)
		if err != nil || len(executions) == 0 {
			return err
		}
		result.ExecutionsDeleted, result.EventsDeleted, err = t.deleteExecutions(ctx, operation, instance, executions)
		return err
	})
	if err != nil {
		return provider.PruneResult{}, err
	}
	return result, nil
}

// deleteExecutions deletes executions with their histories.
func (t *tx) deleteExecutions(
	ctx context.Context, operation, instance string, executions []int64,
) (deleted, events uint64, err error) {
	list, err := jsonList(operation, executions)
	if err != nil {
		return 0, 0, err
	}
	n, err := t.DeleteHistoryOfExecutions(ctx, instance, list)
	if err != nil {
		return 0, 0, err
	}
	m, err := t.DeleteExecutions(ctx, instance, list)
	return uint64(m), uint64(n), err
}
