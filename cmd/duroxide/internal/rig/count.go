package rig

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// Counter is a store that counts and times what is asked of it and passes it on.
type Counter struct {
	store provider.Provider

	calls, writes, emptyFetches atomic.Int64

	mu      sync.Mutex
	methods map[string]*tally
}

// tally is what is known of a method.
type tally struct {
	calls int64
	total time.Duration
}

// Count returns a counter on the store. It tells of changes as the store does.
func Count(store provider.Provider) *Counter {
	return &Counter{store: store, methods: map[string]*tally{}}
}

// Calls is the number of calls.
func (c *Counter) Calls() int64 { return c.calls.Load() }

// Writes is the number of calls that changed the store: each is at least a part of
// a transaction. A fetch counts when it locked something.
func (c *Counter) Writes() int64 { return c.writes.Load() }

// EmptyFetches is the number of fetches that found nothing.
func (c *Counter) EmptyFetches() int64 { return c.emptyFetches.Load() }

var (
	_ provider.Provider        = (*Counter)(nil)
	_ provider.ChangeNotifier  = (*Counter)(nil)
	_ provider.EndNotifier     = (*Counter)(nil)
	_ provider.EndTeller       = (*Counter)(nil)
	_ provider.CodeSelector    = (*Counter)(nil)
	_ provider.InstanceStarter = (*Counter)(nil)
	_ provider.ProgressReader  = (*Counter)(nil)
	_ provider.Taker           = (*Counter)(nil)
	_ provider.LockRenewer     = (*Counter)(nil)
)

// MethodTime is how often a method was called, and how long a call took on average.
type MethodTime struct {
	Method string        `json:"method"`
	Calls  int64         `json:"calls"`
	Mean   time.Duration `json:"mean_ns"`
}

// Methods returns the methods that were called, by name. Fetches that found nothing
// are left out: they wait.
func (c *Counter) Methods() []MethodTime {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []MethodTime
	for _, name := range slices.Sorted(maps.Keys(c.methods)) {
		t := c.methods[name]
		list = append(list, MethodTime{name, t.calls, t.total / time.Duration(t.calls)})
	}
	return list
}

// call is a call in progress.
type call struct {
	counter *Counter
	method  string
	began   time.Time
}

func (c *Counter) begin(method string) call {
	c.calls.Add(1)
	return call{c, method, time.Now()}
}

// end times the call, and counts it as a write if it has changed something.
func (c call) end(changed bool) {
	took := time.Since(c.began)
	if changed {
		c.counter.writes.Add(1)
	}
	c.counter.mu.Lock()
	defer c.counter.mu.Unlock()
	t := c.counter.methods[c.method]
	if t == nil {
		t = &tally{}
		c.counter.methods[c.method] = t
	}
	t.calls++
	t.total += took
}

// endFetch ends a fetch.
func (c call) endFetch(found bool) {
	if !found {
		c.counter.emptyFetches.Add(1)
		return
	}
	c.end(true)
}

// Name implements [provider.Provider].
func (c *Counter) Name() string { return c.store.Name() }

// Version implements [provider.Provider].
func (c *Counter) Version() string { return c.store.Version() }

// Admin implements [provider.Provider].
func (c *Counter) Admin() provider.Admin {
	admin := c.store.Admin()
	if admin == nil {
		return nil
	}
	return countedAdmin{admin, c}
}

// countedAdmin counts the one call that a waiting client makes; the others are for
// tools.
type countedAdmin struct {
	provider.Admin

	counter *Counter
}

// GetInstanceInfo implements [provider.Admin].
func (a countedAdmin) GetInstanceInfo(ctx context.Context, instance string) (provider.InstanceInfo, error) {
	defer a.counter.begin("GetInstanceInfo").end(false)
	return a.Admin.GetInstanceInfo(ctx, instance)
}

// InstanceChanged implements [provider.ChangeNotifier]. For a store that does not
// notify, the channel never closes.
func (c *Counter) InstanceChanged(instance string) (changed <-chan struct{}, stop func()) {
	if notifier, ok := c.store.(provider.ChangeNotifier); ok {
		return notifier.InstanceChanged(instance)
	}
	return nil, func() {}
}

// InstanceEnded implements [provider.EndNotifier]. For a store that does not tell of ends the
// channel is nil.
func (c *Counter) InstanceEnded(instance string) (ended <-chan struct{}, stop func()) {
	if notifier, ok := c.store.(provider.EndNotifier); ok {
		return notifier.InstanceEnded(instance)
	}
	return nil, func() {}
}

// InstanceEnd implements [provider.EndTeller]. Of a store that is none it tells no more than
// InstanceEnded.
func (c *Counter) InstanceEnd(instance string) (ended <-chan struct{}, end func() *provider.Progress, stop func()) {
	if teller, ok := c.store.(provider.EndTeller); ok {
		return teller.InstanceEnd(instance)
	}
	ended, stop = c.InstanceEnded(instance)
	return ended, nil, stop
}

