package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/provider"
)

// ErrNotHeld reports a retry of an instance that is not held.
var ErrNotHeld = errors.New("the instance is not held")

// Held returns what a held instance waits for: code that no live worker has or takes, or code that fits and can
// read its history. It returns nil for any other instance. An instance that has not begun is held, too, if no worker
// has its orchestration. Work counts as held at once if no worker ever had its code, and otherwise [provider.LiveFor]
// after the last fetch by a worker that had it.
func (c *Client) Held(ctx context.Context, instance string) (*provider.HeldInstance, error) {
	if instance == "" {
		return nil, nil //nolint:nilnil // there can be no such instance
	}
	list, err := c.listHeld(ctx, instance)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[0], nil
}

// ListHeld lists the held instances with what each waits for, those held longest first.
func (c *Client) ListHeld(ctx context.Context) ([]provider.HeldInstance, error) {
	return c.listHeld(ctx, "")
}

// listHeld lists one instance, or with "" all.
func (c *Client) listHeld(ctx context.Context, instance string) ([]provider.HeldInstance, error) {
	list, err := c.misfits(ctx, instance)
	if err != nil {
		return nil, fmt.Errorf("reading what is held: %w", err)
	}
	waiting, err := c.waitingForCode(ctx, instance)
	if err != nil {
		return nil, fmt.Errorf("reading what waits for code: %w", err)
	}
	return joined(append(list, waiting...)), nil
}

// waitingForCode are the instances that wait for code that no live worker has or takes.
func (c *Client) waitingForCode(ctx context.Context, instance string) ([]provider.HeldInstance, error) {
	waiting, err := c.store.WaitingForCode(ctx, instance, provider.LiveFor)
	if err != nil {
		return nil, err
	}
	var list []provider.HeldInstance
	reasons := map[provider.CodeName]string{}
	for _, w := range waiting {
		reason := w.String()
		if !w.Activity {
			if reasons[w.CodeName] == "" {
				versions, err := c.store.KnownVersions(ctx, w.Name, provider.LiveFor)
				if err != nil {
					return nil, err
				}
				if len(versions) > 0 {
					reason += "; workers have " + strings.Join(versions, ", ")
				}
				reasons[w.CodeName] = reason
			}
			reason = reasons[w.CodeName]
		}
		list = append(list, provider.HeldInstance{InstanceID: w.InstanceID, Reason: reason, Since: w.Since})
	}
	return list, nil
}

// misfits are the instances whose code does not fit.
func (c *Client) misfits(ctx context.Context, instance string) ([]provider.HeldInstance, error) {
	if instance == "" {
		return c.store.ListHeldInstances(ctx)
	}
	held, err := c.store.GetHeldInstance(ctx, instance)
	if held == nil || err != nil {
		return nil, err
	}
	return []provider.HeldInstance{*held}, nil
}

// joined has each instance once, with all that it waits for.
func joined(list []provider.HeldInstance) []provider.HeldInstance {
	slices.SortStableFunc(list, func(a, b provider.HeldInstance) int { return a.Since.Compare(b.Since) })
	at := map[string]int{}
	var held []provider.HeldInstance
	for _, h := range list {
		i, ok := at[h.InstanceID]
		if !ok {
			at[h.InstanceID] = len(held)
			held = append(held, h)
			continue
		}
		if !strings.Contains(held[i].Reason, h.Reason) {
			held[i].Reason += "; " + h.Reason
		}
		if held[i].NextTry.IsZero() {
			held[i].NextTry = h.NextTry
		}
	}
	return held
}

// RetryHeld tries a held instance again at once, for example after a rollback. Without it, an instance whose code does
// not fit waits for its next try, up to Code.MaxBackoff in worker.Options. It is held again if its code still does
// not fit. An instance that waits for code needs no retry: it goes on as soon as a worker has the code. Errors:
// [ErrNotHeld], or more precisely [ErrNoInstance] or [ErrEnded].
func (c *Client) RetryHeld(ctx context.Context, instance string) error {
	held, err := c.store.RetryHeldInstance(ctx, instance)
	if err == nil && !held {
		err = c.notHeld(ctx, instance)
	}
	if err != nil {
		return fmt.Errorf("retrying %q: %w", instance, err)
	}
	return nil
}

// notHeld is why there is nothing to retry, nil for an instance that waits for code.
func (c *Client) notHeld(ctx context.Context, instance string) error {
	if held, err := c.listHeld(ctx, instance); err != nil || len(held) > 0 {
		return err
	}
	use, err := c.store.FindInstance(ctx, instance)
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
