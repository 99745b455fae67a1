package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/duroxide/duroxide-go/gen/sqlitedb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// GetCustomStatus implements [provider.Provider]. It is cheap to poll: if the version has not changed, it costs one
// index seek.
func (s *Store) GetCustomStatus(
	ctx context.Context, instance string, lastSeenVersion uint64,
) (*provider.CustomStatus, error) {
	var status *provider.CustomStatus
	err := s.read(ctx, "get_custom_status", func(ctx context.Context, q *sqlitedb.Queries) error {
		row, err := q.GetCustomStatus(ctx, instance, columns.Clamp(lastSeenVersion))
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		status = &provider.CustomStatus{Status: row.CustomStatus, Version: uint64(row.CustomStatusVersion)}
		return nil
	})
	return status, err
}

// GetInstanceStats implements [provider.Provider]. Sizes are UTF-8 bytes, and the key-value map is counted as
// GetKVAllValues returns it.
//
// Error: [provider.ErrCorrupt] when event 1, which tells how many messages the
// execution began with, cannot be decoded.
func (s *Store) GetInstanceStats(ctx context.Context, instance string) (*provider.InstanceStats, error) {
	const operation = "get_instance_stats"
	var stats *provider.InstanceStats
	var first *string
	err := s.readSnapshot(ctx, operation, func(ctx context.Context, q *sqlitedb.Queries) error {
		history, err := q.GetHistoryStats(ctx, instance)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		values, err := q.GetValueStats(ctx, instance)
		if err != nil {
			return err
		}
		first = history.FirstEvent
		stats = &provider.InstanceStats{
			HistoryEventCount: uint64(history.EventCount),
			HistorySizeBytes:  uint64(history.EventBytes),
			KVUserKeyCount:    uint64(values.KeyCount),
			KVTotalValueBytes: uint64(values.ValueBytes),
		}
		return nil
	})
	if err != nil || stats == nil {
		return nil, err
	}
	stats.QueuePendingCount, err = columns.CarriedMessages(operation, instance, first)
	if err != nil {
		return nil, err
	}
	return stats, nil
}
