package mssql

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"time"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// EnqueueForOrchestrator implements [provider.Provider]. Each call adds a message, whether the instance exists or
// not. The store therefore does not repeat it when the connection is lost before the answer: the message may have
// arrived.
//
// Error: [provider.ErrInvalidArgument] for an ActivityExecute, an item without
// instance or with an id that is too long, or a negative delay.
func (s *Store) EnqueueForOrchestrator(ctx context.Context, item provider.WorkItem, after time.Duration) error {
	const operation = "enqueue_for_orchestrator"
	params, err := newEnqueue(operation, item, after)
	if err != nil {
		return err
	}
	err = s.send(ctx, operation, params.InstanceID, func(ctx context.Context, q *mssqldb.Queries) error {
		return q.EnqueueForOrchestrator(ctx, params)
	})
	if err != nil {
		return err
	}
	s.sent(params.DelayMs)
	return nil
}

// send is call for a message. What the instance's other senders keep locked is waited for as long as ctx and
// Options.CallTimeout allow, mostly without a connection.
func (s *Store) send(ctx context.Context, operation, instance string, run func(context.Context, *mssqldb.Queries) error) error {
	for began, n := time.Now(), 0; ; n++ {
		err := s.call(ctx, operation, once, run)
		if !isLockTimeout(err) {
			return err
		}
		waited := time.Since(began)
		blocked := provider.Retryable(operation, fmt.Sprintf("nothing was sent, because somebody's open transaction has kept instance %q, or the name that it starts, locked for %v; "+
			"try again, and look for the session that blocks", restored(instance), waited.Round(time.Millisecond)), err)
		if s.retries.patience > 0 && waited >= s.retries.patience {
			return blocked
		}
		if s.retries.pause(ctx, s.retries.backoff(n)) != nil {
			return contextError(ctx, operation, blocked)
		}
	}
}

// EnqueueTx implements [provider.TxEnqueuer]: it is EnqueueForOrchestrator inside the caller's own transaction. The
// message is sent if the transaction commits, and not if it rolls back. So an orchestration starts, or an event is
// raised, together with the business change that causes it.
//
// The transaction must be in the store's database, under any isolation level except SNAPSHOT (errors.ErrUnsupported).
// The message is sent under READ COMMITTED; the transaction's own level does not change. Until the transaction ends
// it holds the lock of the instance. Turns of the instance, and other calls that send to it, wait for this lock; leases
// of other instances are renewed meanwhile. The first start of an orchestration in a version also blocks other first
// starts of that version. Keep the transaction short, and send to several instances in the order of their ids.
//
// The call itself may wait for locks: ctx limits it, Options.CallTimeout does not. Fetches find the message with their
// next poll, also in this process, because nothing tells the store when the transaction ends. In this process the polls
// begin again at Options.MinPollInterval; another one finds the message after Options.MaxPollInterval at the latest.
//
// If EnqueueTx fails, roll the transaction back. Usually the procedure has done so already, including all earlier
// changes of the transaction, so you cannot repeat the call alone. If the error is retryable
// ([provider.IsRetryable]), run the whole transaction again from the beginning. Expect this occasionally: [ErrBusy]
// reports a deadlock's victim, or one of two transactions that send the first message of an instance at the same
// time.
//
// Errors: as EnqueueForOrchestrator, and those of the database. An invalid argument and
// [provider.ErrClosed] are found before anything is sent, and leave the transaction as
// it was.
func (s *Store) EnqueueTx(ctx context.Context, tx *sql.Tx, item provider.WorkItem, after time.Duration) error {
	const operation = "enqueue_for_orchestrator"
	params, err := newEnqueue(operation, item, after)
	if err != nil {
		return err
	}
	return s.within(ctx, operation, tx, func(q *mssqldb.Queries) error { return q.EnqueueForOrchestrator(ctx, params) })
}

