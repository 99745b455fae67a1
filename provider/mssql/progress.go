package mssql

import (
	"context"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// ReadProgress implements [provider.Store].
func (s *Store) ReadProgress(ctx context.Context, instances []string) ([]provider.Progress, error) {
	list := make([]provider.Progress, len(instances))
	var ids []mssqldb.IDListV1Row
	for i, instance := range instances {
		if id, ok := lookupID(instance); ok { // else nobody can use the id
			ids = append(ids, mssqldb.IDListV1Row{Position: int32(i), ID: id})
		}
	}
	if len(ids) == 0 {
		return list, nil
	}
	result, err := read(ctx, s, columns.OpReadProgress, func(ctx context.Context, q *mssqldb.Queries) (mssqldb.ReadProgressResult, error) {
		return q.ReadProgress(ctx, mssqldb.ReadProgressParams{IDs: ids})
	})
	if err != nil {
		return nil, err
	}
	for i, row := range result.Instances {
		c := columns.Progress{
			Name: restoredOptionalText(row.OrchestrationName), Status: row.Status, Start: row.StartItem,
			CustomStatus: restoredOptionalText(row.CustomStatus), CustomStatusVersion: row.CustomStatusVersion, Execution: row.ExecutionID,
		}
		if row.FirstID != nil && row.LastID != nil {
			c.Events = []columns.Event{{ID: *row.FirstID, Data: *row.FirstEvent}, {ID: *row.LastID, Data: *row.LastEvent}}
		}
		at := ids[i].Position
		list[at] = columns.NewProgress(instances[at], c)
	}
	return list, nil
}

// InstanceEnd implements [provider.Store]. It does not tell what an instance has ended with.
func (s *Store) InstanceEnd(instance string) (ended <-chan struct{}, end func() *provider.Progress, stop func()) {
	ended, stop = s.ends.Await(instance)
	return ended, func() *provider.Progress { return nil }, stop
}
