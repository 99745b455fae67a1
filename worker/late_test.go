package worker_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/hook"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/retry"
	"github.com/duroxide/duroxide-go/worker"
)

// notRun is a hook that is told of activities whose function is not run.
type notRun struct {
	hook.None

	told chan provider.ErrorDetails
}

func (h notRun) Activity(ctx context.Context, _ hook.Activity) (context.Context, func(error)) {
	return ctx, func(err error) {
		if failed, ok := errors.AsType[*hook.NotRunError](err); ok {
			h.told <- failed.Details
		}
	}
}

// An activity that waited for longer than StartTimeout until a worker fetched it is not run: it
// fails with ErrTimeout, as an ordinary failure. One that was begun before is run again, and one
// that comes in time as well.
func TestActivityThatBeginsLate(t *testing.T) {
	t.Parallel()
	onBothStores(t, func(t *testing.T, store provider.Provider) {
		for name, c := range map[string]struct {
			timeout time.Duration
			begun   bool
			want    string
		}{
			"late":         {time.Nanosecond, false, ""},
			"begun before": {time.Nanosecond, true, "done"},
			"in time":      {time.Hour, false, "done"},
		} {
			t.Run(name, func(t *testing.T) {
				rows := activity.New("Rows", func(context.Context, string) (string, error) { return "done", nil })
				def := orchestration.New("Waiting", func(ctx *orchestration.Context, in string) (string, error) {
					ctx.SetCustomStatus("asked")
					return orchestration.Activity(ctx, rows, in, orchestration.WithRetry(retry.Policy{StartTimeout: c.timeout})).Await()
				})
				run := start(t, store, def, "")
				stop := runWorker(t, store, worker.Options{}, def)
				waitForStatus(t, store, run.Instance())
				stop()
				if c.begun {
					fetched, err := store.FetchWorkItem(t.Context(), provider.FetchWorkParams{
						LockTimeout: time.Millisecond, Known: provider.Know(provider.CodeName{Name: rows.Name()}),
					})
					if err != nil || fetched == nil {
						t.Fatal(fetched, err)
					}
				}
				time.Sleep(5 * time.Millisecond) // the wait that the test is about
				told := notRun{told: make(chan provider.ErrorDetails, 1)}
				runWorker(t, store, worker.Options{Hook: told}, def, rows)
				got, err := run.Wait(deadline(t))
				if c.want != "" {
					if got != c.want || err != nil {
						t.Errorf("%q, %v", got, err)
					}
					return
				}
				if !errors.Is(err, orchestration.ErrTimeout) || !strings.Contains(err.Error(), "timeout: activity waited") {
					t.Errorf("error %v", err)
				}
				if why, ok := receive(t, "the hook is told", told.told).(provider.ApplicationFailure); !ok || why.FailureKind != "duroxide.Timeout" {
					t.Errorf("the hook was told %+v", why)
				}
				want := []string{"OrchestrationStarted", "CustomStatusUpdated", "ActivityScheduled", "ActivityFailed", "OrchestrationFailed"}
				if diff := cmp.Diff(want, types(history(t, store, run.Instance()))); diff != "" {
					t.Errorf("history (-want +got):\n%s", diff)
				}
			})
		}
	})
}

