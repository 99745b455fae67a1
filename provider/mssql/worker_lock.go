package mssql

import (
	"context"
	"time"

	mssqldriver "github.com/microsoft/go-mssqldb"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// AckWorkItem implements [provider.Provider]. One transaction deletes the activity and enqueues its completion. When
// the connection is lost before the answer the outcome is unknown; repeating the call is safe.
//
// Errors: [provider.ErrInvalidLockToken], [provider.ErrLockExpired]; [provider.ErrInvalidArgument] for a completion
// that is not an ActivityCompletedItem or ActivityFailedItem.
func (s *Store) AckWorkItem(ctx context.Context, lockToken string, completion provider.WorkItem) error {
	ack, err := newWorkAck(lockToken, completion)
	if err != nil {
		return err
	}
	err = s.call(ctx, opAckWork, once, func(ctx context.Context, q *mssqldb.Queries) error {
		result, err := q.AckWorkItem(ctx, mssqldb.AckWorkItemParams{Acks: []mssqldb.CompletionListV1Row{ack}})
		if err == nil && len(result.Refused) > 0 {
			return refusal(result.Refused[0])
		}
		return err
	})
	if err == nil && completion != nil {
		s.signalInstances(1)
	}
	return err
}

// opAckWork labels the acknowledgement's errors.
const opAckWork = "ack_work_item"

// refusal is the error of an activity that was not ended.
func refusal(row mssqldb.AckWorkItemRefusedRow) mssqldriver.Error {
	return mssqldriver.Error{Number: row.ErrorNumber, Class: uint8(row.ErrorSeverity), Message: row.ErrorMessage}
}

// newWorkAck makes the procedure's argument. Errors: [provider.ErrInvalidArgument],
// [provider.ErrInvalidLockToken].
func newWorkAck(lockToken string, completion provider.WorkItem) (ack mssqldb.CompletionListV1Row, err error) {
	m, err := columns.NewCompletion(opAckWork, completion, 0)
	if err != nil {
		return ack, err
	}
	if completion != nil {
		id, err := storedID(opAckWork, m.Instance)
		if err != nil {
			return ack, err
		}
		ack.InstanceID, ack.WorkItem = &id, &m.Body
	}
	var ok bool
	if ack.LockToken, ack.ID, ok = cutWorkToken(lockToken); !ok {
		return ack, unknownToken(opAckWork)
	}
	return ack, nil
}

// RenewWorkItemLock implements [provider.Provider].
//
// Errors: [provider.ErrInvalidLockToken], which tells the worker that the activity was cancelled, and
// [provider.ErrLockExpired]; both match [provider.ErrLockLost] and are permanent. Any other error says nothing about
// the lock.
func (s *Store) RenewWorkItemLock(ctx context.Context, lockToken string, extendFor time.Duration) error {
	return s.renewWork(ctx, "renew_work_item_lock", lockToken, extendFor, nil)
}

// renewWork renews the lease, and keeps the details of a heartbeat, nil for none.
func (s *Store) renewWork(ctx context.Context, operation, lockToken string, extendFor time.Duration, heartbeat *string) error {
	lockFor, err := columns.Lease(operation, "extendFor", extendFor)
	if err != nil {
		return err
	}
	token, id, ok := cutWorkToken(lockToken)
	if !ok {
		return unknownToken(operation)
	}
	return s.call(ctx, operation, repeatable, func(ctx context.Context, q *mssqldb.Queries) error {
		return q.RenewWorkItemLock(ctx, mssqldb.RenewWorkItemLockParams{ID: id, LockToken: token, ExtendMs: lockFor, Heartbeat: heartbeat})
	})
}

// KeepHeartbeat implements [provider.Store]. The store repeats it when the connection is lost before the
// answer.
func (s *Store) KeepHeartbeat(ctx context.Context, lockToken string, extendFor time.Duration, details string) error {
	const operation = "keep_heartbeat"
	if err := columns.CheckHeartbeat(operation, details); err != nil {
		return err
	}
	return s.renewWork(ctx, operation, lockToken, extendFor, new(storedString(details)))
}

// AbandonWorkItem implements [provider.Provider]. The activity keeps its
// session and its tag, and the owner keeps the session.
//
// Errors: [provider.ErrInvalidLockToken]; [provider.ErrInvalidArgument] for a
// negative Delay.
func (s *Store) AbandonWorkItem(ctx context.Context, params provider.AbandonParams) error {
	const operation = "abandon_work_item"
	hideFor, err := columns.Delay(operation, "Delay", params.Delay)
	if err != nil {
		return err
	}
	token, id, ok := cutWorkToken(params.LockToken)
	if !ok {
		return unknownToken(operation)
	}
	err = s.call(ctx, operation, once, func(ctx context.Context, q *mssqldb.Queries) error {
		return q.AbandonWorkItem(ctx, mssqldb.AbandonWorkItemParams{
			ID: id, LockToken: token, DelayMs: hideFor, GiveBack: params.IgnoreAttempt,
		})
	})
	switch {
	case err != nil:
		return err
	case hideFor > 0:
		s.noteActivityWake(time.Duration(hideFor) * time.Millisecond)
	default:
		s.activities.putBack()
	}
	return nil
}

// LostWorkItems implements [provider.Store].
func (s *Store) LostWorkItems(ctx context.Context, lockTokens []string) ([]string, error) {
	isLost := make([]bool, len(lockTokens))
	var list []mssqldb.TokenListV1Row
	for i, text := range lockTokens {
		token, id, ok := cutWorkToken(text)
		if isLost[i] = !ok; ok {
			list = append(list, mssqldb.TokenListV1Row{Position: int32(i), ID: id, LockToken: token})
		}
	}
	if len(list) > 0 {
		result, err := read(ctx, s, "lost_work_items", func(ctx context.Context, q *mssqldb.Queries) (mssqldb.ListLostWorkResult, error) {
			return q.ListLostWork(ctx, mssqldb.ListLostWorkParams{Tokens: list})
		})
		if err != nil {
			return nil, err
		}
		for _, row := range result.Lost {
			isLost[row.Position] = true
		}
	}
	var lost []string
	for i, text := range lockTokens {
		if isLost[i] {
			lost = append(lost, text)
		}
	}
	return lost, nil
}

// RenewLocks implements [provider.Store]. The store repeats it when the connection is lost before the answer.
func (s *Store) RenewLocks(ctx context.Context, locks []provider.LockRenewal) ([]error, error) {
	const operation = "renew_locks"
	outcomes := make([]error, len(locks))
	var list []mssqldb.LeaseListV1Row
	for i, lock := range locks {
		extendMs, err := columns.Lease(operation, "ExtendFor", lock.ExtendFor)
		if err != nil {
			return nil, err
		}
		row := mssqldb.LeaseListV1Row{Position: int32(i), Turn: lock.Turn, ExtendMs: extendMs}
		var ok bool
		if lock.Turn {
			var lease turnLease
			lease, ok = cutTurnToken(lock.LockToken)
			row.InstanceID, row.LockToken = &lease.instance, lease.secret
		} else {
			row.LockToken, row.ID, ok = cutWorkToken(lock.LockToken)
		}
		if !ok {
			outcomes[i] = unknownToken(renewalOf(lock))
			continue
		}
		list = append(list, row)
	}
	if len(list) == 0 {
		return outcomes, nil
	}
	var result mssqldb.RenewLocksResult
	err := s.call(ctx, operation, repeatable, func(ctx context.Context, q *mssqldb.Queries) (err error) {
		result, err = q.RenewLocks(ctx, mssqldb.RenewLocksParams{Locks: list})
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, row := range result.Lost {
		outcomes[row.Position] = classify(renewalOf(locks[row.Position]), mssqldriver.Error{Number: row.ErrorNumber})
	}
	return outcomes, nil
}

// renewalOf labels the outcome of a lease as that of its renewal alone.
func renewalOf(lock provider.LockRenewal) string {
	if lock.Turn {
		return "renew_orchestration_item_lock"
	}
	return "renew_work_item_lock"
}
