package mssql

import (
	"context"
	"fmt"
	"math"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// Admin implements [provider.Provider]: the store itself is both sides of the contract.
func (s *Store) Admin() provider.Admin { return s }

// read runs a call that changes nothing, which may be repeated whatever happened to it.
func read[T any](
	ctx context.Context, s *Store, operation string, query func(context.Context, *mssqldb.Queries) (T, error),
) (T, error) {
	var result T
	err := s.call(ctx, operation, repeatable, func(ctx context.Context, q *mssqldb.Queries) (err error) {
		result, err = query(ctx, q)
		return err
	})
	return result, err
}

// restoredIDs are the ids of rows that have nothing else. The list is never nil.
func restoredIDs[Row ~struct{ InstanceID string }](rows []Row) []string {
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = restored(struct{ InstanceID string }(row).InstanceID)
	}
	return ids
}

// ListInstances implements [provider.Admin]: newest first, also within one millisecond.
func (s *Store) ListInstances(ctx context.Context) ([]string, error) {
	result, err := read(ctx, s, "list_instances", func(ctx context.Context, q *mssqldb.Queries) (mssqldb.ListInstancesResult, error) {
		return q.ListInstances(ctx)
	})
	if err != nil {
		return nil, err
	}
	return restoredIDs(result.Instances), nil
}

// maxStatus is the length of the status column: a longer text is no instance's status,
// and no argument either.
const maxStatus = 32

// ListInstancesByStatus implements [provider.Admin]. Instances whose current
// execution has no row are not listed.
func (s *Store) ListInstancesByStatus(ctx context.Context, status provider.Status) ([]string, error) {
	text, ok := lookupKey(string(status))
	if !ok || len(text) > maxStatus {
		return []string{}, nil
	}
	result, err := read(ctx, s, "list_instances_by_status", func(ctx context.Context, q *mssqldb.Queries) (mssqldb.ListInstancesByStatusResult, error) {
		return q.ListInstancesByStatus(ctx, mssqldb.ListInstancesByStatusParams{Status: text})
	})
	if err != nil {
		return nil, err
	}
	return restoredIDs(result.Instances), nil
}

// ListChildren implements [provider.Admin], in the order of their creation.
func (s *Store) ListChildren(ctx context.Context, instance string) ([]string, error) {
	id, ok := lookupID(instance)
	if !ok {
		return []string{}, nil
	}
	result, err := read(ctx, s, "list_children", func(ctx context.Context, q *mssqldb.Queries) (mssqldb.ListChildrenResult, error) {
		return q.ListChildren(ctx, mssqldb.ListChildrenParams{InstanceID: id})
	})
	if err != nil {
		return nil, err
	}
	return restoredIDs(result.Children), nil
}

// ListExecutions implements [provider.Admin].
func (s *Store) ListExecutions(ctx context.Context, instance string) ([]uint64, error) {
	id, ok := lookupID(instance)
	if !ok {
		return []uint64{}, nil
	}
	result, err := read(ctx, s, "list_executions", func(ctx context.Context, q *mssqldb.Queries) (mssqldb.ListExecutionsResult, error) {
		return q.ListExecutions(ctx, mssqldb.ListExecutionsParams{InstanceID: id})
	})
	if err != nil {
		return nil, err
	}
	ids := make([]uint64, len(result.Executions))
	for i, row := range result.Executions {
		ids[i] = uint64(row.ExecutionID)
	}
	return ids, nil
}

// LatestExecutionID implements [provider.Admin]. Error: [provider.ErrNotFound].
func (s *Store) LatestExecutionID(ctx context.Context, instance string) (uint64, error) {
	const operation = "latest_execution_id"
	id, ok := lookupID(instance)
	if !ok {
		return 0, columns.InstanceNotFound(operation, instance)
	}
	result, err := read(ctx, s, operation, func(ctx context.Context, q *mssqldb.Queries) (mssqldb.ReadHistoryResult, error) {
		return q.ReadHistory(ctx, mssqldb.ReadHistoryParams{InstanceID: id, FirstEvent: math.MaxInt64}) // no events
	})
	if err != nil {
		return 0, err
	}
	if result.Execution.ExecutionID == nil {
		return 0, columns.InstanceNotFound(operation, instance)
	}
	return uint64(*result.Execution.ExecutionID), nil
}

