package mssql

import (
	"context"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// ListHeldInstances implements [provider.Store].
func (s *Store) ListHeldInstances(ctx context.Context) ([]provider.HeldInstance, error) {
	result, err := read(ctx, s, "list_held_instances", func(ctx context.Context, q *mssqldb.Queries) (mssqldb.ListHeldInstancesResult, error) {
		return q.ListHeldInstances(ctx)
	})
	if err != nil {
		return nil, err
	}
	list := make([]provider.HeldInstance, len(result.Held))
	for i, row := range result.Held {
		list[i] = heldInstance(restored(row.InstanceID), row.Misfit, row.Since, row.VisibleAt)
	}
	return list, nil
}

// GetHeldInstance implements [provider.Store].
func (s *Store) GetHeldInstance(ctx context.Context, instance string) (*provider.HeldInstance, error) {
	id, ok := lookupID(instance)
	if !ok {
		return nil, nil //nolint:nilnil // there can be no such instance
	}
	result, err := read(ctx, s, "get_held_instance", func(ctx context.Context, q *mssqldb.Queries) (mssqldb.GetHeldInstanceResult, error) {
		return q.GetHeldInstance(ctx, mssqldb.GetHeldInstanceParams{InstanceID: id})
	})
	if row := result.Held; err == nil && row != nil {
		return new(heldInstance(instance, row.Misfit, row.Since, row.VisibleAt)), nil
	}
	return nil, err
}

func heldInstance(instance, misfit string, since, visibleAt int64) provider.HeldInstance {
	return provider.HeldInstance{
		InstanceID: instance, Reason: restoredText(misfit),
		Since: columns.FromMillis(since), NextTry: columns.FromMillis(visibleAt),
	}
}

// RetryHeldInstance implements [provider.Store].
func (s *Store) RetryHeldInstance(ctx context.Context, instance string) (bool, error) {
	id, ok := lookupID(instance)
	if !ok {
		return false, nil
	}
	var result mssqldb.RetryHeldInstanceResult
	err := s.call(ctx, "retry_held_instance", repeatable, func(ctx context.Context, q *mssqldb.Queries) (err error) {
		result, err = q.RetryHeldInstance(ctx, mssqldb.RetryHeldInstanceParams{InstanceID: id})
		return err
	})
	if err != nil || !result.Retried.Held {
		return false, err
	}
	s.sent(0)
	return true, nil
}
