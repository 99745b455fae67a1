package worker_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/providerfault"
	"github.com/duroxide/duroxide-go/worker"
)

// shortLease makes an activity notice its cancellation soon.
const shortLease = 200 * time.Millisecond

// obedient runs until its context ends, and says so.
type obedient struct {
	activity.Definition[string, string]
	running, ended chan struct{}
}

func newObedient(name string) obedient {
	o := obedient{running: make(chan struct{}, 16), ended: make(chan struct{}, 16)}
	o.Definition = activity.New(name, func(ctx context.Context, _ string) (string, error) {
		o.running <- struct{}{}
		<-ctx.Done()
		o.ended <- struct{}{}
		return "", context.Cause(ctx)
	})
	return o
}

// A cancelled instance takes its running activities along, and the log does not call it a failure.
func TestCancelledInstanceEndsItsActivities(t *testing.T) {
	t.Parallel()
	var log lockedBuffer
	store := openStore(t)
	work := newObedient("Work")
	def := calling(work.Definition)
	stop := runWorker(t, store, worker.Options{Leases: worker.Leases{Activity: shortLease}, Logger: slog.New(slog.NewTextHandler(&log, nil))}, def, work)
	run := start(t, store, def, "")
	receive(t, "activity", work.running)
	if err := client.New(store, client.Options{}).Cancel(t.Context(), run.Instance(), "user"); err != nil {
		t.Fatal(err)
	}
	receive(t, "end of the activity", work.ended)
	if got := failure(t, run).DisplayMessage(); got != "canceled: user" {
		t.Errorf("failure = %s", got)
	}
	stop()
	if text := log.String(); !strings.Contains(text, `msg="orchestration cancelled"`) || strings.Contains(text, "orchestration failed") {
		t.Errorf("the log does not say that the orchestration was cancelled:\n%s", text)
	}
}

// The loser of a select is told to stop while its orchestration goes on.
func TestDroppedActivityIsToldToStop(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	work := newObedient("Work")
	def := orchestration.New("Race", func(ctx *orchestration.Context, _ string) (string, error) {
		loser := orchestration.Activity(ctx, work.Definition, "")
		event := orchestration.NewEvent[string]("enough").Wait(ctx)
		ctx.SetCustomStatus("racing")
		orchestration.SelectAndDrop(loser, event)
		return orchestration.NewEvent[string]("go").Wait(ctx).Await()
	})
	runWorker(t, store, worker.Options{Leases: worker.Leases{Activity: shortLease}}, def, work)
	run := start(t, store, def, "")
	waitForStatus(t, store, run.Instance())
	receive(t, "activity", work.running)
	raise(t, store, run.Instance(), "enough")
	receive(t, "end of the activity", work.ended)
	raise(t, store, run.Instance(), "go")
	result(t, run)
}

// An activity that ignores its cancellation loses its slot after the grace period.
func TestDeafActivityLosesItsSlot(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	running, release, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	deaf := activity.New("Deaf", func(context.Context, string) (string, error) {
		defer close(ended)
		close(running)
		<-release
		return "", nil
	})
	def := calling(deaf)
	runWorker(t, store, worker.Options{
		ActivityConcurrency: 1, Leases: worker.Leases{Activity: shortLease}, Cancellation: worker.Cancellation{GracePeriod: time.Millisecond},
	}, def, deaf, callEcho, echo)
	run := start(t, store, def, "")
	receive(t, "activity", running)
	if err := client.New(store, client.Options{}).Cancel(t.Context(), run.Instance(), "user"); err != nil {
		t.Fatal(err)
	}
	other, err := client.Start(t.Context(), client.New(store, client.Options{}), callEcho, "other", "x")
	if err != nil {
		t.Fatal(err)
	}
	if got := result(t, other); got != "x" {
		t.Errorf("output = %q", got)
	}
	close(release)
	<-ended
}

// An activity longer than its lease runs once: the lease is renewed meanwhile.
func TestLeaseIsRenewed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		rules []providerfault.Rule
	}{
		{name: "calm store"},
		{
			// A hiccup is not a cancellation (P39).
			name: "hiccups", rules: []providerfault.Rule{
				{Operation: providerfault.RenewWorkItemLock, Times: 2, Fault: providerfault.Fault{Fail: providerfault.Busy()}},
				{Operation: providerfault.RenewWorkItemLock, Times: 1, Fault: providerfault.Fault{Lose: providerfault.Unreachable()}},
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			const renewals = 6
			var runs atomic.Int32
			var store *providerfault.Store
			renewed := make(chan struct{}, 64)
			watch := providerfault.Rule{Operation: providerfault.RenewWorkItemLock, If: func(providerfault.Call) bool {
				renewed <- struct{}{}
				return false
			}}
			store = providerfault.New(openStore(t), append([]providerfault.Rule{watch}, test.rules...)...)
			long := activity.New("Long", func(ctx context.Context, _ string) (string, error) {
				runs.Add(1)
				for range renewals { // at half time each, or sooner after a hiccup
					select {
					case <-renewed:
					case <-ctx.Done():
						return "", context.Cause(ctx)
					}
				}
				return "done", nil
			})
			def := calling(long)
			runWorker(t, store, worker.Options{Leases: worker.Leases{Activity: 1500 * time.Millisecond}}, def, long)
			if got := result(t, start(t, store, def, "")); got != "done" || runs.Load() != 1 {
				t.Errorf("output %q after %d runs", got, runs.Load())
			}
		})
	}
}

