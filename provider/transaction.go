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

	// StartInstanceTx is [InstanceStarter].StartInstance in the transaction. Other starts of the id wait until the
	// transaction ends.
	StartInstanceTx(ctx context.Context, tx Tx, start StartOrchestrationItem) (*IDUse, error)

	// FindInstanceTx is [InstanceStarter].FindInstance in the transaction. It also finds what the transaction itself
	// has started.
	FindInstanceTx(ctx context.Context, tx Tx, instance string) (*IDUse, error)
}

// MessageStarter is an optional interface of a store that starts an instance together with its first messages in one
// atomic step. If the id is used, the messages can go to the existing instance.
type MessageStarter interface {
	// StartInstanceWith is [InstanceStarter.StartInstance] followed by [Provider.EnqueueForOrchestrator] for each of
	// the messages, which are for the same instance. If the id is used, the messages are sent only if toUser is true.
	StartInstanceWith(ctx context.Context, start StartOrchestrationItem, messages []WorkItem, toUser bool) (*IDUse, error)
}

// StartInstanceWith starts an instance with messages through the store, see [MessageStarter]. With a store that is
// not a MessageStarter, start and messages are separate steps, and an error can come between them.
func StartInstanceWith(
	ctx context.Context, store Provider, start StartOrchestrationItem, messages []WorkItem, toUser bool,
) (*IDUse, error) {
	if starter, ok := store.(MessageStarter); ok && len(messages) > 0 {
		return starter.StartInstanceWith(ctx, start, messages, toUser)
	}
	use, err := StartInstance(ctx, store, start)
	if err != nil || (use != nil && !toUser) {
		return use, err
	}
	for _, message := range messages {
		if err := store.EnqueueForOrchestrator(ctx, message, 0); err != nil {
			return use, err
		}
	}
	return use, nil
}
