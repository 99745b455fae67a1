package mssql

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/duroxide/duroxide-go/internal/clock"
	"github.com/duroxide/duroxide-go/provider"
)

// recorded are retries whose pauses take no time; they are appended to the list.
func recorded(most int, pauses *[]time.Duration) retries {
	return retries{most: most, first: 20 * time.Millisecond, longest: time.Second, pause: func(ctx context.Context, d time.Duration) error {
		*pauses = append(*pauses, d)
		return ctx.Err()
	}}
}

// failing is a try that returns the errors in turn, and then succeeds.
func failing(tries *int, errs ...error) func(context.Context) error {
	return func(context.Context) error {
		*tries++
		if *tries <= len(errs) {
			return errs[*tries-1]
		}
		return nil
	}
}

func TestRetries(t *testing.T) {
	t.Parallel()
	deadlock := reported(1205)
	for name, c := range map[string]struct {
		errs   []error
		repeat bool
		tries  int
		want   error
	}{
		"success":                               {nil, false, 1, nil},
		"two deadlocks":                         {[]error{deadlock, deadlock}, false, 3, nil},
		"deadlocks without end":                 {slices.Repeat([]error{deadlock}, 9), false, 4, ErrBusy},
		"lost connection":                       {[]error{io.EOF}, false, 1, ErrUnreachable},
		"lost connection, safe to repeat":       {[]error{io.EOF}, true, 2, nil},
		"lost connection after a deadlock":      {[]error{deadlock, io.EOF}, false, 2, ErrUnreachable},
		"permanent":                             {[]error{reported(229)}, true, 1, ErrPermission},
		"a meaning":                             {[]error{reported(50010)}, true, 1, provider.ErrInvalidLockToken},
		"classified by the call, and retryable": {[]error{provider.Retryable("op", "x", errTest)}, true, 1, errTest},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var pauses []time.Duration
			tries := 0
			err := recorded(3, &pauses).do(t.Context(), "op", c.repeat, failing(&tries, c.errs...))
			if !errors.Is(err, c.want) || tries != c.tries || len(pauses) != tries-1 {
				t.Errorf("%v after %d tries and %d pauses; want %v after %d tries", err, tries, len(pauses), c.want, c.tries)
			}
			if _, ok := errors.AsType[*provider.Error](err); err != nil && !ok {
				t.Errorf("error %T is not classified", err)
			}
		})
	}
}

var errTest = errors.New("test")

func TestThrottledCallsWait(t *testing.T) {
	t.Parallel()
	var pauses []time.Duration
	tries := 0
	if err := recorded(3, &pauses).do(t.Context(), "op", false, failing(&tries, reported(40501))); err != nil {
		t.Fatal(err)
	}
	if len(pauses) != 1 || pauses[0] < 10*time.Second {
		t.Errorf("paused %v; want at least ten seconds", pauses)
	}
}

// A database that resumes takes about a minute, for which a call is repeated if its caller waits that long and did not
// switch repetition off.
func TestCallsWaitForADatabaseThatResumes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		most            int
		patience, least time.Duration
		longest         time.Duration
		want            error
	}{
		"the caller waits":      {5, time.Hour, time.Minute, time.Minute + longestPause, ErrUnreachable},
		"the caller gives up":   {5, 10 * time.Second, 10 * time.Second, 10 * time.Second, context.DeadlineExceeded},
		"nothing is repeated":   {0, time.Hour, 0, 0, ErrUnreachable},
		"one try more than one": {1, time.Hour, time.Minute, time.Minute + longestPause, ErrUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), c.patience)
				defer cancel()
				r := retries{most: c.most, first: 20 * time.Millisecond, longest: longestPause, pause: clock.Sleep}
				began := time.Now()
				err := r.do(ctx, "op", once, func(context.Context) error { return &unconnected{reported(40613)} })
				if took := time.Since(began); !errors.Is(err, c.want) || !provider.IsRetryable(err) || took < c.least || took > c.longest {
					t.Errorf("%v after %v; want a retryable %v after %v to %v", err, took, c.want, c.least, c.longest)
				}
			})
		})
	}
}

// The end of the caller's context ends everything, and is what is reported.
func TestRetriesHeedTheContext(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(cancel context.CancelFunc, r *retries) func(context.Context) error{
		"before the first try": func(cancel context.CancelFunc, _ *retries) func(context.Context) error {
			cancel()
			return func(context.Context) error { panic("tried") }
		},
		"during a try": func(cancel context.CancelFunc, _ *retries) func(context.Context) error {
			return func(context.Context) error { cancel(); return reported(1205) }
		},
		"during a pause": func(cancel context.CancelFunc, r *retries) func(context.Context) error {
			r.pause = func(ctx context.Context, _ time.Duration) error { cancel(); return clock.Sleep(ctx, time.Hour) }
			return func(context.Context) error { return reported(1205) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r := retries{most: 3}
			err := r.do(ctx, "op", true, end(cancel, &r))
			if !errors.Is(err, context.Canceled) || !provider.IsRetryable(err) {
				t.Errorf("error %v; want a retryable %v", err, context.Canceled)
			}
		})
	}
}

// A try that takes too long is cut off, and not repeated.
func TestCallTimeout(t *testing.T) {
	t.Parallel()
	tries := 0
	r := retries{most: 3, patience: time.Millisecond, pause: clock.Sleep}
	err := r.do(t.Context(), "op", true, func(ctx context.Context) error {
		tries++
		<-ctx.Done()
		return ctx.Err()
	})
	if !errors.Is(err, errTimeout) || !errors.Is(err, ErrUnreachable) || !provider.IsRetryable(err) || tries != 1 {
		t.Errorf("%v after %d tries; want a retryable %v after one", err, tries, errTimeout)
	}
}

// Whatever the settings: a pause lies between half of the bound and all of it, and the
// bound doubles up to the longest.
func TestBackoff(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := retries{
			first:   time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "first")),
			longest: time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(t, "longest")),
		}
		bound := min(r.first, r.longest)
		for n := range rapid.IntRange(1, 100).Draw(t, "tries") {
			if got := r.backoff(n); got < bound/2 || got > bound {
				t.Fatalf("pause %d is %v; want %v to %v", n, got, bound/2, bound)
			}
			bound = min(2*bound, r.longest)
		}
	})
}
