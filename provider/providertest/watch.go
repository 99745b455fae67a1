package providertest

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// ruleCallEnds is what a call breaks that does not return.
const ruleCallEnds = "§5: every call ends: a fetch that finds nothing by its pollTimeout, any other when its work is done, " +
	"and each of them soon after its context"

// watch fails the scenario when a call of the store under test does not return, and lets
// the scenario go on without it: go test would wait for ten minutes and name nothing. The
// call's goroutine is left behind.
type watch struct {
	tb testing.TB
	// limit is how long a call may take, beside its PollTimeout. grace is how long it may
	// go on when its context has ended.
	limit, grace time.Duration
	// hung is what all calls answer once one has not returned.
	hung atomic.Pointer[provider.Error]
}

// guard makes a call that may wait for poll.
func guard[T any](
	ctx context.Context, w *watch, method string, poll time.Duration, call func() (T, error),
) (value T, err error) {
	w.tb.Helper()
	if hung := w.hung.Load(); hung != nil {
		return value, hung
	}
	type answer struct {
		value T
		err   error
	}
	answers := make(chan answer, 1)
	go func() {
		value, err := call()
		answers <- answer{value, err}
	}()
	limit := time.NewTimer(poll + w.limit)
	defer limit.Stop()
	select {
	case a := <-answers:
		return a.value, a.err
	case <-limit.C:
		return value, w.hang(method, ruleCallEnds, poll+w.limit, "it was called")
	case <-ctx.Done():
	}
	grace := time.NewTimer(w.grace)
	defer grace.Stop()
	select {
	case a := <-answers:
		return a.value, a.err
	case <-grace.C:
		return value, w.hang(method, ruleCancelledContext, w.grace, "its context ended")
	}
}

// act is guard for a call whose only answer is its error.
func (w *watch) act(ctx context.Context, method string, call func() error) error {
	w.tb.Helper()
	_, err := guard(ctx, w, method, 0, func() (struct{}, error) { return struct{}{}, call() })
	return err
}

// hang reports a call that has not returned. The scenario hears of it as an error, on
// whatever goroutine made the call, and gets no other answer from then on.
func (w *watch) hang(method, rule string, after time.Duration, since string) error {
	w.tb.Helper()
	hung := provider.Permanent(method, "the call has not returned; the scenario makes no more calls", nil)
	if w.hung.CompareAndSwap(nil, hung) {
		w.tb.Errorf("violates %s\n\t%s has not returned %v after %s", rule, method, after, since)
	}
	return hung
}

// watched is the store under test, its calls watched.
type watched struct {
	*watch
	p provider.Provider
}

// watch watches the calls of a store.
func (e *env) watch(p provider.Provider) provider.Provider {
	return watched{&watch{tb: e.TB, limit: 60 * e.lease, grace: 10 * e.lease}, p}
}

func (s watched) Name() string    { return s.p.Name() }
func (s watched) Version() string { return s.p.Version() }

func (s watched) Admin() provider.Admin {
	admin := s.p.Admin()
	if admin == nil {
		return nil
	}
	return watchedAdmin{s.watch, admin}
}

func (s watched) FetchOrchestrationItem(ctx context.Context, params provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
	return guard(ctx, s.watch, "FetchOrchestrationItem", params.PollTimeout, func() (*provider.FetchedOrchestration, error) { return s.p.FetchOrchestrationItem(ctx, params) })
}

func (s watched) AckOrchestrationItem(ctx context.Context, params provider.AckOrchestrationParams) error {
	return s.act(ctx, "AckOrchestrationItem", func() error { return s.p.AckOrchestrationItem(ctx, params) })
}

func (s watched) AbandonOrchestrationItem(ctx context.Context, params provider.AbandonParams) error {
	return s.act(ctx, "AbandonOrchestrationItem", func() error { return s.p.AbandonOrchestrationItem(ctx, params) })
}

func (s watched) RenewOrchestrationItemLock(ctx context.Context, lockToken string, extendFor time.Duration) error {
	return s.act(ctx, "RenewOrchestrationItemLock", func() error { return s.p.RenewOrchestrationItemLock(ctx, lockToken, extendFor) })
}

