package rig

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// Counter is a store that counts what is asked of it and passes it on.
type Counter struct {
	store provider.Provider

	calls, writes, emptyFetches atomic.Int64
}

// Count returns a counter on the store. It tells of changes as the store does.
func Count(store provider.Provider) *Counter { return &Counter{store: store} }

// Calls is the number of calls.
func (c *Counter) Calls() int64 { return c.calls.Load() }

// Writes is the number of calls that changed the store: each is at least a part of
// a transaction. A fetch counts when it locked something.
func (c *Counter) Writes() int64 { return c.writes.Load() }

// EmptyFetches is the number of fetches that found nothing.
func (c *Counter) EmptyFetches() int64 { return c.emptyFetches.Load() }

var (
	_ provider.Provider       = (*Counter)(nil)
	_ provider.ChangeNotifier = (*Counter)(nil)
)

// read counts a call that changes nothing.
func (c *Counter) read() { c.calls.Add(1) }

// wrote counts a call that changes something unless it failed.
func (c *Counter) wrote(err error) error {
	c.calls.Add(1)
	if err == nil {
		c.writes.Add(1)
	}
	return err
}

// fetched counts a fetch.
func (c *Counter) fetched(found bool) {
	c.calls.Add(1)
	if found {
		c.writes.Add(1)
	} else {
		c.emptyFetches.Add(1)
	}
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
	a.counter.read()
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

// FetchOrchestrationItem implements [provider.Provider].
func (c *Counter) FetchOrchestrationItem(ctx context.Context, params provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
	item, err := c.store.FetchOrchestrationItem(ctx, params)
	c.fetched(item != nil)
	return item, err
}

// AckOrchestrationItem implements [provider.Provider].
func (c *Counter) AckOrchestrationItem(ctx context.Context, params provider.AckOrchestrationParams) error {
	return c.wrote(c.store.AckOrchestrationItem(ctx, params))
}

// AbandonOrchestrationItem implements [provider.Provider].
func (c *Counter) AbandonOrchestrationItem(ctx context.Context, params provider.AbandonParams) error {
	return c.wrote(c.store.AbandonOrchestrationItem(ctx, params))
}

// RenewOrchestrationItemLock implements [provider.Provider].
func (c *Counter) RenewOrchestrationItemLock(ctx context.Context, lockToken string, extendFor time.Duration) error {
	return c.wrote(c.store.RenewOrchestrationItemLock(ctx, lockToken, extendFor))
}

// Read implements [provider.Provider].
func (c *Counter) Read(ctx context.Context, instance string) ([]provider.Event, error) {
	c.read()
	return c.store.Read(ctx, instance)
}

// ReadWithExecution implements [provider.Provider].
func (c *Counter) ReadWithExecution(ctx context.Context, instance string, executionID uint64) ([]provider.Event, error) {
	c.read()
	return c.store.ReadWithExecution(ctx, instance, executionID)
}

// AppendWithExecution implements [provider.Provider].
func (c *Counter) AppendWithExecution(ctx context.Context, instance string, executionID uint64, events []provider.Event) error {
	return c.wrote(c.store.AppendWithExecution(ctx, instance, executionID, events))
}

// EnqueueForWorker implements [provider.Provider].
func (c *Counter) EnqueueForWorker(ctx context.Context, item provider.WorkItem) error {
	return c.wrote(c.store.EnqueueForWorker(ctx, item))
}

// EnqueueForOrchestrator implements [provider.Provider].
func (c *Counter) EnqueueForOrchestrator(ctx context.Context, item provider.WorkItem, delay time.Duration) error {
	return c.wrote(c.store.EnqueueForOrchestrator(ctx, item, delay))
}

// FetchWorkItem implements [provider.Provider].
func (c *Counter) FetchWorkItem(ctx context.Context, params provider.FetchWorkParams) (*provider.FetchedWorkItem, error) {
	item, err := c.store.FetchWorkItem(ctx, params)
	c.fetched(item != nil)
	return item, err
}

// AckWorkItem implements [provider.Provider].
func (c *Counter) AckWorkItem(ctx context.Context, lockToken string, completion provider.WorkItem) error {
	return c.wrote(c.store.AckWorkItem(ctx, lockToken, completion))
}

// RenewWorkItemLock implements [provider.Provider].
func (c *Counter) RenewWorkItemLock(ctx context.Context, lockToken string, extendFor time.Duration) error {
	return c.wrote(c.store.RenewWorkItemLock(ctx, lockToken, extendFor))
}

// AbandonWorkItem implements [provider.Provider].
func (c *Counter) AbandonWorkItem(ctx context.Context, params provider.AbandonParams) error {
	return c.wrote(c.store.AbandonWorkItem(ctx, params))
}

// RenewSessionLock implements [provider.Provider].
func (c *Counter) RenewSessionLock(ctx context.Context, params provider.RenewSessionParams) (int, error) {
	n, err := c.store.RenewSessionLock(ctx, params)
	c.changed(n)
	return n, err
}

// CleanupOrphanedSessions implements [provider.Provider].
func (c *Counter) CleanupOrphanedSessions(ctx context.Context, idleTimeout time.Duration) (int, error) {
	n, err := c.store.CleanupOrphanedSessions(ctx, idleTimeout)
	c.changed(n)
	return n, err
}

// changed counts a call that reports how many rows it changed.
func (c *Counter) changed(n int) {
	c.calls.Add(1)
	if n > 0 {
		c.writes.Add(1)
	}
}

// GetCustomStatus implements [provider.Provider].
func (c *Counter) GetCustomStatus(ctx context.Context, instance string, lastSeenVersion uint64) (*provider.CustomStatus, error) {
	c.read()
	return c.store.GetCustomStatus(ctx, instance, lastSeenVersion)
}

// GetKVValue implements [provider.Provider].
func (c *Counter) GetKVValue(ctx context.Context, instance, key string) (*string, error) {
	c.read()
	return c.store.GetKVValue(ctx, instance, key)
}

// GetKVAllValues implements [provider.Provider].
func (c *Counter) GetKVAllValues(ctx context.Context, instance string) (map[string]string, error) {
	c.read()
	return c.store.GetKVAllValues(ctx, instance)
}

// GetInstanceStats implements [provider.Provider].
func (c *Counter) GetInstanceStats(ctx context.Context, instance string) (*provider.InstanceStats, error) {
	c.read()
	return c.store.GetInstanceStats(ctx, instance)
}
