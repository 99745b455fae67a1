package provider_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/provider"
)

func TestErrorText(t *testing.T) {
	t.Parallel()
	cause := errors.New("deadlock")
	err := provider.Retryable("ack_work_item", "transaction was rolled back", cause)
	if got, want := err.Error(), "ack_work_item: transaction was rolled back"; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
	if !errors.Is(err, cause) {
		t.Error("the cause is lost")
	}
	if errors.Unwrap(provider.Permanent("read", "m", nil)) != nil {
		t.Error("an error without a cause has one")
	}
	want := provider.InfrastructureFailure{
		Operation: "ack_work_item", Message: "transaction was rolled back", Retryable: true,
	}
	if diff := cmp.Diff(want, err.Infrastructure()); diff != "" {
		t.Errorf("Infrastructure() (-want +got):\n%s", diff)
	}
}

func TestAsError(t *testing.T) {
	t.Parallel()
	if provider.AsError(nil) != nil {
		t.Error("no error became one")
	}
	permanent := provider.Permanent("read", "m", nil)
	if got := provider.AsError(fmt.Errorf("while testing: %w", permanent)); got != permanent {
		t.Errorf("got %v, want the wrapped error itself", got)
	}
	plain := errors.New("connection reset")
	got := provider.AsError(plain)
	if got.Operation != "unknown" || got.Message != "connection reset" || !got.Retryable || !errors.Is(got, plain) {
		t.Errorf("an error without classification became %#v", got)
	}
}

func TestIsRetryable(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("shutting down"))
	for name, test := range map[string]struct {
		err  error
		want bool
	}{
		"nil":               {nil, false},
		"retryable":         {provider.Retryable("read", "m", nil), true},
		"permanent":         {provider.Permanent("read", "m", nil), false},
		"wrapped permanent": {fmt.Errorf("x: %w", provider.Permanent("read", "m", nil)), false},
		"joined permanent":  {errors.Join(errors.New("x"), provider.Permanent("read", "m", nil)), false},
		"unclassified":      {errors.New("x"), true},
		"context":           {context.Canceled, true},
		"ContextError":      {provider.ContextError(ctx, "read"), true},
		"permanent cause":   {provider.Retryable("read", "m", provider.Permanent("write", "m", nil)), true},
	} {
		if got := provider.IsRetryable(test.err); got != test.want {
			t.Errorf("%s: IsRetryable is %t, want %t", name, got, test.want)
		}
	}
}

func TestContextError(t *testing.T) {
	t.Parallel()
	cause := errors.New("shutting down")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	err := provider.ContextError(ctx, "fetch_work_item")
	if err.Error() != "fetch_work_item: shutting down" || !errors.Is(err, cause) || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, which wraps %v", err, err.Err)
	}
	// A cause that is the context's own error is not wrapped twice.
	ctx, cancel = context.WithCancelCause(t.Context())
	cancel(nil)
	if err := provider.ContextError(ctx, "read"); err.Err.Error() != context.Canceled.Error() {
		t.Errorf("%v wraps %v", err, err.Err)
	}
	late, end := context.WithDeadlineCause(t.Context(), time.Unix(0, 0), cause)
	defer end()
	if err := provider.ContextError(late, "read"); !errors.Is(err, cause) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, which wraps %v", err, err.Err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := provider.ContextError(ctx, "read"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v does not match context.Canceled", err)
	}
}

// TestSentinels states which sentinel matches which: a lost lock is the only
// family.
func TestSentinels(t *testing.T) {
	t.Parallel()
	sentinels := []error{
		provider.ErrLockLost, // the first, see below
		provider.ErrInvalidLockToken, provider.ErrLockExpired, provider.ErrDuplicateEvent,
		provider.ErrInvalidArgument, provider.ErrCorrupt, provider.ErrNotFound, provider.ErrStillRunning,
		provider.ErrSubOrchestration, provider.ErrOrphanedChild, provider.ErrClosed,
	}
	lost := map[error]bool{provider.ErrInvalidLockToken: true, provider.ErrLockExpired: true}
	for i, err := range sentinels {
		classified := fmt.Errorf("turn: %w", provider.Permanent("read", "m", err))
		for j, target := range sentinels {
			want := i == j || j == 0 && lost[err]
			if got := errors.Is(classified, target); got != want {
				t.Errorf("errors.Is(%v, %v) is %t, want %t", err, target, got, want)
			}
		}
		var found *provider.Error
		if !errors.As(classified, &found) || found.Operation != "read" {
			t.Errorf("errors.As does not find the Error around %v", err)
		}
	}
}
