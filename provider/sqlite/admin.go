package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"

	"github.com/duroxide/duroxide-go/gen/sqlitedb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// ListInstances implements [provider.Admin]: newest first, also within one millisecond.
func (s *Store) ListInstances(ctx context.Context) ([]string, error) {
	return readList(ctx, s, "list_instances", func(ctx context.Context, q *sqlitedb.Queries) ([]string, error) {
		return q.ListInstances(ctx)
	})
}

// ListInstancesByStatus implements [provider.Admin]. Instances whose current
// execution has no row are not listed.
func (s *Store) ListInstancesByStatus(ctx context.Context, status provider.Status) ([]string, error) {
	return readList(ctx, s, "list_instances_by_status", func(ctx context.Context, q *sqlitedb.Queries) ([]string, error) {
		return q.ListInstancesByStatus(ctx, string(status))
	})
}

// ListChildren implements [provider.Admin], in the order of their creation.
func (s *Store) ListChildren(ctx context.Context, instance string) ([]string, error) {
	return readList(ctx, s, "list_children", func(ctx context.Context, q *sqlitedb.Queries) ([]string, error) {
		return q.ListChildren(ctx, &instance)
	})
}

// readList is read for queries that return a list.
func readList[T any](
	ctx context.Context, s *Store, operation string, query func(context.Context, *sqlitedb.Queries) ([]T, error),
) ([]T, error) {
	var list []T
	err := s.read(ctx, operation, func(ctx context.Context, q *sqlitedb.Queries) (err error) {
		list, err = query(ctx, q)
		return err
	})
	return list, err
}

// ListExecutions implements [provider.Admin].
func (s *Store) ListExecutions(ctx context.Context, instance string) ([]uint64, error) {
	rows, err := readList(ctx, s, "list_executions", func(ctx context.Context, q *sqlitedb.Queries) ([]int64, error) {
		return q.ListExecutions(ctx, instance)
	})
	if err != nil {
		return nil, err
	}
	ids := make([]uint64, 0, len(rows))
	for _, id := range rows {
		ids = append(ids, uint64(id))
	}
	return ids, nil
}

// ReadHistory implements [provider.Admin]. Error: [provider.ErrCorrupt].
func (s *Store) ReadHistory(ctx context.Context, instance string) ([]provider.Event, error) {
	return s.readLatest(ctx, "read_history", instance)
}

// ReadHistoryWithExecutionID implements [provider.Admin]. Error:
// [provider.ErrCorrupt].
func (s *Store) ReadHistoryWithExecutionID(
	ctx context.Context, instance string, executionID uint64,
) ([]provider.Event, error) {
	return s.readExecution(ctx, "read_history_with_execution_id", instance, executionID)
}

// LatestExecutionID implements [provider.Admin]. Error: [provider.ErrNotFound].
func (s *Store) LatestExecutionID(ctx context.Context, instance string) (uint64, error) {
	const operation = "latest_execution_id"
	var latest int64
	err := s.read(ctx, operation, func(ctx context.Context, q *sqlitedb.Queries) (err error) {
		if latest, err = q.LatestExecution(ctx, instance); err == nil && latest == 0 {
			return columns.InstanceNotFound(operation, instance)
		}
		return err
	})
	return uint64(latest), err
}

// GetInstanceInfo implements [provider.Admin]. Error: [provider.ErrNotFound].
func (s *Store) GetInstanceInfo(ctx context.Context, instance string) (provider.InstanceInfo, error) {
	const operation = "get_instance_info"
	var info provider.InstanceInfo
	err := s.read(ctx, operation, func(ctx context.Context, q *sqlitedb.Queries) error {
		row, err := q.GetInstanceInfo(ctx, instance)
		if errors.Is(err, sql.ErrNoRows) {
			return columns.InstanceNotFound(operation, instance)
		}
		if err != nil {
			return err
		}
		info = provider.InstanceInfo{
			InstanceID:           row.InstanceID,
			OrchestrationName:    row.OrchestrationName,
			OrchestrationVersion: columns.OrUnknown(row.OrchestrationVersion),
			CurrentExecutionID:   uint64(row.CurrentExecutionID),
			Status:               provider.StatusUnknown,
			Output:               cmp.Or(row.Payload, row.Output),
			CreatedAt:            columns.FromMillis(row.CreatedAt),
			UpdatedAt:            columns.FromMillis(row.UpdatedAt),
			ParentInstanceID:     row.ParentInstanceID,
		}
		if row.Status != nil {
			info.Status = provider.Status(*row.Status)
		}
		return nil
	})
	return info, err
}

