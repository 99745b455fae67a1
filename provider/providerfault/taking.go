package providerfault

import (
	"context"

	"github.com/duroxide/duroxide-go/provider"
)

// Claim implements [provider.Store]. What it takes follows the script as a
// [FetchOrchestrationItem] and, for all activities, one [FetchWorkItem].
func (s *Store) Claim(ctx context.Context, params provider.ClaimParams) (provider.Claimed, error) {
	p := s.plan(params)
	taken, err := s.inner.Claim(ctx, p.together)
	if err != nil {
		return provider.Claimed{}, err
	}
	if s.takeApart(ctx, &taken, p); taken.Err != nil {
		return provider.Claimed{}, taken.Err
	}
	return taken, nil
}

// AckTurnAndClaim implements [provider.Store]. It follows the script as an
// [AckOrchestrationItem] and then as [Store.Claim].
func (s *Store) AckTurnAndClaim(ctx context.Context, ack provider.AckOrchestrationParams, params provider.ClaimParams) (provider.Claimed, error) {
	call := Call{Operation: AckOrchestrationItem, LockToken: ack.LockToken, Turn: &ack}
	return s.ackAndTake(ctx, call, params, func(together provider.ClaimParams) (provider.Claimed, error) {
		return s.inner.AckTurnAndClaim(ctx, ack, together)
	})
}

// AckWorkAndClaim implements [provider.Store]. Each activity follows the script as an
// [AckWorkItem], whose error is its outcome, before those that no fault is about, which go
// together. Then it follows the script as [Store.Claim].
func (s *Store) AckWorkAndClaim(
	ctx context.Context, acks []provider.WorkAck, params provider.ClaimParams,
) ([]error, provider.Claimed, error) {
	outcomes := make([]error, len(acks))
	var together []provider.WorkAck
	var places []int
	for i, ack := range acks {
		fault := s.script.next(Call{
			Operation: AckWorkItem, Instance: target(ack.Completion), LockToken: ack.LockToken, Item: ack.Completion,
		})
		if fault == (Fault{}) {
			together, places = append(together, ack), append(places, i)
			continue
		}
		_, outcomes[i] = apply(ctx, AckWorkItem, fault, func() (struct{}, error) {
			return struct{}{}, s.inner.AckWorkItem(ctx, ack.LockToken, ack.Completion)
		})
	}
	p := s.plan(params)
	got, taken, err := s.inner.AckWorkAndClaim(ctx, together, p.together)
	if err != nil {
		return nil, provider.Claimed{}, err
	}
	for i, outcome := range got {
		outcomes[places[i]] = outcome
	}
	if taken.Err == nil {
		s.takeApart(ctx, &taken, p)
	}
	return outcomes, taken, nil
}

func (s *Store) ackAndTake(
	ctx context.Context, call Call, params provider.ClaimParams, ack func(provider.ClaimParams) (provider.Claimed, error),
) (provider.Claimed, error) {
	var p plan
	taken, err := run(ctx, s, call, func() (provider.Claimed, error) {
		p = s.plan(params)
		return ack(p.together)
	})
	if err == nil && taken.Err == nil {
		s.takeApart(ctx, &taken, p)
	}
	return taken, err
}

// plan divides what a call takes: what no fault is about is taken together.
type plan struct {
	together provider.ClaimParams
	// turn and work are taken by calls of their own, under their faults.
	turn, work           provider.ClaimParams
	turnFault, workFault Fault
}

func (s *Store) plan(params provider.ClaimParams) (p plan) {
	if params.Turn != nil {
		if p.turnFault = s.script.next(Call{Operation: FetchOrchestrationItem}); p.turnFault == (Fault{}) {
			p.together.Turn, p.together.Wait = params.Turn, params.Wait
		} else {
			p.turn.Turn = params.Turn
		}
	}
	if len(params.Work) == 0 {
		return p
	}
	if p.workFault = s.script.next(Call{Operation: FetchWorkItem}); p.workFault == (Fault{}) {
		p.together.Work = params.Work
	} else {
		p.work.Work = params.Work
	}
	return p
}

// takeApart takes what faults are about, up to the first error.
func (s *Store) takeApart(ctx context.Context, taken *provider.Claimed, p plan) {
	if p.turn.Turn != nil {
		got, err := apply(ctx, FetchOrchestrationItem, p.turnFault, func() (provider.Claimed, error) { return s.inner.Claim(ctx, p.turn) })
		taken.Turn, taken.Err = got.Turn, err
	}
	if p.work.Work != nil && taken.Err == nil {
		got, err := apply(ctx, FetchWorkItem, p.workFault, func() (provider.Claimed, error) { return s.inner.Claim(ctx, p.work) })
		taken.Work, taken.Err = got.Work, err
	}
}

// RenewLocks implements [provider.Store]. Each lock follows the script as a
// [RenewOrchestrationItemLock] or [RenewWorkItemLock], whose error is its outcome. Those that
// no fault is about are renewed together.
func (s *Store) RenewLocks(ctx context.Context, locks []provider.LockRenewal) ([]error, error) {
	outcomes := make([]error, len(locks))
	var together []provider.LockRenewal
	var places []int
	for i, lock := range locks {
		operation, renew := RenewWorkItemLock, s.inner.RenewWorkItemLock
		if lock.Turn {
			operation, renew = RenewOrchestrationItemLock, s.inner.RenewOrchestrationItemLock
		}
		fault := s.script.next(Call{Operation: operation, LockToken: lock.LockToken})
		if fault == (Fault{}) {
			together, places = append(together, lock), append(places, i)
			continue
		}
		_, outcomes[i] = apply(ctx, operation, fault, func() (struct{}, error) {
			return struct{}{}, renew(ctx, lock.LockToken, lock.ExtendFor)
		})
	}
	if len(together) == 0 {
		return outcomes, nil
	}
	got, err := s.inner.RenewLocks(ctx, together)
	for i, outcome := range got {
		outcomes[places[i]] = outcome
	}
	return outcomes, err
}