func (s watched) Read(ctx context.Context, instance string) ([]provider.Event, error) {
	return guard(ctx, s.watch, "Read", 0, func() ([]provider.Event, error) { return s.p.Read(ctx, instance) })
}

func (s watched) ReadWithExecution(ctx context.Context, instance string, executionID uint64) ([]provider.Event, error) {
	return guard(ctx, s.watch, "ReadWithExecution", 0, func() ([]provider.Event, error) { return s.p.ReadWithExecution(ctx, instance, executionID) })
}

func (s watched) AppendWithExecution(ctx context.Context, instance string, executionID uint64, events []provider.Event) error {
	return s.act(ctx, "AppendWithExecution", func() error { return s.p.AppendWithExecution(ctx, instance, executionID, events) })
}

func (s watched) EnqueueForWorker(ctx context.Context, item provider.WorkItem) error {
	return s.act(ctx, "EnqueueForWorker", func() error { return s.p.EnqueueForWorker(ctx, item) })
}

func (s watched) EnqueueForOrchestrator(ctx context.Context, item provider.WorkItem, delay time.Duration) error {
	return s.act(ctx, "EnqueueForOrchestrator", func() error { return s.p.EnqueueForOrchestrator(ctx, item, delay) })
}

func (s watched) FetchWorkItem(ctx context.Context, params provider.FetchWorkParams) (*provider.FetchedWorkItem, error) {
	return guard(ctx, s.watch, "FetchWorkItem", params.PollTimeout, func() (*provider.FetchedWorkItem, error) { return s.p.FetchWorkItem(ctx, params) })
}

func (s watched) AckWorkItem(ctx context.Context, lockToken string, completion provider.WorkItem) error {
	return s.act(ctx, "AckWorkItem", func() error { return s.p.AckWorkItem(ctx, lockToken, completion) })
}

func (s watched) RenewWorkItemLock(ctx context.Context, lockToken string, extendFor time.Duration) error {
	return s.act(ctx, "RenewWorkItemLock", func() error { return s.p.RenewWorkItemLock(ctx, lockToken, extendFor) })
}

func (s watched) AbandonWorkItem(ctx context.Context, params provider.AbandonParams) error {
	return s.act(ctx, "AbandonWorkItem", func() error { return s.p.AbandonWorkItem(ctx, params) })
}

func (s watched) RenewSessionLock(ctx context.Context, params provider.RenewSessionParams) (int, error) {
	return guard(ctx, s.watch, "RenewSessionLock", 0, func() (int, error) { return s.p.RenewSessionLock(ctx, params) })
}

func (s watched) CleanupOrphanedSessions(ctx context.Context, idleTimeout time.Duration) (int, error) {
	return guard(ctx, s.watch, "CleanupOrphanedSessions", 0, func() (int, error) { return s.p.CleanupOrphanedSessions(ctx, idleTimeout) })
}

func (s watched) GetCustomStatus(ctx context.Context, instance string, lastSeenVersion uint64) (*provider.CustomStatus, error) {
	return guard(ctx, s.watch, "GetCustomStatus", 0, func() (*provider.CustomStatus, error) { return s.p.GetCustomStatus(ctx, instance, lastSeenVersion) })
}

func (s watched) GetKVValue(ctx context.Context, instance, key string) (*string, error) {
	return guard(ctx, s.watch, "GetKVValue", 0, func() (*string, error) { return s.p.GetKVValue(ctx, instance, key) })
}

func (s watched) GetKVAllValues(ctx context.Context, instance string) (map[string]string, error) {
	return guard(ctx, s.watch, "GetKVAllValues", 0, func() (map[string]string, error) { return s.p.GetKVAllValues(ctx, instance) })
}

func (s watched) GetInstanceStats(ctx context.Context, instance string) (*provider.InstanceStats, error) {
	return guard(ctx, s.watch, "GetInstanceStats", 0, func() (*provider.InstanceStats, error) { return s.p.GetInstanceStats(ctx, instance) })
}
