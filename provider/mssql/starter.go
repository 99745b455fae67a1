package mssql

import (
	"context"
	"database/sql"
	"time"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

var _ provider.TxEnqueuer[*sql.Tx] = (*Store)(nil)

// StartInstance implements [provider.Store]. The store does not repeat it when the connection is lost
// before the answer: the repetition could find the instance of the first attempt.
func (s *Store) StartInstance(ctx context.Context, start provider.StartOrchestrationItem) (*provider.IDUse, error) {
	const operation = "start_instance"
	params, err := newEnqueue(operation, start, 0)
	if err != nil {
		return nil, err
	}
	var use *provider.IDUse
	err = s.send(ctx, operation, params.InstanceID, func(ctx context.Context, q *mssqldb.Queries) (err error) {
		use, err = startInstance(ctx, q, params)
		return err
	})
	if err == nil && use == nil {
		s.sent(0)
	}
	return use, err
}

// startInstance returns who uses the id. If nobody does, it sends the start.
func startInstance(ctx context.Context, q *mssqldb.Queries, start mssqldb.EnqueueForOrchestratorParams) (*provider.IDUse, error) {
	result, err := q.StartInstance(ctx, mssqldb.StartInstanceParams{
		InstanceID: start.InstanceID, Kind: start.Kind, Name: start.Name, Version: start.Version, WorkItem: start.WorkItem,
	})
	if row := result.Use; err == nil && row.Used {
		return columns.NewUse(restoredOptionalText(row.Name), row.Status, row.StartItem), nil
	}
	return nil, err
}

// StartInstanceTx implements [provider.TxEnqueuer]; everything that [Store.EnqueueTx] says about transactions
// applies.
func (s *Store) StartInstanceTx(ctx context.Context, tx *sql.Tx, start provider.StartOrchestrationItem) (*provider.IDUse, error) {
	const operation = "start_instance"
	params, err := newEnqueue(operation, start, 0)
	if err != nil {
		return nil, err
	}
	var use *provider.IDUse
	err = s.within(ctx, operation, tx, func(q *mssqldb.Queries) (err error) {
		use, err = startInstance(ctx, q, params)
		return err
	})
	return use, err
}

// StartInstanceWith implements [provider.Store]. It is a transaction of several calls.
func (s *Store) StartInstanceWith(
	ctx context.Context, start provider.StartOrchestrationItem, messages []provider.WorkItem, toUser bool,
) (*provider.IDUse, error) {
	const operation = "start_instance"
	list := make([]mssqldb.EnqueueForOrchestratorParams, 0, len(messages)+1)
	for _, item := range append([]provider.WorkItem{start}, messages...) {
		params, err := newEnqueue(operation, item, 0)
		if err != nil {
			return nil, err
		}
		list = append(list, params)
	}
	var use *provider.IDUse
	err := s.callTx(ctx, operation, func(ctx context.Context, q *mssqldb.Queries) (err error) {
		if use, err = startInstance(ctx, q, list[0]); err != nil || (use != nil && !toUser) {
			return err
		}
		for _, params := range list[1:] {
			if err := q.EnqueueForOrchestrator(ctx, params); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		s.sent(0)
	}
	return use, err
}

// FindInstance implements [provider.Store].
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
	return newUse(result), nil
}

// FindInstanceTx implements [provider.TxEnqueuer]. It only reads, under the isolation level of the transaction.
func (s *Store) FindInstanceTx(ctx context.Context, tx *sql.Tx, instance string) (*provider.IDUse, error) {
	id, ok := lookupID(instance)
	if !ok {
		return nil, nil //nolint:nilnil // nobody can use the id
	}
	var result mssqldb.FindInstanceResult
	err := s.within(ctx, "find_instance", tx, func(q *mssqldb.Queries) (err error) {
		result, err = q.FindInstance(ctx, mssqldb.FindInstanceParams{InstanceID: id})
		return err
	})
	if err != nil {
		return nil, err
	}
	return newUse(result), nil
}

// newUse is nil if nobody uses the id.
func newUse(found mssqldb.FindInstanceResult) *provider.IDUse {
	return columns.NewUse(restoredOptionalText(found.Use.Name), found.Use.Status, found.Use.StartItem)
}

// CountHiddenMessages implements [provider.Store].
func (s *Store) CountHiddenMessages(ctx context.Context) (uint64, error) {
	result, err := read(ctx, s, "count_hidden_messages", func(ctx context.Context, q *mssqldb.Queries) (mssqldb.CountHiddenMessagesResult, error) {
		return q.CountHiddenMessages(ctx)
	})
	return uint64(result.Hidden.Messages), err
}

// CountOrphanMessages implements [provider.Store].
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

// DeleteOrphanMessages implements [provider.Store]. One transaction deletes the messages of up to fifty instance ids.
func (s *Store) DeleteOrphanMessages(ctx context.Context, olderThan time.Duration) (provider.OrphanMessages, error) {
	const operation = "delete_orphan_messages"
	var sum provider.OrphanMessages
	age, err := columns.Delay(operation, "olderThan", olderThan)
	if err != nil {
		return sum, err
	}
	params := mssqldb.DeleteOrphanMessagesParams{OlderThanMs: age}
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
