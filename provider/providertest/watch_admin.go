package providertest

import (
	"context"

	"github.com/duroxide/duroxide-go/provider"
)

// watchedAdmin is the management side of the store under test, its calls watched.
type watchedAdmin struct {
	*watch
	admin provider.Admin
}

func (s watchedAdmin) ListInstances(ctx context.Context) ([]string, error) {
	return guard(ctx, s.watch, "ListInstances", 0, func() ([]string, error) { return s.admin.ListInstances(ctx) })
}

func (s watchedAdmin) ListInstancesByStatus(ctx context.Context, status provider.Status) ([]string, error) {
	return guard(ctx, s.watch, "ListInstancesByStatus", 0, func() ([]string, error) { return s.admin.ListInstancesByStatus(ctx, status) })
}

func (s watchedAdmin) ListExecutions(ctx context.Context, instance string) ([]uint64, error) {
	return guard(ctx, s.watch, "ListExecutions", 0, func() ([]uint64, error) { return s.admin.ListExecutions(ctx, instance) })
}

func (s watchedAdmin) ReadHistoryWithExecutionID(ctx context.Context, instance string, executionID uint64) ([]provider.Event, error) {
	return guard(ctx, s.watch, "ReadHistoryWithExecutionID", 0, func() ([]provider.Event, error) {
		return s.admin.ReadHistoryWithExecutionID(ctx, instance, executionID)
	})
}

func (s watchedAdmin) ReadHistory(ctx context.Context, instance string) ([]provider.Event, error) {
	return guard(ctx, s.watch, "ReadHistory", 0, func() ([]provider.Event, error) { return s.admin.ReadHistory(ctx, instance) })
}

func (s watchedAdmin) LatestExecutionID(ctx context.Context, instance string) (uint64, error) {
	return guard(ctx, s.watch, "LatestExecutionID", 0, func() (uint64, error) { return s.admin.LatestExecutionID(ctx, instance) })
}

func (s watchedAdmin) GetInstanceInfo(ctx context.Context, instance string) (provider.InstanceInfo, error) {
	return guard(ctx, s.watch, "GetInstanceInfo", 0, func() (provider.InstanceInfo, error) { return s.admin.GetInstanceInfo(ctx, instance) })
}

func (s watchedAdmin) GetExecutionInfo(ctx context.Context, instance string, executionID uint64) (provider.ExecutionInfo, error) {
	return guard(ctx, s.watch, "GetExecutionInfo", 0, func() (provider.ExecutionInfo, error) { return s.admin.GetExecutionInfo(ctx, instance, executionID) })
}

func (s watchedAdmin) GetSystemMetrics(ctx context.Context) (provider.SystemMetrics, error) {
	return guard(ctx, s.watch, "GetSystemMetrics", 0, func() (provider.SystemMetrics, error) { return s.admin.GetSystemMetrics(ctx) })
}

func (s watchedAdmin) GetQueueDepths(ctx context.Context) (provider.QueueDepths, error) {
	return guard(ctx, s.watch, "GetQueueDepths", 0, func() (provider.QueueDepths, error) { return s.admin.GetQueueDepths(ctx) })
}

func (s watchedAdmin) ListChildren(ctx context.Context, instance string) ([]string, error) {
	return guard(ctx, s.watch, "ListChildren", 0, func() ([]string, error) { return s.admin.ListChildren(ctx, instance) })
}

func (s watchedAdmin) GetParentID(ctx context.Context, instance string) (*string, error) {
	return guard(ctx, s.watch, "GetParentID", 0, func() (*string, error) { return s.admin.GetParentID(ctx, instance) })
}

func (s watchedAdmin) GetInstanceTree(ctx context.Context, instance string) (provider.InstanceTree, error) {
	return guard(ctx, s.watch, "GetInstanceTree", 0, func() (provider.InstanceTree, error) { return s.admin.GetInstanceTree(ctx, instance) })
}

func (s watchedAdmin) DeleteInstance(ctx context.Context, instance string, force bool) (provider.DeleteInstanceResult, error) {
	return guard(ctx, s.watch, "DeleteInstance", 0, func() (provider.DeleteInstanceResult, error) { return s.admin.DeleteInstance(ctx, instance, force) })
}

func (s watchedAdmin) DeleteInstancesAtomic(ctx context.Context, instances []string, force bool) (provider.DeleteInstanceResult, error) {
	return guard(ctx, s.watch, "DeleteInstancesAtomic", 0, func() (provider.DeleteInstanceResult, error) {
		return s.admin.DeleteInstancesAtomic(ctx, instances, force)
	})
}

func (s watchedAdmin) DeleteInstanceBulk(ctx context.Context, filter provider.InstanceFilter) (provider.DeleteInstanceResult, error) {
	return guard(ctx, s.watch, "DeleteInstanceBulk", 0, func() (provider.DeleteInstanceResult, error) { return s.admin.DeleteInstanceBulk(ctx, filter) })
}

func (s watchedAdmin) PruneExecutions(ctx context.Context, instance string, options provider.PruneOptions) (provider.PruneResult, error) {
	return guard(ctx, s.watch, "PruneExecutions", 0, func() (provider.PruneResult, error) { return s.admin.PruneExecutions(ctx, instance, options) })
}

func (s watchedAdmin) PruneExecutionsBulk(ctx context.Context, filter provider.InstanceFilter, options provider.PruneOptions) (provider.PruneResult, error) {
	return guard(ctx, s.watch, "PruneExecutionsBulk", 0, func() (provider.PruneResult, error) { return s.admin.PruneExecutionsBulk(ctx, filter, options) })
}
