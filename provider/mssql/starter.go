package mssql

import (
	"context"
	"time"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

var (
	_ provider.InstanceStarter = (*Store)(nil)
	_ provider.HiddenCounter   = (*Store)(nil)
	_ provider.OrphanCollector = (*Store)(nil)
)

// StartInstance implements [provider.InstanceStarter]. It is not repeated when the
// connection is lost before the answer, which could then be about its own first try.
func (s *Store) StartInstance(ctx context.Context, start provider.StartOrchestrationItem) (*provider.IDUse, error) {
	const operation = "start_instance"
	params, err := newEnqueue(operation, start, 0)
	if err != nil {
		return nil, err
	}
	var result mssqldb.StartInstanceResult
	err = s.call(ctx, operation, once, func(ctx context.Context, q *mssqldb.Queries) (err error) {
		result, err = q.StartInstance(ctx, mssqldb.StartInstanceParams{
			InstanceID: params.InstanceID, Kind: params.Kind, Name: params.Name, Version: params.Version, WorkItem: params.WorkItem,
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	if row := result.Use; row.Used {
		return columns.NewUse(restoredOptionalText(row.Name), row.Status, row.StartItem), nil
	}
	s.sent(0)
	return nil, nil //nolint:nilnil // nobody used the id
}

// FindInstance implements [provider.InstanceStarter].
func (s *Store) FindInstance(ctx context.Context, instance string) (*provider.IDUse, error) {
	id, ok := lookupID(instance)
	if !ok {
		return nil, nil //nolint:nilnil // nobody can use the id
	}
	result, err := read(ctx, s, "find_instance", func(ctx context.Context, q *mssqldb.Queries) (mssqldb.FindInstanceResult, error) {
		return q.FindInstance(ctx, mssqldb.FindInstanceParams{InstanceID: id})
	})
	if err != nil {
		return nil, err
	}
	return columns.NewUse(restoredOptionalText(result.Use.Name), result.Use.Status, result.Use.StartItem), nil
}

// CountHiddenMessages implements [provider.HiddenCounter].
func (s *Store) CountHiddenMessages(ctx context.Context) (uint64, error) {
	result, err := read(ctx, s, "count_hidden_messages", func(ctx context.Context, q *mssqldb.Queries) (mssqldb.CountHiddenMessagesResult, error) {
		return q.CountHiddenMessages(ctx)
	})
	return uint64(result.Hidden.Messages), err
}

// CountOrphanMessages implements [provider.OrphanCollector].
func (s *Store) CountOrphanMessages(ctx context.Context, olderThan time.Duration) (provider.OrphanMessages, error) {
	const operation = "count_orphan_messages"
	age, err := columns.Delay(operation, "olderThan", olderThan)
	if err != nil {
		return provider.OrphanMessages{}, err
	}
	result, err := read(ctx, s, operation, func(ctx context.Context, q *mssqldb.Queries) (mssqldb.CountOrphanMessagesResult, error) {
		return q.CountOrphanMessages(ctx, mssqldb.CountOrphanMessagesParams{OlderThanMs: age})
	})
	return provider.OrphanMessages{
		Instances: uint64(result.Orphans.Instances), Messages: uint64(result.Orphans.Messages),
	}, err
}

// DeleteOrphanMessages implements [provider.OrphanCollector]. It is one call of the
// procedure, or several if it takes long; each instance id is a transaction of its own.
func (s *Store) DeleteOrphanMessages(ctx context.Context, olderThan time.Duration) (provider.OrphanMessages, error) {
	const operation = "delete_orphan_messages"
	var sum provider.OrphanMessages
	age, err := columns.Delay(operation, "olderThan", olderThan)
	if err != nil {
		return sum, err
	}
	params := mssqldb.DeleteOrphanMessagesParams{OlderThanMs: age, BudgetMs: s.bulkBudget()}
	for more := true; more; more = params.After != nil {
		var result mssqldb.DeleteOrphanMessagesResult
		err := s.call(ctx, operation, once, func(ctx context.Context, q *mssqldb.Queries) (err error) {
			result, err = q.DeleteOrphanMessages(ctx, params)
			return err
		})
		if err != nil {
			return sum, err
		}
		sum.Instances += uint64(result.Orphans.Instances)
		sum.Messages += uint64(result.Orphans.Messages)
		params.After = result.Orphans.AfterInstanceID
	}
	return sum, nil
}
