package provider

import (
	"context"
	"time"
)

// Admin is the management side of a store: what tools and dashboards need. The
// runtime's correctness does not depend on it.
//
// Each call is atomic on its own; the two bulk calls run one transaction per
// instance and keep what they did before an error.
type Admin interface {
	// ListInstances returns all instance ids, newest first.
	ListInstances(ctx context.Context) ([]string, error)

	// ListInstancesByStatus returns the ids whose current execution has that
	// status, newest first. An unknown status matches nothing.
	ListInstancesByStatus(ctx context.Context, status Status) ([]string, error)

	// ListExecutions returns the execution ids in ascending order, none for an
	// unknown instance.
	ListExecutions(ctx context.Context, instance string) ([]uint64, error)

	// ReadHistoryWithExecutionID returns one execution's history. An
	// event that cannot be decoded is [ErrCorrupt].
	ReadHistoryWithExecutionID(ctx context.Context, instance string, executionID uint64) ([]Event, error)

	// ReadHistory returns the latest execution's history.
	ReadHistory(ctx context.Context, instance string) ([]Event, error)

	// LatestExecutionID returns the highest execution id, or [ErrNotFound].
	LatestExecutionID(ctx context.Context, instance string) (uint64, error)

	// GetInstanceInfo describes an instance. Error: [ErrNotFound].
	GetInstanceInfo(ctx context.Context, instance string) (InstanceInfo, error)

	// GetExecutionInfo describes an execution. Error: [ErrNotFound].
	GetExecutionInfo(ctx context.Context, instance string, executionID uint64) (ExecutionInfo, error)

	// GetSystemMetrics counts instances, executions and events.
	GetSystemMetrics(ctx context.Context) (SystemMetrics, error)

	// GetQueueDepths counts messages without a live lease.
	GetQueueDepths(ctx context.Context) (QueueDepths, error)

	// ListChildren returns the direct children in order of creation.
	ListChildren(ctx context.Context, instance string) ([]string, error)

	// GetParentID returns the parent's id, nil for a root, or [ErrNotFound].
	GetParentID(ctx context.Context, instance string) (*string, error)

	// GetInstanceTree returns the instance and all its descendants; an unknown
	// id is a tree of one.
	GetInstanceTree(ctx context.Context, instance string) (InstanceTree, error)

	// DeleteInstance deletes a root instance with all its descendants. force only skips the check for running
	// instances. The turns and activities of such instances then fail when they are acknowledged. Errors:
	// [ErrNotFound], [ErrSubOrchestration], [ErrStillRunning].
	DeleteInstance(ctx context.Context, instance string, force bool) (DeleteInstanceResult, error)

	// DeleteInstancesAtomic deletes a list of instances in one transaction.
	// Unknown ids are ignored. Errors: [ErrStillRunning] without force;
	// [ErrOrphanedChild] when an instance outside the list has its parent in it.
	DeleteInstancesAtomic(ctx context.Context, instances []string, force bool) (DeleteInstanceResult, error)

	// DeleteInstanceBulk deletes finished root instances with their
	// descendants.
	DeleteInstanceBulk(ctx context.Context, filter InstanceFilter) (DeleteInstanceResult, error)

	// PruneExecutions deletes old executions of one instance, never the current
	// one nor a running one. Error: [ErrNotFound].
	PruneExecutions(ctx context.Context, instance string, options PruneOptions) (PruneResult, error)

	// PruneExecutionsBulk prunes every matching instance, running ones and
	// sub-orchestrations included.
	PruneExecutionsBulk(ctx context.Context, filter InstanceFilter, options PruneOptions) (PruneResult, error)
}

// InstanceInfo describes an instance.
type InstanceInfo struct {
	InstanceID           string
	OrchestrationName    string
	OrchestrationVersion string
	CurrentExecutionID   uint64
	// Status and Output are those of the current execution.
	Status           Status
	Output           *string
	CreatedAt        time.Time
	UpdatedAt        time.Time
	ParentInstanceID *string
}

// ExecutionInfo describes one execution.
type ExecutionInfo struct {
	ExecutionID uint64
	Status      Status
	Output      *string
	StartedAt   time.Time
	// CompletedAt is nil while the execution runs.
	CompletedAt *time.Time
	EventCount  uint64
}

// SystemMetrics counts what the store holds. Instances between two
// executions count in the total only.
type SystemMetrics struct {
	TotalInstances     uint64
	TotalExecutions    uint64
	RunningInstances   uint64
	CompletedInstances uint64
	FailedInstances    uint64
	TotalEvents        uint64
}

// QueueDepths counts queued messages without a live lock, future timers
// included.
type QueueDepths struct {
	OrchestratorQueue uint64
	WorkerQueue       uint64
	// TimerQueue is always 0: timers wait in the orchestrator queue.
	TimerQueue uint64
	// UnknownOrchestrations and UnknownActivities count the instances and activities
	// that wait for code that no worker has had for [LiveFor];
	// 0 from a plain [Provider].
	UnknownOrchestrations uint64
	UnknownActivities     uint64
}

// InstanceTree is an instance with all its descendants.
type InstanceTree struct {
	RootID string
	// AllIDs holds the root first and every descendant once.
	AllIDs []string
}

// Size is the number of instances in the tree.
func (t InstanceTree) Size() int { return len(t.AllIDs) }

// IsRootOnly reports whether the root has no descendants.
func (t InstanceTree) IsRootOnly() bool { return len(t.AllIDs) <= 1 }

// DefaultBulkLimit is the number of instances a bulk call handles when
// InstanceFilter.Limit is nil.
const DefaultBulkLimit = 1000

// InstanceFilter selects instances for the bulk calls. An instance must satisfy all conditions that are set.
type InstanceFilter struct {
	// InstanceIDs restricts the selection. nil is no restriction; an empty,
	// non-nil list selects nothing.
	InstanceIDs []string
	// CompletedBefore selects instances whose current execution completed
	// strictly before it, to the millisecond. Running ones never match.
	CompletedBefore *time.Time
	// Limit bounds the number of instances; nil is [DefaultBulkLimit].
	Limit *uint32
}

// PruneOptions select executions to delete. An execution must satisfy all conditions that are set.
type PruneOptions struct {
	// KeepLast keeps that many of the newest executions, the current one
	// included. nil, 0 and 1 are the same, as the current one always stays.
	KeepLast *uint32
	// CompletedBefore selects executions completed strictly before it.
	CompletedBefore *time.Time
}

// DeleteInstanceResult counts what a deletion removed.
type DeleteInstanceResult struct {
	InstancesDeleted     uint64
	ExecutionsDeleted    uint64
	EventsDeleted        uint64
	QueueMessagesDeleted uint64
}

// PruneResult counts what pruning removed.
type PruneResult struct {
	// InstancesProcessed counts instances looked at, also those that had
	// nothing to prune.
	InstancesProcessed uint64
	ExecutionsDeleted  uint64
	EventsDeleted      uint64
}
