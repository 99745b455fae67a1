package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/duroxide/duroxide-go/internal/observed"
	"github.com/duroxide/duroxide-go/provider"
)

// TxOption is a [StartOption] and a [SendOption], see [InTx].
type TxOption struct {
	// in finds the transaction's side of the store; it is nil where there is no transaction.
	in func(store provider.Provider) (transaction, error)
}

func (t TxOption) ofStart(o *startOptions) { o.tx = t }
func (t TxOption) ofSend(o *sendOptions)   { o.tx = t }

// transaction is what a store does in one.
type transaction struct {
	enqueue func(ctx context.Context, item provider.WorkItem) error
	start   func(ctx context.Context, start provider.StartOrchestrationItem) (*provider.IDUse, error)
	find    func(ctx context.Context, instance string) (*provider.IDUse, error)
}

// InTx makes a start or a message part of the caller's own transaction: it takes effect if the transaction commits,
// and not if it rolls back. The transaction is a *sql.Tx of the store's database, in which the caller has tables of
// its own. The methods EnqueueTx of provider/mssql and provider/sqlite list further requirements. Workers notice the
// commit by polling. After an error, roll back, and run the whole transaction again if the error is retryable
// ([provider.IsRetryable]).
//
// Wait for a Run only after the transaction is committed. InTx cannot be combined with [ReplaceFinished]. Error:
// errors.ErrUnsupported if the store is not a [provider.TxEnqueuer] for transactions of this type.
func InTx[Tx any](tx Tx) TxOption {
	return TxOption{func(store provider.Provider) (transaction, error) {
		s, ok := store.(provider.TxEnqueuer[Tx])
		if !ok {
			return transaction{}, fmt.Errorf("the store cannot join a transaction of type %T: %w", tx, errors.ErrUnsupported)
		}
		return transaction{
			enqueue: func(ctx context.Context, item provider.WorkItem) error { return s.EnqueueTx(ctx, tx, item, 0) },
			start: func(ctx context.Context, start provider.StartOrchestrationItem) (*provider.IDUse, error) {
				return s.StartInstanceTx(ctx, tx, start)
			},
			find: func(ctx context.Context, instance string) (*provider.IDUse, error) {
				return s.FindInstanceTx(ctx, tx, instance)
			},
		}, nil
	}}
}

// enqueueIn sends a message, in the transaction if there is one.
func (c *Client) enqueueIn(ctx context.Context, o TxOption, item provider.WorkItem) error {
	if o.in == nil {
		return c.store.EnqueueForOrchestrator(ctx, item, 0)
	}
	tx, err := o.in(c.plain)
	if err != nil {
		return err
	}
	return c.enqueueTx(ctx, tx, item)
}

func (c *Client) enqueueTx(ctx context.Context, tx transaction, item provider.WorkItem) error {
	return observed.Call(ctx, c.hook, "enqueue_tx", func() error { return tx.enqueue(ctx, item) })
}

// findIn finds who uses an id, also in the transaction if there is one: a look from outside would wait for the
// transaction's own locks, or not see what it has started.
func (c *Client) findIn(ctx context.Context, o TxOption, instance string) (use *provider.IDUse, err error) {
	if o.in == nil {
		return c.store.FindInstance(ctx, instance)
	}
	tx, err := o.in(c.plain)
	if err != nil {
		return nil, err
	}
	err = observed.Call(ctx, c.hook, "find_instance_tx", func() (err error) {
		use, err = tx.find(ctx, instance)
		return err
	})
	return use, err
}

// startIn starts an instance with messages, in the transaction if there is one. Who uses the
// id gets the messages if toUser is set.
func (c *Client) startIn(
	ctx context.Context, o TxOption, start provider.StartOrchestrationItem, messages []provider.WorkItem, toUser bool,
) (*provider.IDUse, error) {
	switch {
	case o.in == nil && len(messages) == 0:
		return c.store.StartInstance(ctx, start)
	case o.in == nil:
		return c.store.StartInstanceWith(ctx, start, messages, toUser)
	}
	tx, err := o.in(c.plain)
	if err != nil {
		return nil, err
	}
	var use *provider.IDUse
	err = observed.Call(ctx, c.hook, "start_instance_tx", func() (err error) {
		use, err = tx.start(ctx, start)
		return err
	})
	if err != nil || (use != nil && !toUser) {
		return use, err
	}
	for _, message := range messages {
		if err := c.enqueueTx(ctx, tx, message); err != nil {
			return use, err
		}
	}
	return use, nil
}
