package provider

import (
	"context"
	"time"
)

// TxEnqueuer is an optional interface of a store in a database of which the caller may have
// tables of its own: what is sent becomes part of the caller's transaction. It is sent if
// that commits, and never was if it rolls back. So an orchestration starts together with
// the change that is the reason for it.
//
// Nobody tells the store of the commit, so that workers notice by polling. If a call fails,
// roll the transaction back; if its error is retryable ([IsRetryable]), run all of the
// transaction again. An invalid argument is found before anything is sent.
//
// Tx is how the store knows a transaction: *sql.Tx for a store on database/sql.
type TxEnqueuer[Tx any] interface {
	// EnqueueTx is [Provider.EnqueueForOrchestrator] in the transaction.
	EnqueueTx(ctx context.Context, tx Tx, item WorkItem, after time.Duration) error

	// StartInstanceTx is [InstanceStarter.StartInstance] in the transaction. Who else wants
	// the id waits until that ends.
	StartInstanceTx(ctx context.Context, tx Tx, start StartOrchestrationItem) (*IDUse, error)
}

// MessageStarter is an optional interface of a store that starts an instance together with
// its first messages, or sends them to who uses the id, in one atomic step.
type MessageStarter interface {
	// StartInstanceWith is [InstanceStarter.StartInstance] followed by
	// [Provider.EnqueueForOrchestrator] for each of the messages, which are for the same
	// instance. If the id is used, messages are sent only if toUser is set.
	StartInstanceWith(ctx context.Context, start StartOrchestrationItem, messages []WorkItem, toUser bool) (*IDUse, error)
}

// StartInstanceWith starts an instance with messages through the store, see
// [MessageStarter]. With a store that is none, the steps are made one after the other, and
// an error may come between them.
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
