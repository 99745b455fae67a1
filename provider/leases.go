package provider

import "context"

// LeaseWatcher is an optional interface of a store that tells which of many leases on
// activities are gone, in one call and changing nothing (§5.21). By it a worker learns of
// the cancellation of running activities by other processes sooner than by renewing each
// lease. It adds speed and promises nothing that [Provider.RenewWorkItemLock] does not.
type LeaseWatcher interface {
	// LostWorkItems returns those of the lock tokens that belong to no activity any more, in
	// the same order: the activity was cancelled, acknowledged or abandoned, its instance
	// deleted, or somebody else has it. A lease that has ended is not lost before somebody
	// took the activity. A text that is no token is lost.
	LostWorkItems(ctx context.Context, lockTokens []string) ([]string, error)
}
