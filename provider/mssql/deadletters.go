package mssql

import (
	"context"
	"time"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// workQueue is dead_letters.queue of an activity.
const workQueue = "worker"

// CountDeadLetters implements [provider.Store].
func (s *Store) CountDeadLetters(ctx context.Context) (uint64, error) {
	result, err := read(ctx, s, "count_dead_letters", func(ctx context.Context, q *mssqldb.Queries) (mssqldb.CountDeadLettersResult, error) {
		return q.CountDeadLetters(ctx)
	})
	return uint64(result.Letters.Letters), err
}

// ListDeadLetters implements [provider.Store].
func (s *Store) ListDeadLetters(ctx context.Context, query provider.DeadLetterQuery) ([]provider.DeadLetter, error) {
	params := mssqldb.ListDeadLettersParams{After: columns.Clamp(query.After), Limit: int32(query.Rows())}
	if query.InstanceID != "" {
		id, ok := lookupID(query.InstanceID)
		if !ok {
			return nil, nil
		}
		params.InstanceID = &id
	}
	result, err := read(ctx, s, "list_dead_letters", func(ctx context.Context, q *mssqldb.Queries) (mssqldb.ListDeadLettersResult, error) {
		return q.ListDeadLetters(ctx, params)
	})
	if err != nil {
		return nil, err
	}
	list := make([]provider.DeadLetter, len(result.Letters))
	for i, row := range result.Letters {
		list[i] = deadLetter(row)
	}
	return list, nil
}

// deadLetter is a row without its text.
func deadLetter(row mssqldb.ListDeadLettersLettersRow) provider.DeadLetter {
	return provider.DeadLetter{
		ID: uint64(row.ID), InstanceID: restored(row.InstanceID), Activity: row.Queue == workQueue, Kind: columns.ItemKind(row.Head),
		Reason: restoredText(row.Error), SetAsideAt: columns.FromMillis(row.CreatedAt),
	}
}

// GetDeadLetter implements [provider.Store].
func (s *Store) GetDeadLetter(ctx context.Context, id uint64) (*provider.DeadLetter, error) {
	return s.getDeadLetter(ctx, "get_dead_letter", id)
}

func (s *Store) getDeadLetter(ctx context.Context, operation string, id uint64) (*provider.DeadLetter, error) {
	result, err := read(ctx, s, operation, func(ctx context.Context, q *mssqldb.Queries) (mssqldb.GetDeadLetterResult, error) {
		return q.GetDeadLetter(ctx, mssqldb.GetDeadLetterParams{ID: columns.Clamp(id)})
	})
	row := result.Letter
	if err != nil || row == nil {
		return nil, err
	}
	letter := deadLetter(mssqldb.ListDeadLettersLettersRow{
		ID: row.ID, Queue: row.Queue, InstanceID: row.InstanceID, Head: row.WorkItem, Error: row.Error, CreatedAt: row.CreatedAt,
	})
	letter.WorkItem = row.WorkItem
	return &letter, nil
}

// RequeueDeadLetter implements [provider.Store].
func (s *Store) RequeueDeadLetter(ctx context.Context, id uint64) (found bool, err error) {
	const operation = "requeue_dead_letter"
	letter, err := s.getDeadLetter(ctx, operation, id)
	if err != nil || letter == nil {
		return false, err
	}
	item, err := provider.DecodeWorkItem([]byte(letter.WorkItem))
	if err != nil {
		return false, columns.Undecodable(operation, err)
	}
	if letter.Activity {
		return s.requeueWork(ctx, operation, letter.ID, item)
	}
	m, err := newEnqueue(operation, item, time.Duration(0))
	if err != nil {
		return false, err
	}
	params := mssqldb.RequeueMessageParams{
		ID: int64(letter.ID), InstanceID: m.InstanceID, Kind: m.Kind, Name: m.Name, Version: m.Version, WorkItem: m.WorkItem, DelayMs: m.DelayMs, Queue: m.Queue,
	}
	err = s.call(ctx, operation, once, func(ctx context.Context, q *mssqldb.Queries) error {
		result, err := q.RequeueMessage(ctx, params)
		found = result.Requeued.Found
		return err
	})
	if err != nil || !found {
		return false, err
	}
	s.sent(params.DelayMs)
	return true, nil
}

func (s *Store) requeueWork(ctx context.Context, operation string, id uint64, item provider.WorkItem) (found bool, err error) {
	checked, err := columns.NewWork(operation, item, 0)
	if err != nil {
		return false, err
	}
	work, err := workRow(operation, checked)
	if err != nil {
		return false, err
	}
	params := mssqldb.RequeueWorkParams{
		ID: int64(id), InstanceID: work.InstanceID, ExecutionID: work.ExecutionID, ActivityID: work.ActivityID,
		SessionID: work.SessionID, Tag: work.Tag, Name: work.Name, WorkItem: work.WorkItem,
	}
	err = s.call(ctx, operation, once, func(ctx context.Context, q *mssqldb.Queries) error {
		result, err := q.RequeueWork(ctx, params)
		found = result.Requeued.Found
		return err
	})
	if err != nil || !found {
		return false, err
	}
	s.signalActivities(1)
	return true, nil
}

// DeleteDeadLetter implements [provider.Store].
func (s *Store) DeleteDeadLetter(ctx context.Context, id uint64) (found bool, err error) {
	err = s.call(ctx, "delete_dead_letter", once, func(ctx context.Context, q *mssqldb.Queries) error {
		result, err := q.DeleteDeadLetter(ctx, mssqldb.DeleteDeadLetterParams{ID: columns.Clamp(id)})
		found = result.Deleted.Found
		return err
	})
	return found && err == nil, err
}