// within runs a call in the caller's transaction.
func (s *Store) within(ctx context.Context, operation string, tx *sql.Tx, run func(*mssqldb.Queries) error) error {
	if err := s.enter(operation); err != nil {
		return err
	}
	defer s.leave()
	err := run(s.queries.WithTx(tx))
	if err != nil && ctx.Err() != nil {
		// The driver may report a broken connection, which is how it gave up waiting.
		return provider.ContextError(ctx, operation)
	}
	s.poller.expect() // what the transaction sends
	return classify(operation, err)
}

// newEnqueue checks and encodes a message.
func newEnqueue(
	operation string, item provider.WorkItem, after time.Duration,
) (mssqldb.EnqueueForOrchestratorParams, error) {
	var params mssqldb.EnqueueForOrchestratorParams
	m, err := columns.NewMessage(operation, item, 0)
	if err != nil {
		return params, err
	}
	if params.InstanceID, err = storedID(operation, m.Instance); err != nil {
		return params, err
	}
	if params.DelayMs, err = columns.Delay(operation, "delay", after); err != nil {
		return params, err
	}
	params.DelayMs = max(params.DelayMs, untilDue(m))
	params.Kind, params.WorkItem = uint8(m.Kind), m.Body
	params.Name, params.Version = storedCode(m.Code)
	params.Queue = storedQueue(m.Queue)
	return params, nil
}

// untilDue is how long a timer has to wait, in milliseconds. The due time comes from
// the runtime's clock and the store has the server's: as a length of time it is right
// whatever the difference between them (contract §2.1). A timer for the end of time must still be
// one when the server has added its own clock, so what is left of time is halved.
func untilDue(m columns.Message) int64 {
	return min(max(0, m.NotBefore-time.Now().UnixMilli()), math.MaxInt64/2)
}

// sent wakes whoever waits for a message that becomes visible so many milliseconds
// from now.
func (s *Store) sent(delayMs int64) {
	if delayMs > 0 {
		// What is decades away will be found by polling, and fits no duration.
		s.noteInstanceWake(time.Duration(min(delayMs, 1<<40)) * time.Millisecond)
		return
	}
	s.signalInstances(1)
}

// EnqueueForWorker implements [provider.Provider]. As with [Store.EnqueueForOrchestrator], the store does not repeat
// it when the connection is lost before the answer.
//
// Error: [provider.ErrInvalidArgument] for anything but an ActivityExecute of an
// instance, and for ids, sessions and tags that are too long.
func (s *Store) EnqueueForWorker(ctx context.Context, item provider.WorkItem) error {
	const operation = "enqueue_for_worker"
	checked, err := columns.NewWork(operation, item, 0)
	if err != nil {
		return err
	}
	work, err := workRow(operation, checked)
	if err != nil {
		return err
	}
	params := mssqldb.EnqueueForWorkerParams{
		InstanceID: work.InstanceID, ExecutionID: work.ExecutionID, ActivityID: work.ActivityID,
		SessionID: work.SessionID, Tag: work.Tag, Name: work.Name, WorkItem: work.WorkItem,
	}
	err = s.call(ctx, operation, once, func(ctx context.Context, q *mssqldb.Queries) error {
		return q.EnqueueForWorker(ctx, params)
	})
	if err != nil {
		return err
	}
	s.signalActivities(1)
	return nil
}

// workRow makes a table row of an activity. Error: [provider.ErrInvalidArgument] for
// what is too long.
func workRow(operation string, work columns.Work) (row mssqldb.WorkListV1Row, err error) {
	row = mssqldb.WorkListV1Row{ExecutionID: work.ExecutionID, ActivityID: work.Activity, WorkItem: work.Body}
	if row.InstanceID, err = storedID(operation, work.Instance); err != nil {
		return row, err
	}
	if row.SessionID, err = storedOptional(operation, "session id", work.Session); err != nil {
		return row, err
	}
	row.Name, _ = storedCode(work.Code)
	row.Tag, err = storedTag(operation, work.Tag)
	return row, err
}
