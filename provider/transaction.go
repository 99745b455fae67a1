package provider

import (
	"context"
	"time"
)

// TxEnqueuer is an optional interface of a store in a database in which the caller may have tables of its own.
// Messages become part of the caller's transaction: they are sent if it commits, and not if it rolls back. So an
// orchestration starts together with the change that causes it.
//
// Nothing tells the store of the commit, so workers find the message by polling. If a call fails, roll the
// transaction back; if its error is retryable ([IsRetryable]), run the whole transaction again. Invalid arguments are
// found before anything is sent.
//
// Tx is the type of the transaction: *sql.Tx for a store on database/sql.
type TxEnqueuer[Tx any] interface {
	// EnqueueTx is [Provider.EnqueueForOrchestrator] in the transaction.
	EnqueueTx(ctx context.Context, tx Tx, item WorkItem, after time.Duration) error

	// StartInstanceTx is [Store].StartInstance in the transaction. Other starts of the id wait until the
	// transaction ends.
	StartInstanceTx(ctx context.Context, tx Tx, start StartOrchestrationItem) (*IDUse, error)

	// FindInstanceTx is [Store].FindInstance in the transaction. It also finds what the transaction itself
	// has started.
	FindInstanceTx(ctx context.Context, tx Tx, instance string) (*IDUse, error)
}