// GetInstanceInfo implements [provider.Admin]. Error: [provider.ErrNotFound].
func (s *Store) GetInstanceInfo(ctx context.Context, instance string) (provider.InstanceInfo, error) {
	const operation = "get_instance_info"
	id, ok := lookupID(instance)
	if !ok {
		return provider.InstanceInfo{}, columns.InstanceNotFound(operation, instance)
	}
	result, err := read(ctx, s, operation, func(ctx context.Context, q *mssqldb.Queries) (mssqldb.GetInstanceInfoResult, error) {
		return q.GetInstanceInfo(ctx, mssqldb.GetInstanceInfoParams{InstanceID: id})
	})
	if err != nil {
		return provider.InstanceInfo{}, err
	}
	row := result.Instance
	if row == nil {
		return provider.InstanceInfo{}, columns.InstanceNotFound(operation, instance)
	}
	info := provider.InstanceInfo{
		InstanceID:           restored(row.InstanceID),
		OrchestrationName:    restoredText(row.OrchestrationName),
		OrchestrationVersion: restoredText(columns.OrUnknown(row.OrchestrationVersion)),
		CurrentExecutionID:   uint64(row.CurrentExecutionID),
		Status:               provider.StatusUnknown,
		Output:               restoredOptionalText(row.Output),
		CreatedAt:            columns.FromMillis(row.CreatedAt),
		UpdatedAt:            columns.FromMillis(row.UpdatedAt),
		ParentInstanceID:     restoredOptional(row.ParentInstanceID),
	}
	if row.Status != nil {
		info.Status = provider.Status(*row.Status)
	}
	return info, nil
}

// restoredOptional is restored for a key that may be missing.
func restoredOptional(text *string) *string {
	if text == nil {
		return nil
	}
	return new(restored(*text))
}

// restoredOptionalText is restoredText for a text that may be missing.
func restoredOptionalText(text *string) *string {
	if text == nil {
		return nil
	}
	return new(restoredText(*text))
}

// GetExecutionInfo implements [provider.Admin]. Error: [provider.ErrNotFound].
func (s *Store) GetExecutionInfo(
	ctx context.Context, instance string, executionID uint64,
) (provider.ExecutionInfo, error) {
	const operation = "get_execution_info"
	var result mssqldb.GetExecutionInfoResult
	if id, ok := lookupID(instance); ok {
		var err error
		result, err = read(ctx, s, operation, func(ctx context.Context, q *mssqldb.Queries) (mssqldb.GetExecutionInfoResult, error) {
			return q.GetExecutionInfo(ctx, mssqldb.GetExecutionInfoParams{InstanceID: id, ExecutionID: columns.ExecutionKey(executionID)})
		})
		if err != nil {
			return provider.ExecutionInfo{}, err
		}
	}
	row := result.Execution
	if row == nil {
		return provider.ExecutionInfo{}, columns.ExecutionNotFound(operation, instance, executionID)
	}
	info := provider.ExecutionInfo{
		ExecutionID: uint64(row.ExecutionID),
		Status:      provider.Status(row.Status),
		Output:      restoredOptionalText(row.Output),
		StartedAt:   columns.FromMillis(row.StartedAt),
		EventCount:  uint64(row.EventCount),
	}
	if row.CompletedAt != nil {
		info.CompletedAt = new(columns.FromMillis(*row.CompletedAt))
	}
	return info, nil
}

// sizedIndexes is how many indexes get_system_metrics reads the sizes of.
const sizedIndexes = 6

