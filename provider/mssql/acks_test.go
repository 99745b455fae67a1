package mssql_test

import (
	"context"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// Activities that share a call are ended although somebody's transaction keeps the instance of one of
// them. That one fails in a way that may pass, and a call of its own waits for it.
func TestAcksDoNotWaitBehindABlockedOne(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var acks []provider.WorkAck
	for _, instance := range []string{"blocked", "free"} {
		ok(t, s.store.EnqueueForWorker(ctx, provider.ActivityExecuteItem{Instance: instance, ExecutionID: 1, ID: 2}))
		work, err := s.store.FetchWorkItem(ctx, provider.FetchWorkParams{LockTimeout: time.Hour})
		ok(t, err)
		acks = append(acks, provider.WorkAck{
			LockToken: work.LockToken, Completion: provider.ActivityCompletedItem{Instance: instance, ExecutionID: 1, ID: 2},
		})
	}
	tx := s.begin(t)
	ok(t, s.store.EnqueueTx(ctx, tx, start("blocked"), 0))
	outcomes, _, err := s.store.AckWorkAndClaim(ctx, acks, provider.ClaimParams{})
	ok(t, err)
	wantBusy(t, outcomes[0])
	ok(t, outcomes[1])
	ok(t, tx.Commit())
	ok(t, s.store.AckWorkItem(ctx, acks[0].LockToken, acks[0].Completion))
}

// Leases that are renewed in one call are renewed although somebody's transaction keeps the instance of
// one of them. That one fails in a way that may pass.
func TestRenewalsDoNotWaitBehindABlockedOne(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var locks []provider.LockRenewal
	for _, instance := range []string{"blocked", "free"} {
		ok(t, s.store.EnqueueForOrchestrator(ctx, start(instance), 0))
		turn, err := s.store.FetchOrchestrationItem(ctx, provider.FetchOrchestrationParams{LockTimeout: time.Hour})
		ok(t, err)
		locks = append(locks, provider.LockRenewal{LockToken: turn.LockToken, Turn: true, ExtendFor: time.Hour})
	}
	tx := s.begin(t)
	ok(t, s.store.EnqueueTx(ctx, tx, start("blocked"), 0))
	outcomes, err := s.store.RenewLocks(ctx, locks)
	ok(t, err)
	wantBusy(t, outcomes[0])
	ok(t, outcomes[1])
	ok(t, tx.Commit())
	ok(t, s.store.RenewOrchestrationItemLock(ctx, locks[0].LockToken, time.Hour))
}
