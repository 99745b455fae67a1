package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/duroxide/duroxide-go/provider"
)

// ErrNotHeld reports a retry of an instance that is not held.
var ErrNotHeld = errors.New("the instance is not held")

// Held returns why an instance is held: its code does not fit its history, and its workers have HoldMisfits set in
// worker.Options. It returns nil for any other instance. The state of a held instance is Running. Error:
// [ErrManagementNotAvailable], also for a store that is not a [provider.HeldAdmin].
func (c *Client) Held(ctx context.Context, instance string) (*provider.HeldInstance, error) {
	admin, err := c.heldAdmin()
	if err != nil {
		return nil, err
	}
	held, err := admin.GetHeldInstance(ctx, instance)
	if err != nil {
		return nil, fmt.Errorf("reading why %q is held: %w", instance, err)
	}
	return held, nil
}

// RetryHeld tries a held instance again at once, for example after a rollback. Without it, the instance waits for its
// next try, up to UnregisteredBackoffMax in worker.Options. It is held again if its code still does not fit. Errors:
// [ErrNotHeld], or more precisely [ErrNoInstance] or [ErrEnded]; those of [Client.Held].
func (c *Client) RetryHeld(ctx context.Context, instance string) error {
	admin, err := c.heldAdmin()
	if err != nil {
		return err
	}
	held, err := admin.RetryHeldInstance(ctx, instance)
	if err == nil && !held {
		err = c.notHeld(ctx, instance)
	}
	if err != nil {
		return fmt.Errorf("retrying %q: %w", instance, err)
	}
	return nil
}

// notHeld is why there is nothing to retry.
func (c *Client) notHeld(ctx context.Context, instance string) error {
	use, err := provider.FindInstance(ctx, c.store, instance)
	switch {
	case err != nil:
		return err
	case use == nil:
		return fmt.Errorf("%w: %w", ErrNotHeld, ErrNoInstance)
	case use.Status.Ended():
		return fmt.Errorf("%w: %w", ErrNotHeld, ErrEnded)
	}
	return ErrNotHeld
}

func (c *Client) heldAdmin() (provider.HeldAdmin, error) {
	if admin, ok := c.store.Admin().(provider.HeldAdmin); ok {
		return admin, nil
	}
	return nil, ErrManagementNotAvailable
}
