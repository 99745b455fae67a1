package worker_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker"
)

// What the log says of a running activity whose lease ended, and when it has a new one.
const (
	leaseEnded = "the lease of a running activity has ended"
	cameBack   = "an activity was fetched again while it still runs here"
)

// toldOf is toldIn for several texts.
func toldOf(texts ...string) (*slog.Logger, []<-chan struct{}) {
	var watches lineWatches
	var told []<-chan struct{}
	for _, text := range texts {
		seen := make(chan struct{})
		watches = append(watches, &lineWatch{text: text, seen: sync.OnceFunc(func() { close(seen) })})
		told = append(told, seen)
	}
	return slog.New(slog.NewTextHandler(watches, nil)), told
}

type lineWatches []*lineWatch

func (w lineWatches) Write(line []byte) (int, error) {
	for _, watch := range w {
		_, _ = watch.Write(line)
	}
	return len(line), nil
}

// longWork is an activity that says when it runs, as which attempt, and returns once finish
// is closed or it is told to stop.
type longWork struct {
	activity.Definition[string, string]
	running chan uint32
	finish  chan struct{}
	stopped chan error
	runs    *atomic.Int32
}

func newLongWork() longWork {
	w := longWork{running: make(chan uint32, 16), finish: make(chan struct{}), stopped: make(chan error, 16), runs: new(atomic.Int32)}
	w.Definition = activity.New("Work", func(ctx context.Context, _ string) (string, error) {
		w.runs.Add(1)
		info, _ := activity.InfoFrom(ctx)
		w.running <- info.Attempt
		select {
		case <-w.finish:
			return "done", nil
		case <-ctx.Done():
			w.stopped <- context.Cause(ctx)
			return "", context.Cause(ctx)
		}
	})
	return w
}

// briefLease is the lease of activities whose lease ends during an outage.
const briefLease = 600 * time.Millisecond

// An activity that runs while the store is away for longer than its lease runs on, and once:
// it gets the lease of the fetch that brings it back, which is no further attempt, and keeps
// it from then on. When it has returned meanwhile, or no slot is free to fetch it, what it
// returned is sent when it comes back (Leases.Activity).
func TestRunningActivitiesOutliveAnOutage(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name         string
		hangs, early bool
		concurrency  int
		call         []orchestration.ActivityOption
	}{
		{"calls fail", false, false, 2, nil},
		{"calls hang", true, false, 2, nil},
		{"returns during the outage", false, true, 2, nil},
		{"without a free slot", false, false, 1, nil},
		{"in a session", false, false, 2, []orchestration.ActivityOption{orchestration.InSession("s")}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			onBothStores(t, func(t *testing.T, inner provider.Provider) {
				store, work := withOutages(inner), newLongWork()
				def := calling(work.Definition, test.call...)
				logger, told := toldOf(leaseEnded, cameBack)
				runWorker(t, store, worker.Options{
					Leases: worker.Leases{Activity: briefLease, Orchestration: shortLease}, ActivityConcurrency: test.concurrency,
					Limits: worker.Limits{Attempts: 1}, Logger: logger, Sessions: worker.Sessions{NodeID: "node"},
					PollTimeout: shortLease,
				}, def, work)
				run := start(t, inner, def, "")
				receive(t, "activity", work.running)
				store.leave(test.hangs)
				receive(t, "end of the lease", told[0])
				if test.early {
					close(work.finish)
				}
				store.comeBack()
				if !test.early {
					if test.concurrency > 1 {
						receive(t, "new lease", told[1])
						<-time.After(2 * briefLease) // which is renewed
					}
					close(work.finish)
				}
				if got := result(t, run); got != "done" || work.runs.Load() != 1 {
					t.Errorf("output %q after %d runs", got, work.runs.Load())
				}
				want := "OrchestrationStarted ActivityScheduled ActivityCompleted OrchestrationCompleted"
				if got := strings.Join(types(history(t, inner, run.Instance())), " "); got != want {
					t.Errorf("history %s, want %s", got, want)
				}
			})
		})
	}
}

