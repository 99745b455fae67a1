package providertest

import (
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// enqueueWork queues activities.
func (e *env) enqueueWork(items ...provider.ActivityExecuteItem) {
	e.Helper()
	for _, item := range items {
		e.ok(e.p.EnqueueForWorker(e.ctx, item), "§5.8: EnqueueForWorker adds one ActivityExecute to the worker queue")
	}
}

// tryFetchWork fetches an untagged activity without a session, or nil.
func (e *env) tryFetchWork(lease time.Duration) *provider.FetchedWorkItem {
	e.Helper()
	return e.tryFetchWorkWith(provider.FetchWorkParams{LockTimeout: lease})
}

// tryFetchWorkWith fetches an activity, or nil.
func (e *env) tryFetchWorkWith(params provider.FetchWorkParams) *provider.FetchedWorkItem {
	e.Helper()
	got, err := e.p.FetchWorkItem(e.ctx, params)
	e.ok(err, "§5.10: FetchWorkItem")
	return got
}

// fetchWork fetches the activity that must be eligible.
func (e *env) fetchWork(lease time.Duration) *provider.FetchedWorkItem {
	e.Helper()
	return e.fetchWorkWith(provider.FetchWorkParams{LockTimeout: lease})
}

// fetchWorkWith is fetchWork with all parameters.
func (e *env) fetchWorkWith(params provider.FetchWorkParams) *provider.FetchedWorkItem {
	e.Helper()
	got := e.tryFetchWorkWith(params)
	e.check(got != nil, "§5.10 step 2: visible rows without a live lock are eligible",
		"FetchWorkItem returned nothing although an activity is eligible")
	return got
}

// fetchNoWork asserts that no activity is eligible.
func (e *env) fetchNoWork(params provider.FetchWorkParams, rule string) {
	e.Helper()
	params.LockTimeout = held
	got := e.tryFetchWorkWith(params)
	e.check(got == nil, rule, "fetched %v, want nothing", got)
}

// work is the activity that was fetched.
func (e *env) work(got *provider.FetchedWorkItem) provider.ActivityExecuteItem {
	e.Helper()
	item, ok := got.Item.(provider.ActivityExecuteItem)
	e.check(ok, "§5.10: FetchWorkItem returns an ActivityExecute", "fetched a %T", got.Item)
	return item
}

// claim fetches the activity that must be next: the one with the given id.
func (e *env) claim(params provider.FetchWorkParams, id uint64, rule string) *provider.FetchedWorkItem {
	e.Helper()
	got := e.tryFetchWorkWith(params)
	e.check(got != nil, rule, "fetched nothing, want activity %d", id)
	e.check(e.work(got).ID == id, rule, "fetched activity %d, want %d", e.work(got).ID, id)
	return got
}

// ackWork completes a fetched activity with the result "ok".
func (e *env) ackWork(got *provider.FetchedWorkItem) {
	e.Helper()
	item := e.work(got)
	done := provider.ActivityCompletedItem{
		Instance: item.Instance, ExecutionID: item.ExecutionID, ID: item.ID, Result: "ok",
	}
	e.ok(e.p.AckWorkItem(e.ctx, got.LockToken, done), "§5.11: a row with this token and a live lock is deleted")
}

// abandonWork returns a fetched activity to the queue.
func (e *env) abandonWork(got *provider.FetchedWorkItem, delay time.Duration, ignoreAttempt bool) {
	e.Helper()
	e.ok(e.p.AbandonWorkItem(e.ctx, provider.AbandonParams{
		LockToken: got.LockToken, Delay: delay, IgnoreAttempt: ignoreAttempt,
	}), "§5.13: abandon clears token and deadline")
}
