package worker

import (
	"context"

	"github.com/duroxide/duroxide-go/provider"
)

// activities is one slot that runs activities.
type activities struct {
	worker *Worker
	id     string
	// unknown is set for the slot of [Worker.watchUnknown].
	unknown *unknownWatch
	// kept has a place for each call that settles work of the slot and that the store has failed or not answered, so
	// that there are no more than keptPerSlot.
	kept chan struct{}
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