// away is a worker for activities alone that has lost its store until the lease of its
// activity had ended, beside which others go on.
func away(t *testing.T, inner provider.Provider, poll time.Duration) (store *outages, work longWork, run *client.Run[string], stop func()) {
	t.Helper()
	store, work = withOutages(inner), newLongWork()
	def := calling(work.Definition)
	runWorker(t, inner, worker.Options{ActivityConcurrency: worker.None}, def)
	logger, told := toldOf(leaseEnded)
	stop = runWorker(t, store, worker.Options{
		OrchestrationConcurrency: worker.None, Leases: worker.Leases{Activity: briefLease},
		Cancellation: worker.Cancellation{PollInterval: poll}, Logger: logger, PollTimeout: shortLease,
	}, work)
	run = start(t, inner, def, "")
	receive(t, "activity", work.running)
	store.leave(false)
	receive(t, "end of the lease", told[0])
	return store, work, run, stop
}

// polls are the ways in which a worker learns what happened while its store was away: by
// asking which leases are gone, and by renewing.
var polls = []struct {
	name string
	poll time.Duration
}{{"asking", 50 * time.Millisecond}, {"renewing", worker.Never}}

// When another worker took the activity meanwhile, the one that ran on is told to stop, and
// the other's result counts.
func TestActivityTakenDuringAnOutage(t *testing.T) {
	t.Parallel()
	for _, test := range polls {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			onBothStores(t, func(t *testing.T, inner provider.Provider) {
				store, work, run, _ := away(t, inner, test.poll)
				running, finish := make(chan uint32, 1), make(chan struct{})
				runWorker(t, inner, worker.Options{OrchestrationConcurrency: worker.None},
					activity.New("Work", func(ctx context.Context, _ string) (string, error) {
						info, _ := activity.InfoFrom(ctx)
						running <- info.Attempt
						<-finish
						return "the other's", nil
					}))
				if attempt := receive(t, "the other's activity", running); attempt != 2 {
					t.Errorf("attempt %d", attempt)
				}
				store.comeBack()
				receive(t, "end of the first activity", work.stopped)
				close(finish)
				if got := result(t, run); got != "the other's" || work.runs.Load() != 1 {
					t.Errorf("output %q, %d runs here", got, work.runs.Load())
				}
			})
		})
	}
}

// An activity whose instance was cancelled while its store was away is told when it is back.
func TestActivityCancelledDuringAnOutage(t *testing.T) {
	t.Parallel()
	for _, test := range polls {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			onBothStores(t, func(t *testing.T, inner provider.Provider) {
				store, work, run, _ := away(t, inner, test.poll)
				if err := client.New(inner, client.Options{}).Cancel(t.Context(), run.Instance(), "user"); err != nil {
					t.Fatal(err)
				}
				if got := failure(t, run).DisplayMessage(); got != "canceled: user" {
					t.Errorf("failure = %s", got)
				}
				store.comeBack()
				receive(t, "end of the activity", work.stopped)
				if work.runs.Load() != 1 {
					t.Errorf("%d runs", work.runs.Load())
				}
			})
		})
	}
}

// A worker stops in its time while an activity runs on without a lease, which ends with it
// and is run again by another.
func TestShutdownWithoutALease(t *testing.T) {
	t.Parallel()
	onBothStores(t, func(t *testing.T, inner provider.Provider) {
		store, work, run, stop := away(t, inner, -1)
		stop()
		if cause := receive(t, "end of the activity", work.stopped); cause == nil || !strings.Contains(cause.Error(), "shutting down") {
			t.Errorf("told %v", cause)
		}
		store.comeBack()
		close(work.finish)
		runWorker(t, store, worker.Options{OrchestrationConcurrency: worker.None}, work)
		if got := result(t, run); got != "done" || work.runs.Load() != 2 {
			t.Errorf("output %q after %d runs", got, work.runs.Load())
		}
	})
}