// GetSystemMetrics implements [provider.Admin]. It costs the same however much is stored: the server keeps the numbers.
// They are exact when nothing is being written, and include what is not committed yet.
func (s *Store) GetSystemMetrics(ctx context.Context) (provider.SystemMetrics, error) {
	const operation = "get_system_metrics"
	result, err := read(ctx, s, operation, func(ctx context.Context, q *mssqldb.Queries) (mssqldb.GetSystemMetricsResult, error) {
		return q.GetSystemMetrics(ctx)
	})
	if err != nil {
		return provider.SystemMetrics{}, err
	}
	m := result.Metrics
	if m.Indexes < sizedIndexes {
		return provider.SystemMetrics{}, fault{
			sentinel: ErrPermission,
			advice:   "an index is missing, or the login may not see the sizes of tables: an owner has to run `duroxide migrate up`",
		}.report(operation, fmt.Errorf("the login sees the sizes of %d of %d indexes", m.Indexes, sizedIndexes))
	}
	// Sizes that are read one after the other may differ by what is committed meanwhile.
	return provider.SystemMetrics{
		TotalInstances:     uint64(m.Instances),
		TotalExecutions:    uint64(m.Executions),
		RunningInstances:   uint64(max(0, m.Running)),
		CompletedInstances: uint64(max(0, m.Completed)),
		FailedInstances:    uint64(m.Failed),
		TotalEvents:        uint64(m.Events),
	}, nil
}

// GetQueueDepths implements [provider.Admin]: messages without a live lease, including future timers and other hidden
// messages. It also counts what [Store.UnknownCode] lists for [provider.LiveFor].
func (s *Store) GetQueueDepths(ctx context.Context) (provider.QueueDepths, error) {
	result, err := read(ctx, s, "get_queue_depths", func(ctx context.Context, q *mssqldb.Queries) (mssqldb.GetQueueDepthsResult, error) {
		return q.GetQueueDepths(ctx, mssqldb.GetQueueDepthsParams{UnknownMs: provider.LiveFor.Milliseconds()})
	})
	if err != nil {
		return provider.QueueDepths{}, err
	}
	return provider.QueueDepths{
		OrchestratorQueue: uint64(result.Depths.OrchestratorQueue),
		WorkerQueue:       uint64(result.Depths.WorkerQueue),

		UnknownOrchestrations: uint64(result.Depths.UnknownOrchestrations),
		UnknownActivities:     uint64(result.Depths.UnknownActivities),
	}, nil
}

// GetParentID implements [provider.Admin]. Error: [provider.ErrNotFound].
func (s *Store) GetParentID(ctx context.Context, instance string) (*string, error) {
	const operation = "get_parent_id"
	id, ok := lookupID(instance)
	if !ok {
		return nil, columns.InstanceNotFound(operation, instance)
	}
	result, err := read(ctx, s, operation, func(ctx context.Context, q *mssqldb.Queries) (mssqldb.GetParentIDResult, error) {
		return q.GetParentID(ctx, mssqldb.GetParentIDParams{InstanceID: id})
	})
	if err != nil {
		return nil, err
	}
	if result.Instance == nil {
		return nil, columns.InstanceNotFound(operation, instance)
	}
	return restoredOptional(result.Instance.ParentInstanceID), nil
}

// GetInstanceTree implements [provider.Admin]. If damaged data contain a cycle of parents, it still ends.
func (s *Store) GetInstanceTree(ctx context.Context, instance string) (provider.InstanceTree, error) {
	tree := provider.InstanceTree{RootID: instance, AllIDs: []string{instance}}
	id, ok := lookupID(instance)
	if !ok {
		return tree, nil
	}
	result, err := read(ctx, s, "get_instance_tree", func(ctx context.Context, q *mssqldb.Queries) (mssqldb.GetInstanceTreeResult, error) {
		return q.GetInstanceTree(ctx, mssqldb.GetInstanceTreeParams{InstanceID: id})
	})
	if err != nil {
		return provider.InstanceTree{}, err
	}
	tree.AllIDs = restoredIDs(result.Tree)
	return tree, nil
}
