package providerfault

import (
	"context"
	"time"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/adapt"
)

// Store is a store that misbehaves on a script. Make it with [New].
type Store struct {
	inner
	script script
}

type inner = provider.Store

// New decorates a store, which may be plain, with rules. Of several that apply to a call the first counts. The store
// may be nil if a rule makes each call fail.
func New(store provider.Provider, rules ...Rule) *Store {
	s := &Store{script: script{calls: map[Operation]int{}}}
	if store != nil {
		s.inner = adapt.Store(store)
	}
	s.script.add(rules)
	return s
}

// Add appends rules, also while the store is in use.
func (s *Store) Add(rules ...Rule) { s.script.add(rules) }

// Calls returns how often an operation was called, faults included and repetitions
// not.
func (s *Store) Calls(operation Operation) int { return s.script.count(operation) }

// run makes a call as the script says.
func run[A any](ctx context.Context, s *Store, call Call, do func() (A, error)) (A, error) {
	return apply(ctx, call.Operation, s.script.next(call), do)
}

// act is run for a call whose only answer is its error.
func act(ctx context.Context, s *Store, call Call, do func() error) error {
	_, err := run(ctx, s, call, func() (struct{}, error) { return struct{}{}, do() })
	return err
}

// FetchOrchestrationItem implements [provider.Provider].
func (s *Store) FetchOrchestrationItem(ctx context.Context, params provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
	return run(ctx, s, Call{Operation: FetchOrchestrationItem}, func() (*provider.FetchedOrchestration, error) {
		return s.inner.FetchOrchestrationItem(ctx, params)
	})
}

// AckOrchestrationItem implements [provider.Provider].
func (s *Store) AckOrchestrationItem(ctx context.Context, params provider.AckOrchestrationParams) error {
	return act(ctx, s, Call{Operation: AckOrchestrationItem, LockToken: params.LockToken, Turn: &params}, func() error {
		return s.inner.AckOrchestrationItem(ctx, params)
	})
}

// AbandonOrchestrationItem implements [provider.Provider].
func (s *Store) AbandonOrchestrationItem(ctx context.Context, params provider.AbandonParams) error {
	return act(ctx, s, Call{Operation: AbandonOrchestrationItem, LockToken: params.LockToken}, func() error {
		return s.inner.AbandonOrchestrationItem(ctx, params)
	})
}

// RenewOrchestrationItemLock implements [provider.Provider].
func (s *Store) RenewOrchestrationItemLock(ctx context.Context, lockToken string, extendFor time.Duration) error {
	return act(ctx, s, Call{Operation: RenewOrchestrationItemLock, LockToken: lockToken}, func() error {
		return s.inner.RenewOrchestrationItemLock(ctx, lockToken, extendFor)
	})
}

// Read implements [provider.Provider].
func (s *Store) Read(ctx context.Context, instance string) ([]provider.Event, error) {
	return run(ctx, s, Call{Operation: Read, Instance: instance}, func() ([]provider.Event, error) {
		return s.inner.Read(ctx, instance)
	})
}

// ReadWithExecution implements [provider.Provider].
func (s *Store) ReadWithExecution(ctx context.Context, instance string, executionID uint64) ([]provider.Event, error) {
	return run(ctx, s, Call{Operation: ReadWithExecution, Instance: instance}, func() ([]provider.Event, error) {
		return s.inner.ReadWithExecution(ctx, instance, executionID)
	})
}

// AppendWithExecution implements [provider.Provider].
func (s *Store) AppendWithExecution(ctx context.Context, instance string, executionID uint64, events []provider.Event) error {
	return act(ctx, s, Call{Operation: AppendWithExecution, Instance: instance}, func() error {
		return s.inner.AppendWithExecution(ctx, instance, executionID, events)
	})
}

// EnqueueForWorker implements [provider.Provider].
func (s *Store) EnqueueForWorker(ctx context.Context, item provider.WorkItem) error {
	return act(ctx, s, Call{Operation: EnqueueForWorker, Instance: target(item), Item: item}, func() error {
		return s.inner.EnqueueForWorker(ctx, item)
	})
}

// EnqueueForOrchestrator implements [provider.Provider].
func (s *Store) EnqueueForOrchestrator(ctx context.Context, item provider.WorkItem, delay time.Duration) error {
	return act(ctx, s, Call{Operation: EnqueueForOrchestrator, Instance: target(item), Item: item}, func() error {
		return s.inner.EnqueueForOrchestrator(ctx, item, delay)
	})
}

// FetchWorkItem implements [provider.Provider].
func (s *Store) FetchWorkItem(ctx context.Context, params provider.FetchWorkParams) (*provider.FetchedWorkItem, error) {
	return run(ctx, s, Call{Operation: FetchWorkItem}, func() (*provider.FetchedWorkItem, error) {
		return s.inner.FetchWorkItem(ctx, params)
	})
}

// AckWorkItem implements [provider.Provider].
func (s *Store) AckWorkItem(ctx context.Context, lockToken string, completion provider.WorkItem) error {
	call := Call{Operation: AckWorkItem, Instance: target(completion), LockToken: lockToken, Item: completion}
	return act(ctx, s, call, func() error { return s.inner.AckWorkItem(ctx, lockToken, completion) })
}

