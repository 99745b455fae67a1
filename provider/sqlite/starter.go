package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/duroxide/duroxide-go/gen/sqlitedb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// opStartInstance labels the start's errors.
const opStartInstance = "start_instance"

// StartInstance implements [provider.Store].
func (s *Store) StartInstance(ctx context.Context, start provider.StartOrchestrationItem) (*provider.IDUse, error) {
	m, err := columns.NewMessage(opStartInstance, start, longText)
	if err != nil {
		return nil, err
	}
	return written(ctx, s, opStartInstance, func(ctx context.Context, t *tx) (*provider.IDUse, error) {
		return t.startInstance(ctx, m)
	})
}

// startInstance returns who uses the id. If nobody does, it sends the start.
func (t *tx) startInstance(ctx context.Context, start columns.Message) (*provider.IDUse, error) {
	use, err := findUse(ctx, t.Queries, start.Instance)
	if err != nil || use != nil {
		return use, err
	}
	id, err := t.send(ctx, []columns.Message{start}, 0)
	if err != nil {
		return nil, err
	}
	code, err := t.codeID(ctx, start.Code)
	if err != nil {
		return nil, err
	}
	added, err := t.AddStartInbox(ctx, code, id, start.Instance)
	if err != nil {
		return nil, err
	}
	if added == 0 {
		return nil, t.refresh(ctx, start.Instance)
	}
	t.drop(start.Instance)
	t.fetchable(start.Instance, 0, code, &id)
	return nil, nil
}

// FindInstance implements [provider.Store].
func (s *Store) FindInstance(ctx context.Context, instance string) (*provider.IDUse, error) {
	var use *provider.IDUse
	err := s.read(ctx, "find_instance", func(ctx context.Context, q *sqlitedb.Queries) (err error) {
		use, err = findUse(ctx, q, instance)
		return err
	})
	return use, err
}

func findUse(ctx context.Context, q *sqlitedb.Queries, instance string) (*provider.IDUse, error) {
	row, err := q.FindUse(ctx, instance)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil //nolint:nilnil // nobody uses the id
	}
	if err != nil {
		return nil, err
	}
	return columns.NewUse(row.OrchestrationName, row.Status, row.StartItem), nil
}

// CountHiddenMessages implements [provider.Store].
func (s *Store) CountHiddenMessages(ctx context.Context) (uint64, error) {
	var n int64
	err := s.read(ctx, "count_hidden_messages", func(ctx context.Context, q *sqlitedb.Queries) (err error) {
		n, err = q.CountHiddenMessages(ctx, s.now())
		return err
	})
	return uint64(n), err
}

// CountOrphanMessages implements [provider.Store].
func (s *Store) CountOrphanMessages(ctx context.Context, olderThan time.Duration) (provider.OrphanMessages, error) {
	const operation = "count_orphan_messages"
	var found provider.OrphanMessages
	age, err := columns.Delay(operation, "olderThan", olderThan)
	if err != nil {
		return found, err
	}
	err = s.read(ctx, operation, func(ctx context.Context, q *sqlitedb.Queries) error {
		row, err := q.CountOrphans(ctx, s.now()-age)
		found = provider.OrphanMessages{Instances: uint64(row.Instances), Messages: uint64(row.Messages)}
		return err
	})
	return found, err
}

// DeleteOrphanMessages implements [provider.Store]. Each instance id is a
// transaction of its own.
func (s *Store) DeleteOrphanMessages(ctx context.Context, olderThan time.Duration) (provider.OrphanMessages, error) {
	const operation = "delete_orphan_messages"
	var sum provider.OrphanMessages
	age, err := columns.Delay(operation, "olderThan", olderThan)
	if err != nil {
		return sum, err
	}
	before, last := s.now()-age, ""
	for {
		ids, err := readList(ctx, s, operation, func(ctx context.Context, q *sqlitedb.Queries) ([]string, error) {
			return q.ListOrphans(ctx, last, before)
		})
		if err != nil || len(ids) == 0 {
			return sum, err
		}
		for _, id := range ids {
			n, err := s.deleteOrphansOf(ctx, operation, id, before)
			if err != nil {
				return sum, err
			}
			sum.Messages += n
			if n > 0 {
				sum.Instances++
			}
		}
		last = ids[len(ids)-1]
	}
}

func (s *Store) deleteOrphansOf(ctx context.Context, operation, instance string, before int64) (uint64, error) {
	deleted, err := written(ctx, s, operation, func(ctx context.Context, t *tx) (int64, error) {
		n, err := t.DeleteOrphansOf(ctx, instance, before)
		if err != nil {
			return 0, err
		}
		t.drop(instance)
		if gone, err := t.DeleteEmptyInbox(ctx, instance); err != nil || gone == 1 {
			return n, err
		}
		if _, err := t.AwaitQueues(ctx, instance); err != nil {
			return 0, err
		}
		// The head may be one of those deleted, and a fetch finds the instance by its head.
		if err := t.ForgetHead(ctx, instance, &t.now); err != nil {
			return 0, err
		}
		return n, t.refresh(ctx, instance)
	})
	return uint64(deleted), err
}
