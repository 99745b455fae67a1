package leases

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/internal/clock"
	"github.com/duroxide/duroxide-go/provider"
)

// renewer is a store that renews leases as the test says, and notes the calls.
type renewer struct {
	renew func(ctx context.Context, locks []provider.LockRenewal) ([]error, error)

	mu    sync.Mutex
	began time.Time
	calls []string
}

func (r *renewer) RenewLocks(ctx context.Context, locks []provider.LockRenewal) ([]error, error) {
	r.mu.Lock()
	r.calls = append(r.calls, fmt.Sprintf("%v: %d", time.Since(r.began), len(locks)))
	r.mu.Unlock()
	return r.renew(ctx, locks)
}

// held are leases of 30 s that are renewed together, taken one every 100 ms.
type held struct {
	*Group

	list   []*Lease
	mu     sync.Mutex
	events []string
}

func hold(t *testing.T, store *renewer, n int) *held {
	t.Helper()
	store.began = time.Now()
	h := &held{Group: NewGroup(store.RenewLocks)}
	for i := range n {
		l := Hold(t.Context(), 30*time.Second, 5*time.Second, func(context.Context) error {
			h.happens(store, "%d renewed by itself", i)
			return nil
		}, func(err error) { h.happens(store, "%d lost: %v", i, err) }, slog.New(slog.DiscardHandler))
		h.Join(l, provider.LockRenewal{LockToken: fmt.Sprint(i), ExtendFor: 30 * time.Second})
		h.list = append(h.list, l)
		_ = clock.Sleep(t.Context(), 100*time.Millisecond)
	}
	return h
}

func (h *held) happens(store *renewer, format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, fmt.Sprint(time.Since(store.began), " ", fmt.Sprintf(format, args...)))
}

func (h *held) stop() {
	for _, l := range h.list {
		l.Stop()
	}
	h.Close()
}

func (h *held) expect(t *testing.T, store *renewer, calls, events []string) {
	t.Helper()
	if diff := cmp.Diff(calls, store.calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(events, h.events); diff != "" {
		t.Errorf("what happened to the leases (-want +got):\n%s", diff)
	}
}

// Leases that are due about together cost one call an interval.
func TestLeasesAreRenewedTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &renewer{renew: func(_ context.Context, locks []provider.LockRenewal) ([]error, error) {
			return make([]error, len(locks)), nil
		}}
		h := hold(t, store, 100)
		_ = clock.Sleep(t.Context(), 100*time.Second)
		h.stop()
		_ = clock.Sleep(t.Context(), time.Hour) // nothing comes after Stop
		h.expect(t, store, []string{"25s: 100", "50s: 100", "1m15s: 100", "1m40s: 100"}, nil)
	})
}

// refusing is a store that renews all leases together but that of one token.
func refusing(token string, why error) *renewer {
	return &renewer{renew: func(_ context.Context, locks []provider.LockRenewal) ([]error, error) {
		outcomes := make([]error, len(locks))
		for i, lock := range locks {
			if lock.LockToken == token {
				outcomes[i] = why
			}
		}
		return outcomes, nil
	}}
}

// A lease whose row is locked is tried again a moment later, alone, and the others are renewed.
func TestOneOfManyLeasesIsBlocked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := refusing("1", provider.Retryable("renew", "somebody has locked it", nil))
		h := hold(t, store, 3)
		_ = clock.Sleep(t.Context(), 30*time.Second)
		h.stop()
		h.expect(t, store, []string{"25s: 3"}, []string{"26.275s 1 renewed by itself"})
	})
}

// A lease that is lost is told so, and the others are renewed. One that is due alone is
// renewed by itself.
func TestOneOfManyLeasesIsLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := refusing("1", provider.Permanent("renew", "Invalid lock token", provider.ErrInvalidLockToken))
		h := hold(t, store, 3)
		_ = clock.Sleep(t.Context(), 60*time.Second)
		h.list[0].Stop()
		_ = clock.Sleep(t.Context(), 30*time.Second)
		h.stop()
		h.expect(t, store, []string{"25s: 3", "50s: 2"},
			[]string{"25s 1 lost: renew: Invalid lock token", "1m15s 2 renewed by itself"})
	})
}

// When a call for many leases fails, each of them is renewed again until its end and lost
// then, as one that is renewed by itself.
func TestRenewingTogetherFails(t *testing.T) {
	t.Parallel()
	t.Run("for a moment", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			failures := 2
			store := &renewer{renew: func(_ context.Context, locks []provider.LockRenewal) ([]error, error) {
				if failures--; failures >= 0 {
					return nil, provider.Retryable("renew", "busy", nil)
				}
				return make([]error, len(locks)), nil
			}}
			h := hold(t, store, 3)
			_ = clock.Sleep(t.Context(), 30*time.Second)
			h.stop()
			h.expect(t, store, []string{"25s: 3", "26.25s: 3", "27.1875s: 3"}, nil)
		})
	})
	t.Run("until their end", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			store := &renewer{renew: func(ctx context.Context, _ []provider.LockRenewal) ([]error, error) {
				<-ctx.Done()
				return nil, provider.ContextError(ctx, "renew")
			}}
			h := hold(t, store, 2)
			_ = clock.Sleep(t.Context(), time.Minute)
			h.stop()
			if len(h.events) < 2 || h.events[0] != "30s 0 lost: renew: context deadline exceeded" {
				t.Errorf("what happened to the leases: %q", h.events)
			}
		})
	})
}

// Whoever stops a lease does not wait for a call that renews others too; Close ends it.
func TestLeaseStopsWhileOthersAreRenewed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &renewer{renew: func(ctx context.Context, _ []provider.LockRenewal) ([]error, error) {
			<-ctx.Done()
			return nil, provider.ContextError(ctx, "renew")
		}}
		h := hold(t, store, 2)
		_ = clock.Sleep(t.Context(), 26*time.Second)
		began := time.Now()
		h.stop()
		if waited := time.Since(began); waited != 0 {
			t.Errorf("Stop has waited for %v", waited)
		}
		h.expect(t, store, []string{"25s: 2"}, nil)
	})
}
