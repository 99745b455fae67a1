package provider

import "context"

// LeaseWatcher is an optional interface of a store that reports in one read-only call which of many locks on
// activities are lost (§5.21). With it a worker learns of cancellations by other processes sooner than by renewing
// each lease. Otherwise it reports nothing that [Provider].RenewWorkItemLock does not report.
type LeaseWatcher interface {
	// LostWorkItems returns the lock tokens that hold no activity any more, in the order of the argument: the
	// activity was cancelled, acknowledged or abandoned, its instance was deleted, or another worker has it. A token
	// whose lease has ended is not lost until another worker takes the activity. A text that is not a token counts as
	// lost.
	LostWorkItems(ctx context.Context, lockTokens []string) ([]string, error)
}