// RenewWorkItemLock implements [provider.Provider].
func (s *Store) RenewWorkItemLock(ctx context.Context, lockToken string, extendFor time.Duration) error {
	return act(ctx, s, Call{Operation: RenewWorkItemLock, LockToken: lockToken}, func() error {
		return s.inner.RenewWorkItemLock(ctx, lockToken, extendFor)
	})
}

// AbandonWorkItem implements [provider.Provider].
func (s *Store) AbandonWorkItem(ctx context.Context, params provider.AbandonParams) error {
	return act(ctx, s, Call{Operation: AbandonWorkItem, LockToken: params.LockToken}, func() error {
		return s.inner.AbandonWorkItem(ctx, params)
	})
}

// RenewSessionLock implements [provider.Provider].
func (s *Store) RenewSessionLock(ctx context.Context, params provider.RenewSessionParams) (int, error) {
	return run(ctx, s, Call{Operation: RenewSessionLock}, func() (int, error) {
		return s.inner.RenewSessionLock(ctx, params)
	})
}

// CleanupOrphanedSessions implements [provider.Provider].
func (s *Store) CleanupOrphanedSessions(ctx context.Context, idleTimeout time.Duration) (int, error) {
	return run(ctx, s, Call{Operation: CleanupOrphanedSessions}, func() (int, error) {
		return s.inner.CleanupOrphanedSessions(ctx, idleTimeout)
	})
}

// GetCustomStatus implements [provider.Provider].
func (s *Store) GetCustomStatus(ctx context.Context, instance string, lastSeenVersion uint64) (*provider.CustomStatus, error) {
	return run(ctx, s, Call{Operation: GetCustomStatus, Instance: instance}, func() (*provider.CustomStatus, error) {
		return s.inner.GetCustomStatus(ctx, instance, lastSeenVersion)
	})
}

// GetKVValue implements [provider.Provider].
func (s *Store) GetKVValue(ctx context.Context, instance, key string) (*string, error) {
	return run(ctx, s, Call{Operation: GetKVValue, Instance: instance}, func() (*string, error) {
		return s.inner.GetKVValue(ctx, instance, key)
	})
}

// GetKVAllValues implements [provider.Provider].
func (s *Store) GetKVAllValues(ctx context.Context, instance string) (map[string]string, error) {
	return run(ctx, s, Call{Operation: GetKVAllValues, Instance: instance}, func() (map[string]string, error) {
		return s.inner.GetKVAllValues(ctx, instance)
	})
}

// GetInstanceStats implements [provider.Provider].
func (s *Store) GetInstanceStats(ctx context.Context, instance string) (*provider.InstanceStats, error) {
	return run(ctx, s, Call{Operation: GetInstanceStats, Instance: instance}, func() (*provider.InstanceStats, error) {
		return s.inner.GetInstanceStats(ctx, instance)
	})
}

// LostWorkItems implements [provider.Store].
func (s *Store) LostWorkItems(ctx context.Context, lockTokens []string) ([]string, error) {
	return run(ctx, s, Call{Operation: LostWorkItems}, func() ([]string, error) {
		return s.inner.LostWorkItems(ctx, lockTokens)
	})
}

// KeepHeartbeat implements [provider.Store].
func (s *Store) KeepHeartbeat(ctx context.Context, lockToken string, extendFor time.Duration, details string) error {
	return act(ctx, s, Call{Operation: KeepHeartbeat, LockToken: lockToken}, func() error {
		return s.inner.KeepHeartbeat(ctx, lockToken, extendFor, details)
	})
}

// StartInstance follows the script as an [EnqueueForOrchestrator] of the start.
func (s *Store) StartInstance(ctx context.Context, start provider.StartOrchestrationItem) (*provider.IDUse, error) {
	return run(ctx, s, Call{Operation: EnqueueForOrchestrator, Instance: start.Instance, Item: start}, func() (*provider.IDUse, error) {
		return s.inner.StartInstance(ctx, start)
	})
}

// StartInstanceWith is as StartInstance.
func (s *Store) StartInstanceWith(
	ctx context.Context, start provider.StartOrchestrationItem, messages []provider.WorkItem, toUser bool,
) (*provider.IDUse, error) {
	return run(ctx, s, Call{Operation: EnqueueForOrchestrator, Instance: start.Instance, Item: start}, func() (*provider.IDUse, error) {
		return s.inner.StartInstanceWith(ctx, start, messages, toUser)
	})
}

// ReadProgress implements [provider.Store].
func (s *Store) ReadProgress(ctx context.Context, instances []string) ([]provider.Progress, error) {
	return run(ctx, s, Call{Operation: ReadProgress}, func() ([]provider.Progress, error) {
		return s.inner.ReadProgress(ctx, instances)
	})
}

// target is the instance an item is addressed to; the item may be nil.
func target(item provider.WorkItem) string {
	if item == nil {
		return ""
	}
	return item.Target()
}