// The same for a turn.
func TestTurnLeaseIsRenewed(t *testing.T) {
	t.Parallel()
	var store *providerfault.Store
	renewed := make(chan struct{}, 64)
	store = providerfault.New(openStore(t), providerfault.Rule{
		Operation: providerfault.RenewOrchestrationItemLock, If: func(providerfault.Call) bool { renewed <- struct{}{}; return false },
	})
	runs := 0
	def := orchestration.New("LongTurn", func(*orchestration.Context, string) (string, error) {
		runs++
		for range 3 {
			<-renewed
		}
		return "done", nil
	})
	runWorker(t, store, worker.Options{OrchestrationConcurrency: 1, Leases: worker.Leases{Orchestration: 400 * time.Millisecond}}, def)
	if got := result(t, start(t, store, def, "")); got != "done" || runs != 1 {
		t.Errorf("output %q after %d runs", got, runs)
	}
}

// A lease that is gone ends the activity, whose result is not wanted any more; the
// work is done again by whoever has it then.
func TestLostActivityLease(t *testing.T) {
	t.Parallel()
	store := providerfault.New(openStore(t), providerfault.Rule{
		Operation: providerfault.RenewWorkItemLock, Times: 1, Fault: providerfault.Fault{Fail: providerfault.LockLost()},
	})
	var causes []error
	def := activity.New("Work", func(ctx context.Context, _ string) (string, error) {
		if info, _ := activity.InfoFrom(ctx); info.Attempt > 1 {
			return "second", nil
		}
		<-ctx.Done()
		causes = append(causes, context.Cause(ctx))
		return "first", nil
	})
	flow := calling(def)
	runWorker(t, store, worker.Options{Leases: worker.Leases{Activity: shortLease}, ActivityConcurrency: 1}, flow, def)
	if got := result(t, start(t, store, flow, "")); got != "second" {
		t.Errorf("output = %q", got)
	}
	if len(causes) != 1 || causes[0] == nil || errors.Is(causes[0], context.Canceled) {
		t.Errorf("causes %v", causes)
	}
	if n := store.Calls(providerfault.AckWorkItem); n != 1 {
		t.Errorf("%d acks, want one for the second run", n)
	}
}

// A turn whose lease is gone has no effect, and the next one starts from the same
// history.
func TestLostTurnLease(t *testing.T) {
	t.Parallel()
	store := providerfault.New(openStore(t), providerfault.Rule{
		Operation: providerfault.RenewOrchestrationItemLock, Times: 1, Fault: providerfault.Fault{Fail: providerfault.LockLost()},
	})
	release := make(chan struct{})
	ended := make(chan struct{})
	runs := atomic.Int32{}
	def := orchestration.New("Stuck", func(*orchestration.Context, string) (string, error) {
		if runs.Add(1) == 1 {
			defer close(ended)
			<-release
			return "first", nil
		}
		return "second", nil
	})
	runWorker(t, store, worker.Options{Leases: worker.Leases{Orchestration: shortLease}}, def)
	if got := result(t, start(t, store, def, "")); got != "second" {
		t.Errorf("output = %q", got)
	}
	close(release)
	<-ended
	if n := store.Calls(providerfault.AbandonOrchestrationItem); n != 0 {
		t.Errorf("%d abandons of a lock that belongs to somebody else", n)
	}
}

// An activity's failure text and panic reach the orchestration as ordinary failures.
func TestActivityFailureDetails(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	bad := activity.New("Bad", func(context.Context, string) (string, error) { return "", errors.New("card declined") })
	def := calling(bad)
	runWorker(t, store, worker.Options{}, def, bad)
	run := start(t, store, def, "")
	failure(t, run)
	for _, event := range history(t, store, run.Instance()) {
		if failed, ok := event.Kind.(provider.ActivityFailed); ok {
			if failed.Details != (provider.ApplicationFailure{Kind: provider.AppActivityFailed, Message: "card declined"}) {
				t.Errorf("details %+v", failed.Details)
			}
			return
		}
	}
	t.Error("no failure was recorded")
}
