package mssql

import (
	"context"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// GetKVValue implements [provider.Provider]: the value that the running execution has set, otherwise the value from
// earlier executions. A key that is too long for the store has no value.
func (s *Store) GetKVValue(ctx context.Context, instance, key string) (*string, error) {
	id, knownID := lookupID(instance)
	text, knownKey := lookupKey(key)
	if !knownID || !knownKey {
		return nil, nil
	}
	result, err := read(ctx, s, "get_kv_value", func(ctx context.Context, q *mssqldb.Queries) (mssqldb.GetKVValueResult, error) {
		return q.GetKVValue(ctx, mssqldb.GetKVValueParams{InstanceID: id, KVKey: text})
	})
	if err != nil || result.Value == nil {
		return nil, err
	}
	return restoredOptionalText(result.Value.Value), nil
}

// lookupKey is storedKey for a call that only looks, of the key as a turn would have it:
// ok is false for one that is too long to be stored.
func lookupKey(key string) (text string, ok bool) {
	text, err := storedKey("", "key", columns.Text(key))
	return text, err == nil
}

// GetKVAllValues implements [provider.Provider]. It sees the same values as GetKVValue.
func (s *Store) GetKVAllValues(ctx context.Context, instance string) (map[string]string, error) {
	id, ok := lookupID(instance)
	if !ok {
		return map[string]string{}, nil
	}
	result, err := read(ctx, s, "get_kv_all_values", func(ctx context.Context, q *mssqldb.Queries) (mssqldb.GetKVAllValuesResult, error) {
		return q.GetKVAllValues(ctx, mssqldb.GetKVAllValuesParams{InstanceID: id})
	})
	if err != nil {
		return nil, err
	}
	values := make(map[string]string, len(result.Values))
	for _, row := range result.Values {
		values[restored(row.KVKey)] = restoredText(row.Value)
	}
	return values, nil
}
