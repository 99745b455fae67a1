package provider

import (
	"context"
	"time"
)

// HeartbeatKeeper is an optional interface of a store that keeps the details of a running
// activity's heartbeats, so that whoever fetches the activity again has them (§5.27). They are
// gone when the activity is: acknowledged, cancelled or deleted.
type HeartbeatKeeper interface {
	// KeepHeartbeat is [Provider.RenewWorkItemLock], and keeps details with the activity in the
	// place of earlier ones: both or neither. Every later fetch of the activity returns them as
	// [FetchedWorkItem].Heartbeat. They are an opaque text of 1 to [MaxHeartbeat] bytes of UTF-8
	// without NUL.
	//
	// Errors: those of RenewWorkItemLock, and [ErrInvalidArgument] for details that are none.
	KeepHeartbeat(ctx context.Context, lockToken string, extendFor time.Duration, details string) error
}

// MaxHeartbeat is the greatest length of a heartbeat's details, in bytes.
const MaxHeartbeat = 64 << 10
