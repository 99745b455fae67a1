package provider

import (
	"context"
	"time"
)

// HeldAdmin is an optional interface of a store's [Admin] that knows which instances are held,
// because their code does not fit their histories (§5.26). An instance is held from the abandon
// that said so, in [AbandonParams].Misfit, until its messages are consumed: by a turn that goes
// on, by its end or by its deletion.
type HeldAdmin interface {
	// ListHeldInstances lists them, those held longest first.
	ListHeldInstances(ctx context.Context) ([]HeldInstance, error)

	// GetHeldInstance tells why an instance is held, nil if it is not.
	GetHeldInstance(ctx context.Context, instance string) (*HeldInstance, error)

	// RetryHeldInstance makes the messages that the hold has hidden visible at once, and
	// reports whether the instance is held. Its timers stay hidden.
	RetryHeldInstance(ctx context.Context, instance string) (held bool, err error)
}

// HeldInstance is an instance whose code does not fit its history. All is of the oldest message
// that was given back with a misfit.
type HeldInstance struct {
	InstanceID string
	// Reason says what the history holds, what the code asks for, and at which line.
	Reason string
	// Since is when it was given back first, and NextTry when it is offered again: in the past
	// if a worker has it, or none has come for it.
	Since, NextTry time.Time
}
