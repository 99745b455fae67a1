package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/duroxide/duroxide-go/gen/sqlitedb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

var _ provider.TxEnqueuer[*sql.Tx] = (*Store)(nil)

// EnqueueTx implements [provider.TxEnqueuer]. The transaction belongs to the caller's own connection to the store's
// file, in which the caller may have tables. The driver must be modernc.org/sqlite, because two copies of SQLite in
// one process lose each other's locks. Begin the transaction with BEGIN IMMEDIATE (_txlock=immediate); otherwise
// another writer can make it fail. Until it ends, nothing else can write to the file: the store's own writes wait up
// to Options.BusyTimeout.
//
// Errors: those of [Store.EnqueueForOrchestrator]; errors.ErrUnsupported if the transaction's file is not a store;
// errors of the database.
func (s *Store) EnqueueTx(ctx context.Context, own *sql.Tx, item provider.WorkItem, after time.Duration) error {
	const operation = "enqueue_for_orchestrator"
	m, hideFor, err := newMessage(operation, item, after)
	if err != nil {
		return err
	}
	return s.within(ctx, operation, own, func(t *tx) error { return t.deliver(ctx, m, hideFor) })
}

// StartInstanceTx implements [provider.TxEnqueuer], see [Store.EnqueueTx].
func (s *Store) StartInstanceTx(ctx context.Context, own *sql.Tx, start provider.StartOrchestrationItem) (*provider.IDUse, error) {
	const operation = "start_instance"
	m, err := columns.NewMessage(operation, start, longText)
	if err != nil {
		return nil, err
	}
	var use *provider.IDUse
	err = s.within(ctx, operation, own, func(t *tx) (err error) {
		use, err = t.startInstance(ctx, m)
		return err
	})
	return use, err
}

// FindInstanceTx implements [provider.TxEnqueuer], see [Store.EnqueueTx].
func (s *Store) FindInstanceTx(ctx context.Context, own *sql.Tx, instance string) (*provider.IDUse, error) {
	var use *provider.IDUse
	err := s.within(ctx, "find_instance", own, func(t *tx) (err error) {
		use, err = findUse(ctx, t.Queries, instance)
		return err
	})
	return use, err
}

// within runs a call in the caller's transaction. What the process knows of the file is not
// used, as the transaction may be rolled back, and learns of the commit as of another process's.
func (s *Store) within(ctx context.Context, operation string, own *sql.Tx, run func(*tx) error) error {
	if err := s.enter(operation); err != nil {
		return err
	}
	defer s.leave()
	err := isOurs(ctx, own)
	if err == nil {
		err = run(&tx{Queries: sqlitedb.New(own), now: s.now(), known: &codes{}, ready: &readyRows{}})
	}
	return classify(operation, err)
}

// isOurs looks whether the transaction is of a store's file.
func isOurs(ctx context.Context, own *sql.Tx) error {
	var application int
	err := own.QueryRowContext(ctx, "PRAGMA application_id").Scan(&application)
	if err == nil && application != applicationID {
		err = fmt.Errorf("the transaction's file is not a duroxide store: begin the transaction on a connection to the store's file: %w", errors.ErrUnsupported)
	}
	return err
}

// StartInstanceWith implements [provider.Store].
func (s *Store) StartInstanceWith(
	ctx context.Context, start provider.StartOrchestrationItem, messages []provider.WorkItem, toUser bool,
) (*provider.IDUse, error) {
	const operation = "start_instance"
	list := make([]columns.Message, 0, len(messages)+1)
	for _, item := range append([]provider.WorkItem{start}, messages...) {
		m, err := columns.NewMessage(operation, item, longText)
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	var use *provider.IDUse
	err := s.write(ctx, operation, func(ctx context.Context, t *tx) (err error) {
		if use, err = t.startInstance(ctx, list[0]); err != nil || (use != nil && !toUser) {
			return err
		}
		for _, m := range list[1:] {
			if err := t.deliver(ctx, m, 0); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return use, nil
}
