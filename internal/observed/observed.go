// Package observed tells a hook of the calls of a store.
package observed

import (
	"context"
	"time"

	"github.com/duroxide/duroxide-go/hook"
	"github.com/duroxide/duroxide-go/provider"
)

// Store is the store with a hook that is told of its calls; without a hook it is the store itself.
func Store(s provider.Store, h hook.Hook) provider.Store {
	if h == nil {
		return s
	}
	return &store{Store: s, hook: h}
}

// Call makes a call that belongs to no [Store], and tells the hook, which may be nil.
func Call(ctx context.Context, h hook.Hook, operation string, call func() error) (err error) {
	if h != nil {
		defer begin(ctx, h, operation).end(&err)
	}
	return call()
}

// ended is what a hook wants to be called with, nil for nothing.
type ended func(hook.StoreEnd)

func begin(ctx context.Context, h hook.Hook, operation string) ended { return h.Store(ctx, operation) }

// end tells of a call that fetches nothing.
func (e ended) end(err *error) { e.fetched(*err, 0, 0) }

// fetched tells of a call that may fetch.
func (e ended) fetched(err error, turns, activities int) {
	if e != nil {
		e(hook.StoreEnd{Turns: turns, Activities: activities, Err: err})
	}
}

// took tells of a call that takes work.
func (e ended) took(err error, taken provider.Claimed) {
	turns := 0
	if taken.Turn != nil {
		turns = 1
	}
	if err == nil {
		err = taken.Err
	}
	e.fetched(err, turns, len(taken.Work))
}

// store tells a hook of its calls. Those of management are not told.
type store struct {
	provider.Store

	hook hook.Hook
}

func (s *store) begin(ctx context.Context, operation string) ended {
	return begin(ctx, s.hook, operation)
}

func (s *store) FetchOrchestrationItem(
	ctx context.Context, params provider.FetchOrchestrationParams,
) (item *provider.FetchedOrchestration, err error) {
	told := s.begin(ctx, "fetch_orchestration_item")
	item, err = s.Store.FetchOrchestrationItem(ctx, params)
	told.took(err, provider.Claimed{Turn: item})
	return item, err
}

func (s *store) AckOrchestrationItem(ctx context.Context, params provider.AckOrchestrationParams) (err error) {
	defer s.begin(ctx, "ack_orchestration_item").end(&err)
	return s.Store.AckOrchestrationItem(ctx, params)
}

func (s *store) AbandonOrchestrationItem(ctx context.Context, params provider.AbandonParams) (err error) {
	defer s.begin(ctx, "abandon_orchestration_item").end(&err)
	return s.Store.AbandonOrchestrationItem(ctx, params)
}

func (s *store) RenewOrchestrationItemLock(ctx context.Context, lockToken string, extendFor time.Duration) (err error) {
	defer s.begin(ctx, "renew_orchestration_item_lock").end(&err)
	return s.Store.RenewOrchestrationItemLock(ctx, lockToken, extendFor)
}

func (s *store) Read(ctx context.Context, instance string) (_ []provider.Event, err error) {
	defer s.begin(ctx, "read").end(&err)
	return s.Store.Read(ctx, instance)
}

func (s *store) ReadWithExecution(ctx context.Context, instance string, executionID uint64) (_ []provider.Event, err error) {
	defer s.begin(ctx, "read_with_execution").end(&err)
	return s.Store.ReadWithExecution(ctx, instance, executionID)
}

func (s *store) AppendWithExecution(ctx context.Context, instance string, executionID uint64, events []provider.Event) (err error) {
	defer s.begin(ctx, "append_with_execution").end(&err)
	return s.Store.AppendWithExecution(ctx, instance, executionID, events)
}

func (s *store) EnqueueForWorker(ctx context.Context, item provider.WorkItem) (err error) {
	defer s.begin(ctx, "enqueue_for_worker").end(&err)
	return s.Store.EnqueueForWorker(ctx, item)
}

func (s *store) EnqueueForOrchestrator(ctx context.Context, item provider.WorkItem, delay time.Duration) (err error) {
	defer s.begin(ctx, "enqueue_orchestrator").end(&err)
	return s.Store.EnqueueForOrchestrator(ctx, item, delay)
}

func (s *store) FetchWorkItem(ctx context.Context, params provider.FetchWorkParams) (item *provider.FetchedWorkItem, err error) {
	told := s.begin(ctx, "fetch_work_item")
	item, err = s.Store.FetchWorkItem(ctx, params)
	activities := 0
	if item != nil {
		activities = 1
	}
	told.fetched(err, 0, activities)
	return item, err
}

func (s *store) AckWorkItem(ctx context.Context, lockToken string, completion provider.WorkItem) (err error) {
	defer s.begin(ctx, "ack_work_item").end(&err)
	return s.Store.AckWorkItem(ctx, lockToken, completion)
}

func (s *store) RenewWorkItemLock(ctx context.Context, lockToken string, extendFor time.Duration) (err error) {
	defer s.begin(ctx, "renew_work_item_lock").end(&err)
	return s.Store.RenewWorkItemLock(ctx, lockToken, extendFor)
}

func (s *store) AbandonWorkItem(ctx context.Context, params provider.AbandonParams) (err error) {
	defer s.begin(ctx, "abandon_work_item").end(&err)
	return s.Store.AbandonWorkItem(ctx, params)
}

func (s *store) RenewSessionLock(ctx context.Context, params provider.RenewSessionParams) (_ int, err error) {
	defer s.begin(ctx, "renew_session_lock").end(&err)
	return s.Store.RenewSessionLock(ctx, params)
}

func (s *store) CleanupOrphanedSessions(ctx context.Context, idleTimeout time.Duration) (_ int, err error) {
	defer s.begin(ctx, "cleanup_orphaned_sessions").end(&err)
	return s.Store.CleanupOrphanedSessions(ctx, idleTimeout)
}

func (s *store) GetCustomStatus(ctx context.Context, instance string, lastSeenVersion uint64) (_ *provider.CustomStatus, err error) {
	defer s.begin(ctx, "get_custom_status").end(&err)
	return s.Store.GetCustomStatus(ctx, instance, lastSeenVersion)
}

func (s *store) GetKVValue(ctx context.Context, instance, key string) (_ *string, err error) {
	defer s.begin(ctx, "get_kv_value").end(&err)
	return s.Store.GetKVValue(ctx, instance, key)
}

func (s *store) GetKVAllValues(ctx context.Context, instance string) (_ map[string]string, err error) {
	defer s.begin(ctx, "get_kv_all_values").end(&err)
	return s.Store.GetKVAllValues(ctx, instance)
}

func (s *store) GetInstanceStats(ctx context.Context, instance string) (_ *provider.InstanceStats, err error) {
	defer s.begin(ctx, "get_instance_stats").end(&err)
	return s.Store.GetInstanceStats(ctx, instance)
}
