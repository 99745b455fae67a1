package mssql

import (
	"context"
	"time"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
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
	owners := idList(params.OwnerIDs)
	var result mssqldb.RenewSessionLockResult
	err = s.call(ctx, operation, repeatable, func(ctx context.Context, q *mssqldb.Queries) (err error) {
		result, err = q.RenewSessionLock(ctx, mssqldb.RenewSessionLockParams{Owners: owners, ExtendMs: lockFor, IdleMs: idleFor})
		return err
	})
	if err != nil {
		return 0, err
	}
	if result.Renewed.Sessions > 0 {
		// When the sessions end, others may take their activities.
		s.noteActivityWake(params.ExtendFor)
	}
	return int(result.Renewed.Sessions), nil
}

// CleanupOrphanedSessions implements [provider.Provider]. The idle timeout has no effect, because nothing uses an
// expired session without activities.
func (s *Store) CleanupOrphanedSessions(ctx context.Context, _ time.Duration) (int, error) {
	var result mssqldb.CleanupOrphanedSessionsResult
	err := s.call(ctx, "cleanup_orphaned_sessions", once, func(ctx context.Context, q *mssqldb.Queries) (err error) {
		result, err = q.CleanupOrphanedSessions(ctx)
		return err
	})
	if err != nil {
		return 0, err
	}
	return int(result.Deleted.Sessions), nil
}
