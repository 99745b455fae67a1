package provider

import (
	"context"
	"time"
)

// HeartbeatKeeper is an optional interface of a store that keeps the details of a running activity's heartbeats, so
// that the next fetch of the activity returns them (§5.27). They are deleted with the activity, when it is
// acknowledged, cancelled or deleted.
type HeartbeatKeeper interface {
	// KeepHeartbeat does the same as [Provider.RenewWorkItemLock], and in the same transaction stores details with
	// the activity, in place of earlier ones. Every later fetch of the activity returns them as
	// [FetchedWorkItem].Heartbeat. The details are an opaque text of 1 to [MaxHeartbeat] bytes of UTF-8 without NUL.
	//
	// Errors: those of RenewWorkItemLock, and [ErrInvalidArgument] for invalid details.
	KeepHeartbeat(ctx context.Context, lockToken string, extendFor time.Duration, details string) error
}

// MaxHeartbeat is the greatest length of a heartbeat's details, in bytes.
const MaxHeartbeat = 64 << 10
