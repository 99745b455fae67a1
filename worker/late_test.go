package worker_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/hook"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
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
					return orchestration.Activity(ctx, rows, in, orchestration.WithRetry(orchestration.RetryPolicy{StartTimeout: c.timeout})).Await()
				})
				run := start(t, store, def, "")
				stop := runWorker(t, store, worker.Options{}, def)
				waitForStatus(t, store, run.Instance())
				stop()
				if c.begun {
					fetched, err := store.FetchWorkItem(t.Context(), provider.FetchWorkParams{LockTimeout: time.Millisecond})
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
				if why, ok := receive(t, "the hook is told", told.told).(provider.Application); !ok || why.FailureKind != "duroxide.Timeout" {
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