// GetExecutionInfo implements [provider.Admin]. Error: [provider.ErrNotFound].
func (s *Store) GetExecutionInfo(
	ctx context.Context, instance string, executionID uint64,
) (provider.ExecutionInfo, error) {
	const operation = "get_execution_info"
	var info provider.ExecutionInfo
	err := s.read(ctx, operation, func(ctx context.Context, q *sqlitedb.Queries) error {
		row, err := q.GetExecution(ctx, instance, columns.ExecutionKey(executionID))
		if errors.Is(err, sql.ErrNoRows) {
			return columns.ExecutionNotFound(operation, instance, executionID)
		}
		if err != nil {
			return err
		}
		info = provider.ExecutionInfo{
			ExecutionID: uint64(row.ExecutionID),
			Status:      provider.Status(row.Status),
			Output:      cmp.Or(row.Payload, row.Output),
			StartedAt:   columns.FromMillis(row.StartedAt),
			EventCount:  uint64(row.EventCount),
		}
		if row.CompletedAt != nil {
			info.CompletedAt = new(columns.FromMillis(*row.CompletedAt))
		}
		return nil
	})
	return info, err
}

// GetSystemMetrics implements [provider.Admin]. It counts all rows, so call it every minute rather than every second.
func (s *Store) GetSystemMetrics(ctx context.Context) (provider.SystemMetrics, error) {
	var metrics provider.SystemMetrics
	err := s.readSnapshot(ctx, "get_system_metrics", func(ctx context.Context, q *sqlitedb.Queries) error {
		instances, err := q.CountInstances(ctx)
		if err != nil {
			return err
		}
		executions, err := q.CountExecutions(ctx)
		if err != nil {
			return err
		}
		events, err := q.CountEvents(ctx)
		metrics = provider.SystemMetrics{
			TotalInstances:     uint64(instances.Total),
			TotalExecutions:    uint64(executions),
			RunningInstances:   uint64(instances.Running),
			CompletedInstances: uint64(instances.Completed),
			FailedInstances:    uint64(instances.Failed),
			TotalEvents:        uint64(events),
		}
		return err
	})
	return metrics, err
}

// GetQueueDepths implements [provider.Admin]: messages without a live lease, including future timers and other hidden
// messages. The counts of unknown code are those of [Store.UnknownCode] for [provider.LiveFor].
func (s *Store) GetQueueDepths(ctx context.Context) (provider.QueueDepths, error) {
	var depths provider.QueueDepths
	err := s.readSnapshot(ctx, "get_queue_depths", func(ctx context.Context, q *sqlitedb.Queries) error {
		now := s.now()
		messages, err := q.CountFreeMessages(ctx, &now)
		if err != nil {
			return err
		}
		work, err := q.CountFreeWork(ctx, &now)
		if err != nil {
			return err
		}
		depths = provider.QueueDepths{OrchestratorQueue: uint64(messages), WorkerQueue: uint64(work)}
		unknown, err := unknownCode(ctx, q, now, provider.LiveFor.Milliseconds())
		for _, code := range unknown {
			if code.Activity {
				depths.UnknownActivities += code.Waiting
			} else {
				depths.UnknownOrchestrations += code.Waiting
			}
		}
		return err
	})
	return depths, err
}

// GetParentID implements [provider.Admin]. Error: [provider.ErrNotFound].
func (s *Store) GetParentID(ctx context.Context, instance string) (*string, error) {
	const operation = "get_parent_id"
	var parent *string
	err := s.read(ctx, operation, func(ctx context.Context, q *sqlitedb.Queries) (err error) {
		parent, err = q.GetParent(ctx, instance)
		if errors.Is(err, sql.ErrNoRows) {
			return columns.InstanceNotFound(operation, instance)
		}
		return err
	})
	return parent, err
}

// GetInstanceTree implements [provider.Admin]. If damaged data contain a cycle of parents, it still ends.
func (s *Store) GetInstanceTree(ctx context.Context, instance string) (provider.InstanceTree, error) {
	ids, err := readList(ctx, s, "get_instance_tree", func(ctx context.Context, q *sqlitedb.Queries) ([]string, error) {
		return q.ListTree(ctx, instance)
	})
	return provider.InstanceTree{RootID: instance, AllIDs: ids}, err
}