// An activity that runs for longer than RunTimeout gets a context that ends, and fails with
// ErrTimeout whether it heeds that or not. A result that it returns all the same counts, and what
// it fails with in time is its own.
func TestActivityThatRunsTooLong(t *testing.T) {
	t.Parallel()
	onBothStores(t, func(t *testing.T, store provider.Provider) {
		over := make(chan struct{})
		t.Cleanup(func() { close(over) })
		for name, c := range map[string]struct {
			timeout time.Duration
			run     func(ctx context.Context) (string, error)
			want    string
		}{
			"heeds its context": {time.Millisecond, func(ctx context.Context) (string, error) {
				<-ctx.Done()
				return "", ctx.Err()
			}, "timeout: activity ran for longer than 1ms"},
			"ignores its context": {time.Millisecond, func(context.Context) (string, error) {
				<-over
				return "late", nil
			}, "timeout: activity ran for longer than 1ms"},
			"returns a result": {time.Millisecond, func(ctx context.Context) (string, error) {
				<-ctx.Done()
				return "done", nil
			}, "done"},
			"fails in time": {math.MaxInt64, func(context.Context) (string, error) { return "", errors.New("declined") }, "declined"},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				work := activity.New(name, func(ctx context.Context, _ string) (string, error) { return c.run(ctx) })
				def := calling(work, orchestration.WithRetry(retry.Policy{MaxAttempts: 1, RunTimeout: c.timeout}))
				runWorker(t, store, worker.Options{Cancellation: worker.Cancellation{GracePeriod: 20 * time.Millisecond}}, def, work)
				run := start(t, store, def, "")
				got, err := run.Wait(deadline(t))
				if err != nil {
					got = err.Error()
				}
				if !strings.HasSuffix(got, c.want) || errors.Is(err, orchestration.ErrTimeout) != strings.HasPrefix(c.want, "timeout") {
					t.Errorf("%q, %v", got, err)
				}
			})
		}
	})
}

// The attempt after a run that took too long reads the last details of its heartbeats.
func TestHeartbeatOfARunThatTookTooLong(t *testing.T) {
	t.Parallel()
	onBothStores(t, func(t *testing.T, store provider.Provider) {
		rows := activity.New("Rows", func(ctx context.Context, _ string) (string, error) {
			if text, ok := activity.LastHeartbeat[string](ctx); ok {
				return text, nil
			}
			for _, row := range []string{"row 6", "row 7"} {
				if err := activity.Heartbeat(ctx, row); err != nil && ctx.Err() == nil {
					return "", err
				}
			}
			<-ctx.Done()
			return "", ctx.Err()
		})
		def := calling(rows, orchestration.WithRetry(retry.Policy{
			MaxAttempts: 2, RunTimeout: time.Millisecond, RetryTimeouts: true, Backoff: retry.Constant(time.Millisecond),
		}))
		runWorker(t, store, worker.Options{}, def, rows)
		if got := result(t, start(t, store, def, "")); got != "row 7" {
			t.Errorf("the second attempt read %q, want row 7", got)
		}
	})
}

// waited is a store that says how long an activity has waited.
type waited struct {
	provider.Provider

	time time.Duration
}

func (w waited) FetchWorkItem(ctx context.Context, params provider.FetchWorkParams) (*provider.FetchedWorkItem, error) {
	got, err := w.Provider.FetchWorkItem(ctx, params)
	if got != nil {
		got.Waited = w.time
	}
	return got, err
}

// An activity that a worker had begun and handed back as it stopped is not late, whether it had
// said something or not; it reads what attempts before it have said, and nothing else.
func TestActivityThatWasHandedBackIsNotLate(t *testing.T) {
	t.Parallel()
	for name, say := range map[string]string{"silent": "", "said something": "row 7"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := openStore(t)
			began := make(chan struct{}, 1)
			rows := activity.New("Rows", func(ctx context.Context, _ string) (string, error) {
				if text, ok := activity.LastHeartbeat[string](ctx); ok || len(began) > 0 {
					return text, nil
				}
				if say != "" {
					_ = activity.Heartbeat(ctx, say)
				}
				began <- struct{}{}
				<-ctx.Done()
				return "", context.Cause(ctx)
			})
			def := calling(rows, orchestration.WithRetry(retry.Policy{StartTimeout: time.Hour}))
			run := start(t, store, def, "")
			stop := runWorker(t, named(waited{store, 0}, store), worker.Options{ShutdownTimeout: worker.AtOnce}, def, rows)
			receive(t, "the activity runs", began)
			stop()
			began <- struct{}{}
			runWorker(t, named(waited{store, 2 * time.Hour}, store), worker.Options{}, def, rows)
			if got := result(t, run); got != say {
				t.Errorf("the second attempt has read %q", got)
			}
		})
	}
}
