package sqlite

import (
	"context"

	"github.com/duroxide/duroxide-go/gen/sqlitedb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// ReadProgress implements [provider.Store]. It is one statement, so all results are of the same moment.
func (s *Store) ReadProgress(ctx context.Context, instances []string) ([]provider.Progress, error) {
	if len(instances) == 0 {
		return nil, nil
	}
	var rows []sqlitedb.ReadProgressRow
	err := s.read(ctx, columns.OpReadProgress, func(ctx context.Context, q *sqlitedb.Queries) (err error) {
		rows, err = readProgress(ctx, q, instances)
		return err
	})
	if err != nil {
		return nil, err
	}
	list := make([]provider.Progress, len(rows))
	for i, row := range rows {
		list[i] = progressOf(instances[i], row)
	}
	return list, nil
}

// readProgress reads how far instances are, in their order.
func readProgress(ctx context.Context, q *sqlitedb.Queries, instances []string) ([]sqlitedb.ReadProgressRow, error) {
	list := make([]string, len(instances))
	for i, id := range instances {
		if columns.CheckID(columns.OpReadProgress, "instance id", id) == nil {
			list[i] = id
		} // else it stays empty: in JSON it might come to name something
	}
	ids, err := jsonList(columns.OpReadProgress, list)
	if err != nil {
		return nil, err
	}
	return q.ReadProgress(ctx, ids)
}

// progressOf decodes what readProgress has read of an instance.
func progressOf(instance string, row sqlitedb.ReadProgressRow) provider.Progress {
	c := columns.Progress{
		Name: row.OrchestrationName, Status: row.Status, Start: row.StartItem,
		CustomStatus: row.CustomStatus, CustomStatusVersion: row.CustomStatusVersion, Execution: row.CurrentExecutionID,
	}
	if row.FirstID != nil {
		c.Events = []columns.Event{
			{ID: *row.FirstID, Data: *row.FirstEvent, Apart: row.FirstPayload},
			{ID: *row.LastID, Data: *row.LastEvent, Apart: row.LastPayload},
		}
	}
	return columns.NewProgress(instance, c)
}