// ReadProgress implements [provider.ProgressReader].
func (c *Counter) ReadProgress(ctx context.Context, instances []string) ([]provider.Progress, error) {
	defer c.begin("ReadProgress").end(false)
	return provider.ReadProgress(ctx, c.store, instances)
}

// StartInstance implements [provider.InstanceStarter].
func (c *Counter) StartInstance(ctx context.Context, start provider.StartOrchestrationItem) (*provider.IDUse, error) {
	call := c.begin("StartInstance")
	use, err := provider.StartInstance(ctx, c.store, start)
	call.end(err == nil && use == nil)
	return use, err
}

// FindInstance implements [provider.InstanceStarter].
func (c *Counter) FindInstance(ctx context.Context, instance string) (*provider.IDUse, error) {
	defer c.begin("FindInstance").end(false)
	return provider.FindInstance(ctx, c.store, instance)
}

// FetchOrchestrationItem implements [provider.Provider].
func (c *Counter) FetchOrchestrationItem(ctx context.Context, params provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
	call := c.begin("FetchOrchestrationItem")
	item, err := c.store.FetchOrchestrationItem(ctx, params)
	call.endFetch(item != nil)
	return item, err
}

// AckOrchestrationItem implements [provider.Provider].
func (c *Counter) AckOrchestrationItem(ctx context.Context, params provider.AckOrchestrationParams) error {
	call := c.begin("AckOrchestrationItem")
	err := c.store.AckOrchestrationItem(ctx, params)
	call.end(err == nil)
	return err
}

// AbandonOrchestrationItem implements [provider.Provider].
func (c *Counter) AbandonOrchestrationItem(ctx context.Context, params provider.AbandonParams) error {
	call := c.begin("AbandonOrchestrationItem")
	err := c.store.AbandonOrchestrationItem(ctx, params)
	call.end(err == nil)
	return err
}

// RenewOrchestrationItemLock implements [provider.Provider].
func (c *Counter) RenewOrchestrationItemLock(ctx context.Context, lockToken string, extendFor time.Duration) error {
	call := c.begin("RenewOrchestrationItemLock")
	err := c.store.RenewOrchestrationItemLock(ctx, lockToken, extendFor)
	call.end(err == nil)
	return err
}

// Read implements [provider.Provider].
func (c *Counter) Read(ctx context.Context, instance string) ([]provider.Event, error) {
	defer c.begin("Read").end(false)
	return c.store.Read(ctx, instance)
}

// ReadWithExecution implements [provider.Provider].
func (c *Counter) ReadWithExecution(ctx context.Context, instance string, executionID uint64) ([]provider.Event, error) {
	defer c.begin("ReadWithExecution").end(false)
	return c.store.ReadWithExecution(ctx, instance, executionID)
}

// AppendWithExecution implements [provider.Provider].
func (c *Counter) AppendWithExecution(ctx context.Context, instance string, executionID uint64, events []provider.Event) error {
	call := c.begin("AppendWithExecution")
	err := c.store.AppendWithExecution(ctx, instance, executionID, events)
	call.end(err == nil)
	return err
}

// EnqueueForWorker implements [provider.Provider].
func (c *Counter) EnqueueForWorker(ctx context.Context, item provider.WorkItem) error {
	call := c.begin("EnqueueForWorker")
	err := c.store.EnqueueForWorker(ctx, item)
	call.end(err == nil)
	return err
}

// EnqueueForOrchestrator implements [provider.Provider].
func (c *Counter) EnqueueForOrchestrator(ctx context.Context, item provider.WorkItem, delay time.Duration) error {
	call := c.begin("EnqueueForOrchestrator")
	err := c.store.EnqueueForOrchestrator(ctx, item, delay)
	call.end(err == nil)
	return err
}

// FetchWorkItem implements [provider.Provider].
func (c *Counter) FetchWorkItem(ctx context.Context, params provider.FetchWorkParams) (*provider.FetchedWorkItem, error) {
	call := c.begin("FetchWorkItem")
	item, err := c.store.FetchWorkItem(ctx, params)
	call.endFetch(item != nil)
	return item, err
}

// AckWorkItem implements [provider.Provider].
func (c *Counter) AckWorkItem(ctx context.Context, lockToken string, completion provider.WorkItem) error {
	call := c.begin("AckWorkItem")
	err := c.store.AckWorkItem(ctx, lockToken, completion)
	call.end(err == nil)
	return err
}

// RenewWorkItemLock implements [provider.Provider].
func (c *Counter) RenewWorkItemLock(ctx context.Context, lockToken string, extendFor time.Duration) error {
	call := c.begin("RenewWorkItemLock")
	err := c.store.RenewWorkItemLock(ctx, lockToken, extendFor)
	call.end(err == nil)
	return err
}

// AbandonWorkItem implements [provider.Provider].
func (c *Counter) AbandonWorkItem(ctx context.Context, params provider.AbandonParams) error {
	call := c.begin("AbandonWorkItem")
	err := c.store.AbandonWorkItem(ctx, params)
	call.end(err == nil)
	return err
}

