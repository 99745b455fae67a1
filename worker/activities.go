package worker

import (
	"context"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// activities is one slot that runs activities.
type activities struct {
	worker *Worker
	id     string
	// scout looks often whether a store that is away is back.
	scout bool
	// unknown is set for the slot of [Worker.watchUnknown].
	unknown *unknownWatch
	// settler is that of a slot of the dispatcher.
	settler *settler
}

// loop runs activities until ctx ends; work ends when running ones must stop
// (§7.8).
func (a *activities) loop(ctx, work context.Context) {
	w := a.worker
	backoff := fetchBackoff{outage: &w.outage, scout: a.scout}
	last := newSettler()
	defer last.wait()
	for ctx.Err() == nil {
		params := a.fetchWork(true)
		params.PollTimeout = w.pollTimeout()
		if params.Session == nil { // not for long: a session may end at any moment
			params.PollTimeout = min(params.PollTimeout, w.options.MinPollInterval)
		}
		began := time.Now()
		returned := w.outage.expect(ctx, opFetchWork, params.PollTimeout)
		fetched, err := w.store.FetchWorkItem(ctx, params)
		returned()
		w.outage.observe(ctx, opFetchWork, err)
		if fetched != nil {
			backoff.failures = 0
			w.sessions.taken(fetched.Item)
			settle := a.process(work, fetched)
			last.settle(func(free func()) { settle(free, nil) })
			continue
		}
		backoff.wait(ctx, err, began, w.options.MinPollInterval)
	}
}

// fetchWork is what the slot asks for when it fetches an activity, also of a session if that is
// allowed and a further one may begin.
func (a *activities) fetchWork(sessions bool) provider.FetchWorkParams {
	w := a.worker
	params := provider.FetchWorkParams{LockTimeout: w.options.ActivityLockTimeout, Tags: w.options.Tags, Known: w.known.activities, SetAside: w.tellSetAside}
	if sessions && !w.sessions.full() {
		params.Session = &provider.SessionFetchConfig{OwnerID: w.ownerID(a.id), LockTimeout: w.options.SessionLockTimeout}
	}
	return params
}

// process runs one activity and returns the call that acknowledges or abandons it.
func (a *activities) process(work context.Context, fetched *provider.FetchedWorkItem) settleFunc {
	w := a.worker
	item, ok := fetched.Item.(provider.ActivityExecuteItem)
	if !ok {
		w.options.Logger.ErrorContext(work, "the worker queue holds something other than an activity", "variant", fetched.Item.Variant())
		return func(func(), *taking) {} // returns when its lease ends, again and again
	}
	ctx, cancel := context.WithCancelCause(work)
	c := &call{worker: w, slot: a.id, fetched: fetched, item: item, ctx: ctx, cancel: cancel, logger: w.options.Logger.With(
		"instance_id", item.Instance, "execution_id", item.ExecutionID,
		"activity_name", item.Name, "activity_id", item.ID, "worker_id", a.id)}
	last := func() { c.settleUnknown(ctx, a.unknown) }
	if a.unknown == nil {
		last = c.decoded(ctx)
	}
	return func(free func(), take *taking) {
		defer cancel(nil)
		defer c.end()
		var stop func()
		c.settling, stop = newSettling(ctx, w.options.ActivityLockTimeout, &w.outage, free)
		c.settling.take = take
		defer stop()
		last()
		take.finish()
	}
}
