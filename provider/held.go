package provider

import (
	"context"
	"time"
)

// HeldAdmin is an optional interface of a store's [Admin] that knows which instances are held because the registered
// code does not fit their histories (§5.26). A hold begins with an abandon call that sets [AbandonParams].Misfit. It
// ends when the instance's messages are consumed: by a turn that succeeds, by the end of the instance or by its
// deletion.
type HeldAdmin interface {
	// ListHeldInstances lists the held instances, those held longest first.
	ListHeldInstances(ctx context.Context) ([]HeldInstance, error)

	// GetHeldInstance returns why an instance is held; nil if it is not held.
	GetHeldInstance(ctx context.Context, instance string) (*HeldInstance, error)

	// RetryHeldInstance makes messages that the hold has hidden visible at once, and reports whether the instance is
	// held. Timers stay hidden.
	RetryHeldInstance(ctx context.Context, instance string) (held bool, err error)
}

// HeldInstance is an instance that is held. From a [HeldAdmin], the fields describe the instance's oldest message that
// was given back with a misfit. A client also lists instances that wait for code, see [CodeSelector].
type HeldInstance struct {
	InstanceID string
	// Reason says what the history holds, what the code asks for, and at which line; or which code is missing.
	Reason string
	// Since is when the instance was first given back, or when the work became ready that waits for code. NextTry is
	// when it is offered again; it is in the past if a worker has the instance, or if no worker has fetched it yet,
	// and zero for an instance that goes on as soon as a worker has the code.
	Since, NextTry time.Time
}
