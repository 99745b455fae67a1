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

// decide runs one activity, which settle ends.
func (a *activities) decide(work context.Context, fetched *provider.FetchedWorkItem) *call {
	w := a.worker
	item, ok := fetched.Item.(provider.ActivityExecuteItem)
	ctx, cancel := context.WithCancelCause(work)
	c := &call{worker: w, slot: a.id, fetched: fetched, item: item, ctx: ctx, cancel: cancel, logger: w.options.Logger.With(
		"instance_id", item.Instance, "execution_id", item.ExecutionID,
		"activity_name", item.Name, "activity_id", item.ID, "worker_id", a.id)}
	switch {
	case !ok:
		w.options.Logger.ErrorContext(work, "the worker queue holds something other than an activity", "variant", fetched.Item.Variant())
		c.verdict = leave{} // it returns when its lease ends, again and again
	case a.unknown != nil:
		c.verdict = c.decideUnknown(ctx, a.unknown)
	default:
		c.verdict = c.decide(ctx)
	}
	return c
}

// settle carries the call's verdict out and gives its lease up. An acknowledgement takes more work beside.
func (c *call) settle(claim *claim) {
	defer c.cancel(nil)
	defer c.end()
	var stop func()
	c.settling, stop = newSettling(c.ctx, c.worker.options.ActivityLockTimeout, c.worker.outage, claim)
	defer stop()
	for v := c.verdict; v != nil; {
		v = c.apply(c.ctx, v)
	}
	claim.finish()
}
