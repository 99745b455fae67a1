package leases

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/internal/clock"
	"github.com/duroxide/duroxide-go/provider"
)

func TestInterval(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ timeout, buffer, want time.Duration }{
		{30 * time.Second, 5 * time.Second, 25 * time.Second},
		{15 * time.Second, 5 * time.Second, 10 * time.Second},
		{15 * time.Second, 20 * time.Second, time.Second},
		{14 * time.Second, 13 * time.Second, 7 * time.Second},
		{5 * time.Second, 2 * time.Second, 2500 * time.Millisecond},
		{time.Second, 0, 500 * time.Millisecond}, // the reference renews this one too late
		{50 * time.Millisecond, 0, 25 * time.Millisecond},
		{1, 0, time.Millisecond},
	} {
		if got := Interval(test.timeout, test.buffer); got != test.want {
			t.Errorf("Interval(%v, %v) = %v, want %v", test.timeout, test.buffer, got, test.want)
		}
	}
}

// When a lease is renewed and when it counts as lost, on a clock of the test's own.
func TestLease(t *testing.T) {
	t.Parallel()
	transient := provider.Retryable("renew", "busy", nil)
	gone := provider.Permanent("renew", "Invalid lock token", provider.ErrInvalidLockToken)
	for _, test := range []struct {
		name string
		// answers to the renewals; the last repeats
		answers []error
		run     time.Duration
		// what happens, by seconds since the lease was taken
		want []string
	}{
		{
			name: "renewed every time", answers: []error{nil}, run: 80 * time.Second,
			want: []string{"25s renew", "50s renew", "1m15s renew"},
		},
		{
			name: "taken away", answers: []error{nil, gone}, run: 80 * time.Second,
			want: []string{"25s renew", "50s renew", "50s lost: renew: Invalid lock token"},
		},
		{
			name: "refused", answers: []error{provider.Permanent("renew", "no", nil)}, run: 40 * time.Second,
			want: []string{"25s renew", "25s lost: renew: no"},
		},
		{
			name: "a hiccup", answers: []error{transient, transient, nil}, run: 60 * time.Second,
			want: []string{"25s renew", "26.25s renew", "27.1875s renew", "52.1875s renew"},
		},
		{
			name: "no answer until the lease has ended", answers: []error{context.DeadlineExceeded}, run: 40 * time.Second,
			want: []string{"25s renew", "30s lost: renew: context deadline exceeded"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				var got []string
				happens := func(format string, args ...any) {
					got = append(got, fmt.Sprint(time.Since(began), " ", fmt.Sprintf(format, args...)))
				}
				n := 0
				l := Hold(t.Context(), 30*time.Second, 5*time.Second, func(ctx context.Context) error {
					happens("renew")
					err := test.answers[min(n, len(test.answers)-1)]
					n++
					if errors.Is(err, context.DeadlineExceeded) {
						<-ctx.Done()
						return provider.ContextError(ctx, "renew")
					}
					return err
				}, func(err error) { happens("lost: %v", err) }, slog.New(slog.DiscardHandler))
				_ = clock.Sleep(t.Context(), test.run)
				l.Stop()
				_ = clock.Sleep(t.Context(), time.Hour) // nothing comes after Stop
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("what happened (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// A lease that fails to be renewed until its end is lost then, not before. The failures
// in a row are logged once, however many there are.
func TestLeaseUnderATroubledStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var lost time.Duration
		tries := 0
		var log bytes.Buffer
		l := Hold(t.Context(), time.Second, 0, func(context.Context) error {
			tries++
			return provider.Retryable("renew", "busy", nil)
		}, func(error) { lost = time.Since(began) }, slog.New(slog.NewTextHandler(&log, nil)))
		_ = clock.Sleep(t.Context(), 10*time.Second)
		l.Stop()
		if lost < time.Second || lost > 1050*time.Millisecond || tries < 5 || tries > 40 {
			t.Errorf("lost after %v and %d tries", lost, tries)
		}
		if n := strings.Count(log.String(), "renewing a lease failed"); n != 1 {
			t.Errorf("told %d times:\n%s", n, &log)
		}
	})
}

// Stop waits for a renewal that is under way and ends its context.
func TestLeaseStopsDuringARenewal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ended := false
		l := Hold(t.Context(), time.Second, 0, func(ctx context.Context) error {
			<-ctx.Done()
			_ = clock.Sleep(context.WithoutCancel(ctx), time.Minute) // a slow driver
			ended = true
			return ctx.Err()
		}, func(err error) { t.Errorf("lost: %v", err) }, slog.New(slog.DiscardHandler))
		_ = clock.Sleep(t.Context(), 600*time.Millisecond)
		l.Stop()
		if !ended {
			t.Error("Stop left a renewal behind")
		}
	})
}
