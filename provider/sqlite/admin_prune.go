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
	const operation = "prune_executions"
	return written(ctx, s, operation, func(ctx context.Context, t *tx) (provider.PruneResult, error) {
		known, err := t.InstanceExists(ctx, instance)
		if err != nil {
			return provider.PruneResult{}, err
		}
		if !known {
			return provider.PruneResult{}, columns.InstanceNotFound(operation, instance)
		}
		return t.prune(ctx, operation, instance, options)
	})
}

// PruneExecutionsBulk implements [provider.Admin]. Each instance is a transaction
// of its own; after an error the result counts what was deleted before it. It leaves out
// an instance that was deleted, or began anew, since it was selected.
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
		result, err := written(ctx, s, operation, func(ctx context.Context, t *tx) (provider.PruneResult, error) {
			still, err := selection.stillPrunable(ctx, t, instance)
			if err != nil || !still {
				return provider.PruneResult{}, err
			}
			return t.prune(ctx, operation, instance, options)
		})
		if err != nil {
			return sum, err
		}
		sum.InstancesProcessed += result.InstancesProcessed
		sum.ExecutionsDeleted += result.ExecutionsDeleted
		sum.EventsDeleted += result.EventsDeleted
	}
	return sum, nil
}

// stillPrunable reports whether an instance that was selected still would be.
func (s selection) stillPrunable(ctx context.Context, t *tx, instance string) (bool, error) {
	list, err := jsonList("prune_executions_bulk", []string{instance})
	if err != nil {
		return false, err
	}
	found, err := t.ListPrunableOf(ctx, list, s.completedBefore, 1)
	return len(found) > 0, err
}

// prune deletes old executions of one instance (contract §6.18), and nothing else of it: the
// key-value map belongs to the instance, not to the execution that wrote it (pitfall
// P15).
func (t *tx) prune(
	ctx context.Context, operation, instance string, options provider.PruneOptions,
) (provider.PruneResult, error) {
	var keep int64
	if options.KeepLast != nil {
		keep = int64(*options.KeepLast)
	}
	result := provider.PruneResult{InstancesProcessed: 1}
	executions, err := t.ListPrunableExecutions(ctx, instance, columns.Millis(options.CompletedBefore), keep)
	if err != nil || len(executions) == 0 {
		return result, err
	}
	result.ExecutionsDeleted, result.EventsDeleted, err = t.deleteExecutions(ctx, operation, instance, executions)
	return result, err
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
