package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/duroxide/duroxide-go/gen/sqlitedb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// storeValues records the turn's changes of the key-value map in the delta, last
// change last, and merges the delta into the store when the execution ends (contract §5.2
// steps 10 and 11).
func (r *turnResult) storeValues(ctx context.Context, t *tx) error {
	if r.kept != nil && len(r.Values) > 0 {
		r.kept.noDelta = false
	}
	for _, kind := range r.Values {
		if err := t.storeValue(ctx, r.instance, kind); err != nil {
			return err
		}
	}
	if r.Metadata.Status == nil || !r.Metadata.Status.Terminal() || (!r.hasDelta && len(r.Values) == 0) {
		return nil
	}
	if err := t.MergeValues(ctx, r.instance); err != nil {
		return err
	}
	if err := t.MergeTombstones(ctx, r.instance); err != nil {
		return err
	}
	return t.DeleteDelta(ctx, r.instance)
}

// storeValue applies one change to the delta. Clearing leaves a tombstone, also for a
// key that never existed: it has to hide what the store may have.
func (t *tx) storeValue(ctx context.Context, instance string, kind provider.EventKind) error {
	switch change := kind.(type) {
	case provider.KeyValueSet:
		return t.SetValue(ctx, sqlitedb.SetValueParams{
			InstanceID: instance, Key: change.Key, Value: &change.Value, LastUpdatedAtMs: columns.Clamp(change.LastUpdatedAtMs),
		})
	case provider.KeyValueCleared:
		return t.SetValue(ctx, sqlitedb.SetValueParams{InstanceID: instance, Key: change.Key, LastUpdatedAtMs: t.now})
	case provider.KeyValuesCleared:
		return t.ClearValues(ctx, t.now, instance)
	}
	return nil
}

// GetKVValue implements [provider.Provider]: the value that the running execution has set, otherwise the value from
// earlier executions.
func (s *Store) GetKVValue(ctx context.Context, instance, key string) (*string, error) {
	var value *string
	err := s.read(ctx, "get_kv_value", func(ctx context.Context, q *sqlitedb.Queries) (err error) {
		value, err = q.GetValue(ctx, instance, columns.Text(key))
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return value, err
}

// GetKVAllValues implements [provider.Provider]. It sees the same values as GetKVValue.
func (s *Store) GetKVAllValues(ctx context.Context, instance string) (map[string]string, error) {
	var values map[string]string
	err := s.read(ctx, "get_kv_all_values", func(ctx context.Context, q *sqlitedb.Queries) error {
		rows, err := q.ReadValues(ctx, instance)
		if err != nil {
			return err
		}
		values = make(map[string]string, len(rows))
		for _, row := range rows {
			values[row.Key] = row.Value
		}
		return nil
	})
	return values, err
}