// RenewSessionLock implements [provider.Provider].
func (c *Counter) RenewSessionLock(ctx context.Context, params provider.RenewSessionParams) (int, error) {
	call := c.begin("RenewSessionLock")
	n, err := c.store.RenewSessionLock(ctx, params)
	call.end(n > 0)
	return n, err
}

// CleanupOrphanedSessions implements [provider.Provider].
func (c *Counter) CleanupOrphanedSessions(ctx context.Context, idleTimeout time.Duration) (int, error) {
	call := c.begin("CleanupOrphanedSessions")
	n, err := c.store.CleanupOrphanedSessions(ctx, idleTimeout)
	call.end(n > 0)
	return n, err
}

// UnknownCode passes on to the store if it is a [provider.CodeSelector]; another has none.
func (c *Counter) UnknownCode(ctx context.Context, unknownFor time.Duration) ([]provider.UnknownCode, error) {
	selector, ok := c.store.(provider.CodeSelector)
	if !ok {
		return nil, nil
	}
	defer c.begin("UnknownCode").end(false)
	return selector.UnknownCode(ctx, unknownFor)
}

// KnownVersions passes on to the store if it is a [provider.CodeSelector]; another knows of none.
func (c *Counter) KnownVersions(ctx context.Context, name string, since time.Duration) ([]string, error) {
	selector, ok := c.store.(provider.CodeSelector)
	if !ok {
		return nil, nil
	}
	defer c.begin("KnownVersions").end(false)
	return selector.KnownVersions(ctx, name, since)
}

// GetCustomStatus implements [provider.Provider].
func (c *Counter) GetCustomStatus(ctx context.Context, instance string, lastSeenVersion uint64) (*provider.CustomStatus, error) {
	defer c.begin("GetCustomStatus").end(false)
	return c.store.GetCustomStatus(ctx, instance, lastSeenVersion)
}

// GetKVValue implements [provider.Provider].
func (c *Counter) GetKVValue(ctx context.Context, instance, key string) (*string, error) {
	defer c.begin("GetKVValue").end(false)
	return c.store.GetKVValue(ctx, instance, key)
}

// GetKVAllValues implements [provider.Provider].
func (c *Counter) GetKVAllValues(ctx context.Context, instance string) (map[string]string, error) {
	defer c.begin("GetKVAllValues").end(false)
	return c.store.GetKVAllValues(ctx, instance)
}

// GetInstanceStats implements [provider.Provider].
func (c *Counter) GetInstanceStats(ctx context.Context, instance string) (*provider.InstanceStats, error) {
	defer c.begin("GetInstanceStats").end(false)
	return c.store.GetInstanceStats(ctx, instance)
}

// WorkReady implements [provider.Taker]. For a store that is none the channels are nil.
func (c *Counter) WorkReady() (turns, activities <-chan struct{}, stop func()) {
	if taker, ok := c.store.(provider.Taker); ok {
		return taker.WorkReady()
	}
	return nil, nil, func() {}
}

// Take implements [provider.Taker]. It counts as a fetch.
func (c *Counter) Take(ctx context.Context, params provider.TakeParams) (provider.Taken, error) {
	call := c.begin("Take")
	taken, err := c.taker().Take(ctx, params)
	call.endFetch(taken.Turn != nil || len(taken.Work) > 0)
	return taken, err
}

// AckTurnAndTake implements [provider.Taker].
func (c *Counter) AckTurnAndTake(ctx context.Context, ack provider.AckOrchestrationParams, params provider.TakeParams) (provider.Taken, error) {
	call := c.begin("AckTurnAndTake")
	taken, err := c.taker().AckTurnAndTake(ctx, ack, params)
	call.end(err == nil)
	return taken, err
}

// AckWorkAndTake implements [provider.Taker]. It changes the store if an acknowledgement does.
func (c *Counter) AckWorkAndTake(
	ctx context.Context, acks []provider.WorkAck, params provider.TakeParams,
) ([]error, provider.Taken, error) {
	call := c.begin("AckWorkAndTake")
	outcomes, taken, err := c.taker().AckWorkAndTake(ctx, acks, params)
	call.end(err == nil && slices.Contains(outcomes, nil))
	return outcomes, taken, err
}

// taker is the store, which WorkReady has said to be one.
func (c *Counter) taker() provider.Taker {
	taker, _ := c.store.(provider.Taker)
	return taker
}

// RenewLocks implements [provider.LockRenewer]. A store that is none renews one lease after
// the other, and each counts.
func (c *Counter) RenewLocks(ctx context.Context, locks []provider.LockRenewal) ([]error, error) {
	renewer, ok := c.store.(provider.LockRenewer)
	if !ok {
		outcomes := make([]error, len(locks))
		for i, lock := range locks {
			renew := c.RenewWorkItemLock
			if lock.Turn {
				renew = c.RenewOrchestrationItemLock
			}
			outcomes[i] = renew(ctx, lock.LockToken, lock.ExtendFor)
		}
		return outcomes, nil
	}
	call := c.begin("RenewLocks")
	outcomes, err := renewer.RenewLocks(ctx, locks)
	call.end(err == nil)
	return outcomes, err
}
