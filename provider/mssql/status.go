package mssql

import (
	"context"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// GetCustomStatus implements [provider.Provider]. It is cheap to poll: if the version has not changed, it costs one
// index seek.
func (s *Store) GetCustomStatus(
	ctx context.Context, instance string, lastSeenVersion uint64,
) (*provider.CustomStatus, error) {
	id, ok := lookupID(instance)
	if !ok {
		return nil, nil
	}
	result, err := read(ctx, s, "get_custom_status", func(ctx context.Context, q *mssqldb.Queries) (mssqldb.GetCustomStatusResult, error) {
		return q.GetCustomStatus(ctx, mssqldb.GetCustomStatusParams{InstanceID: id, LastSeen: columns.Clamp(lastSeenVersion)})
	})
	if err != nil || result.Status == nil {
		return nil, err
	}
	return &provider.CustomStatus{
		Status: restoredOptionalText(result.Status.CustomStatus), Version: uint64(result.Status.CustomStatusVersion),
	}, nil
}

// GetInstanceStats implements [provider.Provider]. Sizes are UTF-8 bytes, and the key-value map is counted as
// GetKVAllValues returns it.
//
// Error: [provider.ErrCorrupt] when event 1, which tells how many messages the
// execution began with, cannot be decoded.
func (s *Store) GetInstanceStats(ctx context.Context, instance string) (*provider.InstanceStats, error) {
	const operation = "get_instance_stats"
	id, ok := lookupID(instance)
	if !ok {
		return nil, nil
	}
	result, err := read(ctx, s, operation, func(ctx context.Context, q *mssqldb.Queries) (mssqldb.GetInstanceStatsResult, error) {
		return q.GetInstanceStats(ctx, mssqldb.GetInstanceStatsParams{InstanceID: id})
	})
	row := result.Stats
	if err != nil || row == nil {
		return nil, err
	}
	pending, err := columns.CarriedMessages(operation, instance, row.FirstEvent)
	if err != nil {
		return nil, err
	}
	return &provider.InstanceStats{
		HistoryEventCount: uint64(row.EventCount),
		HistorySizeBytes:  uint64(row.EventBytes),
		QueuePendingCount: pending,
		KVUserKeyCount:    uint64(row.KeyCount),
		KVTotalValueBytes: uint64(row.ValueBytes),
	}, nil
}
