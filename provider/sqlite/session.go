package sqlite

import (
	"context"
	"time"

	"github.com/duroxide/duroxide-go/gen/sqlitedb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// RenewSessionLock implements [provider.Provider]. It does not renew expired sessions or sessions that have been
// idle.
//
// Error: [provider.ErrInvalidArgument] when ExtendFor is not positive or IdleTimeout
// is negative.
func (s *Store) RenewSessionLock(ctx context.Context, params provider.RenewSessionParams) (int, error) {
	const operation = "renew_session_lock"
	if len(params.OwnerIDs) == 0 {
		return 0, nil
	}
	lockFor, err := columns.Lease(operation, "ExtendFor", params.ExtendFor)
	if err != nil {
		return 0, err
	}
	idleFor, err := columns.Delay(operation, "IdleTimeout", params.IdleTimeout)
	if err != nil {
		return 0, err
	}
	owners, err := jsonList(operation, columns.IDs(params.OwnerIDs))
	if err != nil {
		return 0, err
	}
	renewed, err := written(ctx, s, operation, func(ctx context.Context, t *tx) (int64, error) {
		until := t.now + lockFor
		renewed, err := t.RenewSessions(ctx, sqlitedb.RenewSessionsParams{
			LockedUntil: until, Owners: owners, Now: t.now, IdleSince: t.now - idleFor,
		})
		if renewed > 0 {
			t.wakeSession(until)
		}
		return renewed, err
	})
	return int(renewed), err
}

// CleanupOrphanedSessions implements [provider.Provider]. The idle timeout has no effect, because nothing uses an
// expired session without activities.
func (s *Store) CleanupOrphanedSessions(ctx context.Context, _ time.Duration) (int, error) {
	deleted, err := written(ctx, s, "cleanup_orphaned_sessions", func(ctx context.Context, t *tx) (int64, error) {
		return t.CleanupSessions(ctx, t.now)
	})
	return int(deleted), err
}
