package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/duroxide/duroxide-go/gen/sqlitedb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// ListHeldInstances implements [provider.Store].
func (s *Store) ListHeldInstances(ctx context.Context) ([]provider.HeldInstance, error) {
	rows, err := readList(ctx, s, "list_held_instances", func(ctx context.Context, q *sqlitedb.Queries) ([]sqlitedb.ListHeldRow, error) {
		return q.ListHeld(ctx)
	})
	if err != nil {
		return nil, err
	}
	list := make([]provider.HeldInstance, len(rows))
	for i, row := range rows {
		list[i] = heldInstance(sqlitedb.FindHeldRow(row))
	}
	return list, nil
}

// GetHeldInstance implements [provider.Store].
func (s *Store) GetHeldInstance(ctx context.Context, instance string) (*provider.HeldInstance, error) {
	var held *provider.HeldInstance
	err := s.read(ctx, "get_held_instance", func(ctx context.Context, q *sqlitedb.Queries) error {
		row, err := q.FindHeld(ctx, instance)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		held = new(heldInstance(row))
		return err
	})
	if err != nil {
		return nil, err
	}
	return held, nil
}

func heldInstance(row sqlitedb.FindHeldRow) provider.HeldInstance {
	return provider.HeldInstance{
		InstanceID: row.InstanceID, Reason: row.Misfit,
		Since: columns.FromMillis(row.MisfitAt), NextTry: columns.FromMillis(row.VisibleAt),
	}
}

// RetryHeldInstance implements [provider.Store].
func (s *Store) RetryHeldInstance(ctx context.Context, instance string) (bool, error) {
	return written(ctx, s, "retry_held_instance", func(ctx context.Context, t *tx) (bool, error) {
		shown, err := t.ShowHeld(ctx, t.now, instance)
		if err != nil || shown == 0 {
			return false, err
		}
		// A newer message may be the head.
		if err := t.ForgetHead(ctx, instance, &t.now); err != nil {
			return false, err
		}
		return true, t.refresh(ctx, instance)
	})
}
