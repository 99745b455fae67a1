package worker

import (
	"context"
	"log/slog"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// orchestrator is one slot that runs turns.
type orchestrator struct {
	worker *Worker
	id     string
}

// loop runs turns until ctx ends; work ends when running turns must stop (§7.4).
func (o *orchestrator) loop(ctx, work context.Context) {
	w := o.worker
	var backoff fetchBackoff
	var last settler
	defer last.wait()
	for ctx.Err() == nil {
		began := time.Now()
		fetched, err := w.store.FetchOrchestrationItem(ctx, provider.FetchOrchestrationParams{
			LockTimeout: w.options.OrchestrationLockTimeout,
			PollTimeout: w.options.PollTimeout,
			Filter:      &provider.CapabilityFilter{SupportedVersions: w.options.SupportedVersions},
		})
		if fetched != nil {
			backoff.failures = 0
			last.settle(o.process(work, fetched))
			continue
		}
		if err != nil && ctx.Err() == nil {
			w.options.Logger.ErrorContext(ctx, "fetching an orchestration failed", "error", err)
		}
		backoff.wait(ctx, err, began, w.options.MinPollInterval)
	}
}

// process runs one turn and returns the call that commits or abandons it. The
// lease is kept alive until that call has returned.
func (o *orchestrator) process(work context.Context, fetched *provider.FetchedOrchestration) (settle func()) {
	w := o.worker
	ctx, cancel := context.WithCancelCause(work)
	logger := w.options.Logger.With("instance_id", fetched.Item.Instance,
		"orchestration_name", fetched.Item.OrchestrationName, "worker_id", o.id)
	l := holdLease(work, w.options.OrchestrationLockTimeout, w.options.OrchestrationRenewalBuffer,
		func(ctx context.Context) error {
			return w.store.RenewOrchestrationItemLock(ctx, fetched.LockToken, w.options.OrchestrationLockTimeout)
		}, cancel, logger)
	t := &turn{worker: w, fetched: fetched, item: &fetched.Item, logger: logger}
	commit := t.run(ctx)
	return func() {
		defer cancel(nil)
		defer l.stop()
		commit()
	}
}

// turn is one fetched batch on its way to an ack or an abandon.
type turn struct {
	worker  *Worker
	fetched *provider.FetchedOrchestration
	item    *provider.OrchestrationItem
	logger  *slog.Logger
}
