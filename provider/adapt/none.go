package adapt

import (
	"context"
	"errors"

	"github.com/duroxide/duroxide-go/provider"
)

// none is the management interface of a store that has none. Each call is errors.ErrUnsupported.
type none struct{}

func unsupported(operation string) error {
	return provider.Permanent(operation, "the store has no management interface", errors.ErrUnsupported)
}

func (none) ListInstances(context.Context) ([]string, error) {
	return nil, unsupported("list_instances")
}

func (none) ListInstancesByStatus(context.Context, provider.Status) ([]string, error) {
	return nil, unsupported("list_instances_by_status")
}

func (none) ListExecutions(context.Context, string) ([]uint64, error) {
	return nil, unsupported("list_executions")
}

func (none) ReadHistoryWithExecutionID(context.Context, string, uint64) ([]provider.Event, error) {
	return nil, unsupported("read_history_with_execution_id")
}

func (none) ReadHistory(context.Context, string) ([]provider.Event, error) {
	return nil, unsupported("read_history")
}

func (none) LatestExecutionID(context.Context, string) (uint64, error) {
	return 0, unsupported("latest_execution_id")
}

func (none) GetInstanceInfo(context.Context, string) (provider.InstanceInfo, error) {
	return provider.InstanceInfo{}, unsupported("get_instance_info")
}

func (none) GetExecutionInfo(context.Context, string, uint64) (provider.ExecutionInfo, error) {
	return provider.ExecutionInfo{}, unsupported("get_execution_info")
}

func (none) GetSystemMetrics(context.Context) (provider.SystemMetrics, error) {
	return provider.SystemMetrics{}, unsupported("get_system_metrics")
}

func (none) GetQueueDepths(context.Context) (provider.QueueDepths, error) {
	return provider.QueueDepths{}, unsupported("get_queue_depths")
}

func (none) ListChildren(context.Context, string) ([]string, error) {
	return nil, unsupported("list_children")
}

func (none) GetParentID(context.Context, string) (*string, error) {
	return nil, unsupported("get_parent_id")
}

func (none) GetInstanceTree(context.Context, string) (provider.InstanceTree, error) {
	return provider.InstanceTree{}, unsupported("get_instance_tree")
}

func (none) DeleteInstance(context.Context, string, bool) (provider.DeleteInstanceResult, error) {
	return provider.DeleteInstanceResult{}, unsupported("delete_instance")
}

func (none) DeleteInstancesAtomic(context.Context, []string, bool) (provider.DeleteInstanceResult, error) {
	return provider.DeleteInstanceResult{}, unsupported("delete_instances_atomic")
}

func (none) DeleteInstanceBulk(context.Context, provider.InstanceFilter) (provider.DeleteInstanceResult, error) {
	return provider.DeleteInstanceResult{}, unsupported("delete_instance_bulk")
}

func (none) PruneExecutions(context.Context, string, provider.PruneOptions) (provider.PruneResult, error) {
	return provider.PruneResult{}, unsupported("prune_executions")
}

func (none) PruneExecutionsBulk(context.Context, provider.InstanceFilter, provider.PruneOptions) (provider.PruneResult, error) {
	return provider.PruneResult{}, unsupported("prune_executions_bulk")
}
