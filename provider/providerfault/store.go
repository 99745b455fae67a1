package providerfault

import (
	"context"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// Store is a store that misbehaves on a script. Make it with [New].
type Store struct {
	inner  provider.Provider
	script script
}

// New decorates a store with rules. Of several that apply to a call the first counts.
func New(store provider.Provider, rules ...Rule) *Store {
	s := &Store{inner: store, script: script{calls: map[Operation]int{}}}
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

// Name returns the decorated store's name.
func (s *Store) Name() string { return s.inner.Name() }

// Version returns the decorated store's version.
func (s *Store) Version() string { return s.inner.Version() }

// Admin returns the decorated store's management interface, without faults.
func (s *Store) Admin() provider.Admin { return s.inner.Admin() }

// InstanceChanged passes on to the decorated store. Of one that does not notify, the
// channel is never closed.
func (s *Store) InstanceChanged(instance string) (changed <-chan struct{}, stop func()) {
	if notifier, ok := s.inner.(provider.ChangeNotifier); ok {
		return notifier.InstanceChanged(instance)
	}
	return nil, func() {}
}

// UnknownCode passes on to the decorated store. One that is no [provider.CodeSelector]
// has none: it gets no fetch with an UnknownFor either, and the answer is that there is
// nothing.
func (s *Store) UnknownCode(ctx context.Context, unknownFor time.Duration) ([]provider.UnknownCode, error) {
	if selector, ok := s.inner.(provider.CodeSelector); ok {
		return selector.UnknownCode(ctx, unknownFor)
	}
	return nil, nil
}

// WaitingForCode passes on like UnknownCode.
func (s *Store) WaitingForCode(ctx context.Context, instance string, unknownFor time.Duration) ([]provider.WaitingInstance, error) {
	if selector, ok := s.inner.(provider.CodeSelector); ok {
		return selector.WaitingForCode(ctx, instance, unknownFor)
	}
	return nil, nil
}

// KnownVersions passes on to the decorated store. One that is no [provider.CodeSelector]
// knows of none.
func (s *Store) KnownVersions(ctx context.Context, name string, since time.Duration) ([]string, error) {
	if selector, ok := s.inner.(provider.CodeSelector); ok {
		return selector.KnownVersions(ctx, name, since)
	}
	return nil, nil
}

// selects reports whether the decorated store selects work by code. If not, it is asked
// neither for certain code, which a store behind it might see, nor for what is unknown.
func (s *Store) selects() bool {
	_, selects := s.inner.(provider.CodeSelector)
	return selects
}

// FetchOrchestrationItem implements [provider.Provider].
func (s *Store) FetchOrchestrationItem(ctx context.Context, params provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
	return run(ctx, s, Call{Operation: FetchOrchestrationItem}, func() (*provider.FetchedOrchestration, error) {
		if !s.selects() {
			if params.UnknownFor > 0 {
				return nil, nil
			}
			params.Known = nil
		}
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
		if !s.selects() {
			if params.UnknownFor > 0 {
				return nil, nil
			}
			params.Known = nil
		}
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

// LostWorkItems implements [provider.LeaseWatcher]. Of a store that is none, nothing is
// ever lost.
func (s *Store) LostWorkItems(ctx context.Context, lockTokens []string) ([]string, error) {
	return run(ctx, s, Call{Operation: LostWorkItems}, func() ([]string, error) {
		if watcher, ok := s.inner.(provider.LeaseWatcher); ok {
			return watcher.LostWorkItems(ctx, lockTokens)
		}
		return nil, nil
	})
}

// KeepHeartbeat implements [provider.HeartbeatKeeper]. With a store that is none, it only renews
// the lease.
func (s *Store) KeepHeartbeat(ctx context.Context, lockToken string, extendFor time.Duration, details string) error {
	return act(ctx, s, Call{Operation: KeepHeartbeat, LockToken: lockToken}, func() error {
		if keeper, ok := s.inner.(provider.HeartbeatKeeper); ok {
			return keeper.KeepHeartbeat(ctx, lockToken, extendFor, details)
		}
		return s.inner.RenewWorkItemLock(ctx, lockToken, extendFor)
	})
}

// target is the instance an item is addressed to; the item may be nil.
func target(item provider.WorkItem) string {
	if item == nil {
		return ""
	}
	return item.Target()
}
