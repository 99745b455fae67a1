// Package adapt makes a [provider.Store] of a store that has only the plain contract of [provider.Provider].
//
// Workers and clients do this themselves. A decorator calls [Store] too, embeds the result, and overrides what it
// watches or changes:
//
//	type slow struct{ provider.Store }
//
//	store := slow{adapt.Store(plain)}
//
// What a plain store does not have costs calls, or is not there:
//
//   - Combined calls are made one after the other, and many leases are renewed one by one.
//   - Activities are looked for every 100 ms, and so are turns if the store ignores PollTimeout. Changes that a call
//     of the same worker makes are noticed at once.
//   - Work is offered to every worker, also to those that lack its code. Nothing is listed as waiting for code or for a
//     tag.
//   - A start checks the id and enqueues in two steps, and start and messages are separate steps, so two starts of one
//     id at the same moment may both be stored. The runtime ignores the second.
//   - A worker notices that another process has cancelled an activity when it renews the lease.
//   - A heartbeat renews the lease and its details are not stored.
//   - Holds and dead letters are not listed, and messages that no fetch returns are not counted.
//   - A client polls for changes.
package adapt

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// Store returns the store itself if it is a [provider.Store], and otherwise one that calls the plain store.
func Store(plain provider.Provider) provider.Store {
	if full, ok := plain.(provider.Store); ok {
		return full
	}
	s := &store{Provider: plain, admin: plain.Admin(), listeners: map[*listener]struct{}{}}
	if s.admin == nil {
		s.admin = none{}
	}
	return s
}

type admin = provider.Admin

// store calls a plain store.
type store struct {
	provider.Provider
	admin

	// waiting counts the calls of Claim that may wait for a turn in the plain store.
	waiting atomic.Int32

	mu        sync.Mutex
	listeners map[*listener]struct{}
}

var _ provider.Store = (*store)(nil)

// FetchOrchestrationItem finds no unknown code, as no plain store knows what is unknown. Known is passed on: the plain
// store may be a decorator of one that selects by code.
func (s *store) FetchOrchestrationItem(ctx context.Context, params provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
	if params.UnknownFor > 0 {
		return nil, nil
	}
	return s.Provider.FetchOrchestrationItem(ctx, params)
}

// FetchWorkItem is as FetchOrchestrationItem.
func (s *store) FetchWorkItem(ctx context.Context, params provider.FetchWorkParams) (*provider.FetchedWorkItem, error) {
	if params.UnknownFor > 0 {
		return nil, nil //nolint:nilnil // nothing is found
	}
	return s.Provider.FetchWorkItem(ctx, params)
}

// RenewLocks renews one lease after the other.
func (s *store) RenewLocks(ctx context.Context, locks []provider.LockRenewal) ([]error, error) {
	outcomes := make([]error, len(locks))
	for i, lock := range locks {
		if lock.Turn {
			outcomes[i] = s.RenewOrchestrationItemLock(ctx, lock.LockToken, lock.ExtendFor)
		} else {
			outcomes[i] = s.RenewWorkItemLock(ctx, lock.LockToken, lock.ExtendFor)
		}
	}
	return outcomes, nil
}

// LostWorkItems knows of none: a lease that is lost is noticed when it is renewed.
func (s *store) LostWorkItems(context.Context, []string) ([]string, error) { return nil, nil }

// KeepHeartbeat renews the lease.
func (s *store) KeepHeartbeat(ctx context.Context, lockToken string, extendFor time.Duration, _ string) error {
	return s.RenewWorkItemLock(ctx, lockToken, extendFor)
}

func (s *store) UnknownCode(context.Context, time.Duration) ([]provider.UnknownCode, error) {
	return nil, nil
}

func (s *store) WaitingForCode(context.Context, string, time.Duration) ([]provider.WaitingInstance, error) {
	return nil, nil
}

func (s *store) KnownVersions(context.Context, string, time.Duration) ([]string, error) {
	return nil, nil
}

func (s *store) InstanceChanged(string) (changed <-chan struct{}, stop func()) {
	return nil, func() {}
}

func (s *store) InstanceEnd(string) (ended <-chan struct{}, end func() *provider.Progress, stop func()) {
	return nil, func() *provider.Progress { return nil }, func() {}
}

func (s *store) ListHeldInstances(context.Context) ([]provider.HeldInstance, error) { return nil, nil }

func (s *store) GetHeldInstance(context.Context, string) (*provider.HeldInstance, error) {
	return nil, nil //nolint:nilnil // it is not known
}

func (s *store) RetryHeldInstance(context.Context, string) (held bool, err error) { return false, nil }

func (s *store) CountDeadLetters(context.Context) (uint64, error) { return 0, nil }

func (s *store) ListDeadLetters(context.Context, provider.DeadLetterQuery) ([]provider.DeadLetter, error) {
	return nil, nil
}

func (s *store) GetDeadLetter(context.Context, uint64) (*provider.DeadLetter, error) {
	return nil, nil //nolint:nilnil // there is none
}

func (s *store) RequeueDeadLetter(context.Context, uint64) (found bool, err error) { return false, nil }

func (s *store) DeleteDeadLetter(context.Context, uint64) (found bool, err error) { return false, nil }

func (s *store) CountHiddenMessages(context.Context) (uint64, error) { return 0, nil }

func (s *store) CountOrphanMessages(context.Context, time.Duration) (provider.OrphanMessages, error) {
	return provider.OrphanMessages{}, nil
}

func (s *store) DeleteOrphanMessages(context.Context, time.Duration) (provider.OrphanMessages, error) {
	return provider.OrphanMessages{}, nil
}

func (s *store) ListInstancePage(context.Context, provider.PageQuery) (provider.InstancePage, error) {
	return provider.InstancePage{}, provider.Permanent("list_instance_page", "the store cannot list its instances in pages", errors.ErrUnsupported)
}

// Admin returns the plain store's management interface, nil if it has none.
func (s *store) Admin() provider.Admin { return s.Provider.Admin() }
