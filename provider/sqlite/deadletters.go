package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"

	"github.com/duroxide/duroxide-go/gen/sqlitedb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// The values of dead_letters.queue.
const (
	messageQueue = "orchestrator"
	workQueue    = "worker"
)

// setAside keeps a message of either queue that cannot be decoded (contract §5.1, §5.10). The caller deletes it from
// its queue. told is that of the fetch.
func (t *tx) setAside(
	ctx context.Context, log *slog.Logger, told func(provider.DeadLetter), letter sqlitedb.AddDeadLetterParams,
) error {
	letter.CreatedAt = t.now
	t.reports = append(t.reports, func() {
		columns.TellSetAside(ctx, log, told, deadLetter(sqlitedb.ListDeadLettersRow{
			Queue: letter.Queue, InstanceID: letter.InstanceID, Head: letter.WorkItem, Error: letter.Error, CreatedAt: letter.CreatedAt,
		}))
	})
	if letter.PayloadID != nil {
		if err := t.SharePayload(ctx, *letter.PayloadID); err != nil {
			return err
		}
	}
	return t.AddDeadLetter(ctx, letter)
}

// deadLetter is a row without its text.
func deadLetter(row sqlitedb.ListDeadLettersRow) provider.DeadLetter {
	return provider.DeadLetter{
		ID: uint64(row.ID), InstanceID: row.InstanceID, Activity: row.Queue == workQueue, Kind: columns.ItemKind(row.Head),
		Reason: row.Error, SetAsideAt: columns.FromMillis(row.CreatedAt),
	}
}

// CountDeadLetters implements [provider.Store].
func (s *Store) CountDeadLetters(ctx context.Context) (count uint64, err error) {
	err = s.read(ctx, "count_dead_letters", func(ctx context.Context, q *sqlitedb.Queries) error {
		n, err := q.CountDeadLetters(ctx)
		count = uint64(n)
		return err
	})
	return count, err
}

// ListDeadLetters implements [provider.Store].
func (s *Store) ListDeadLetters(ctx context.Context, query provider.DeadLetterQuery) ([]provider.DeadLetter, error) {
	var list []provider.DeadLetter
	err := s.read(ctx, "list_dead_letters", func(ctx context.Context, q *sqlitedb.Queries) error {
		after, most := columns.Clamp(query.After), query.Rows()
		if query.InstanceID == "" {
			rows, err := q.ListDeadLetters(ctx, after, most)
			for _, row := range rows {
				list = append(list, deadLetter(row))
			}
			return err
		}
		rows, err := q.ListInstanceDeadLetters(ctx, query.InstanceID, after, most)
		for _, row := range rows {
			list = append(list, deadLetter(sqlitedb.ListDeadLettersRow(row)))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// GetDeadLetter implements [provider.Store].
func (s *Store) GetDeadLetter(ctx context.Context, id uint64) (*provider.DeadLetter, error) {
	var letter *provider.DeadLetter
	err := s.read(ctx, "get_dead_letter", func(ctx context.Context, q *sqlitedb.Queries) error {
		row, err := q.GetDeadLetter(ctx, columns.Clamp(id))
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		letter = new(deadLetter(sqlitedb.ListDeadLettersRow{
			ID: row.ID, Queue: row.Queue, InstanceID: row.InstanceID, Head: row.WorkItem, Error: row.Error, CreatedAt: row.CreatedAt,
		}))
		letter.WorkItem = whole(row.WorkItem, row.Payload)
		return err
	})
	if err != nil {
		return nil, err
	}
	return letter, nil
}

// RequeueDeadLetter implements [provider.Store].
func (s *Store) RequeueDeadLetter(ctx context.Context, id uint64) (bool, error) {
	const operation = "requeue_dead_letter"
	return written(ctx, s, operation, func(ctx context.Context, t *tx) (bool, error) {
		row, err := t.GetDeadLetter(ctx, columns.Clamp(id))
		if errors.Is(err, sql.ErrNoRows) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		item, err := provider.DecodeWorkItem([]byte(whole(row.WorkItem, row.Payload)))
		if err != nil {
			return false, columns.Undecodable(operation, err)
		}
		if _, err := t.DeleteDeadLetter(ctx, row.ID); err != nil {
			return false, err
		}
		if row.Queue == workQueue {
			work, err := columns.NewWork(operation, item, longText)
			if err != nil {
				return false, err
			}
			return true, t.queue(ctx, []columns.Work{work}, false)
		}
		m, hideFor, err := newMessage(operation, item, 0)
		if err != nil {
			return false, err
		}
		return true, t.deliver(ctx, m, hideFor)
	})
}

// DeleteDeadLetter implements [provider.Store].
func (s *Store) DeleteDeadLetter(ctx context.Context, id uint64) (bool, error) {
	return written(ctx, s, "delete_dead_letter", func(ctx context.Context, t *tx) (bool, error) {
		deleted, err := t.DeleteDeadLetter(ctx, columns.Clamp(id))
		return deleted > 0, err
	})
}
