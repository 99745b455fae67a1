package mssql

import (
	"context"
	"time"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// AbandonOrchestrationItem implements [provider.Provider]. It affects only messages that the token holds, not the
// instance's timers or messages that arrived later.
//
// Errors: [provider.ErrInvalidLockToken]; [provider.ErrInvalidArgument] for a
// negative Delay.
func (s *Store) AbandonOrchestrationItem(ctx context.Context, params provider.AbandonParams) error {
	const operation = "abandon_orchestration_item"
	hideFor, err := columns.Delay(operation, "Delay", params.Delay)
	if err != nil {
		return err
	}
	lease, ok := cutTurnToken(params.LockToken)
	if !ok {
		return unknownToken(operation)
	}
	given := mssqldb.AbandonOrchestrationItemParams{InstanceID: lease.instance, LockToken: lease.secret, DelayMs: hideFor, GiveBack: params.IgnoreAttempt}
	if params.Misfit != "" {
		given.Misfit = new(storedString(columns.Text(params.Misfit)))
	}
	return s.abandonTurn(ctx, operation, given)
}

// abandonTurn puts the batch back.
func (s *Store) abandonTurn(ctx context.Context, operation string, params mssqldb.AbandonOrchestrationItemParams) error {
	err := s.call(ctx, operation, once, func(ctx context.Context, q *mssqldb.Queries) error {
		return q.AbandonOrchestrationItem(ctx, params)
	})
	switch {
	case err != nil:
		return err
	case params.DelayMs > 0:
		s.sent(params.DelayMs)
	default:
		s.instances.putBack()
	}
	return nil
}

// RenewOrchestrationItemLock implements [provider.Provider]. The new lease counts from now, so it can end earlier
// than the old one.
//
// Errors: [provider.ErrInvalidLockToken], [provider.ErrLockExpired];
// [provider.ErrInvalidArgument] when extendFor is not positive.
func (s *Store) RenewOrchestrationItemLock(ctx context.Context, lockToken string, extendFor time.Duration) error {
	const operation = "renew_orchestration_item_lock"
	lockFor, err := columns.Lease(operation, "extendFor", extendFor)
	if err != nil {
		return err
	}
	lease, ok := cutTurnToken(lockToken)
	if !ok {
		return unknownToken(operation)
	}
	return s.call(ctx, operation, repeatable, func(ctx context.Context, q *mssqldb.Queries) error {
		return q.RenewOrchestrationItemLock(ctx, mssqldb.RenewOrchestrationItemLockParams{
			InstanceID: lease.instance, LockToken: lease.secret, ExtendMs: lockFor,
		})
	})
}
