package worker_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/hook"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql"
	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"
	"github.com/duroxide/duroxide-go/provider/providerfault"
	"github.com/duroxide/duroxide-go/provider/sqlite"
	"github.com/duroxide/duroxide-go/worker"
)

// cancellations is how many are timed: a few, or as many as the variable says.
func cancellations(t *testing.T) int {
	t.Helper()
	text, set := os.LookupEnv("DUROXIDE_CANCELLATIONS")
	if !set {
		return 8
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// told is when an activity learned of its cancellation, or a turn that cancels one was
// committed.
type told struct {
	instance string
	at       time.Time
}

// racer is a select between an activity that runs until it is told to stop and an event,
// and the activity, which says when it runs and when it was told.
func racer() (def orchestration.Definition[string, string], work activity.Definition[string, string], running chan string, ended chan told) {
	running, ended = make(chan string, 1024), make(chan told, 1024)
	work = activity.New("Work", func(ctx context.Context, _ string) (string, error) {
		info, _ := activity.InfoFrom(ctx)
		running <- info.Instance
		<-ctx.Done()
		ended <- told{info.Instance, time.Now()}
		return "not wanted", nil
	})
	def = orchestration.New("Race", func(ctx *orchestration.Context, _ string) (string, error) {
		loser := orchestration.Activity(ctx, work, "")
		orchestration.SelectAndDrop(loser, orchestration.NewEvent[string]("enough").Wait(ctx))
		return "over", nil
	})
	return def, work, running, ended
}

// cancelMany runs so many instances, so many of them together, cancels the one half and lets
// the others' activity lose a select, and returns how long after the commit each activity
// was told. Such a commit is one that cancels activities.
func cancelMany(t *testing.T, store provider.Provider, n, together int, committed <-chan told, running <-chan string, ended <-chan told) []time.Duration {
	t.Helper()
	c := client.New(store, client.Options{})
	var delays []time.Duration
	for first := 0; first < n; first += together {
		ids := make([]string, min(together, n-first))
		for i := range ids {
			ids[i] = fmt.Sprint("race-", first+i)
			send(t, store, provider.StartOrchestrationItem{Instance: ids[i], Orchestration: "Race", ExecutionID: 1})
		}
		for range ids {
			receive(t, "activity", running)
		}
		for i, id := range ids {
			if (first+i)%2 == 0 {
				raise(t, store, id, "enough")
			} else if err := c.Cancel(t.Context(), id, "user"); err != nil {
				t.Fatal(err)
			}
		}
		commits := map[string]time.Time{}
		for range ids {
			commit := receive(t, "commit", committed)
			commits[commit.instance] = commit.at
		}
		for range ids {
			end := receive(t, "end of the activity", ended)
			delays = append(delays, end.at.Sub(commits[end.instance]))
		}
	}
	slices.Sort(delays)
	t.Logf("%d told: half within %v, 99 %% within %v, all within %v", n, delays[n/2], delays[n*99/100], delays[n-1])
	return delays
}

// commits is a store that tells when it has committed a turn that cancels activities.
func commits(store provider.Provider) (provider.Provider, <-chan told) {
	committed := make(chan told, 1024)
	return providerfault.New(watched{store, func(params provider.AckOrchestrationParams) {
		for _, ref := range params.CancelledActivities {
			committed <- told{ref.Instance, time.Now()}
		}
	}}), committed
}

// An activity is told of its cancellation when the turn commits, although its lease is not
// renewed for most of a minute: that it lost a select, and that its instance was cancelled.
// The worker that runs it may be another one on the same store, with a hook or without.
func TestCancellationIsToldAtOnce(t *testing.T) {
	t.Parallel()
	onBothStores(t, func(t *testing.T, inner provider.Provider) {
		store, committed := commits(inner)
		def, work, running, ended := racer()
		options := worker.Options{Leases: worker.Leases{Activity: time.Minute}, Cancellation: worker.Cancellation{PollInterval: worker.Never}}
		turns, activities := options, options
		turns.Hook = hook.None{} // a store with a hook is the same store
		turns.ActivityConcurrency, activities.OrchestrationConcurrency = worker.None, worker.None
		runWorker(t, store, turns, def)
		runWorker(t, store, activities, work)
		delays := cancelMany(t, inner, cancellations(t), 1, committed, running, ended)
		if most := delays[len(delays)-1]; os.Getenv("DUROXIDE_CANCELLATIONS") != "" && most > 50*time.Millisecond {
			t.Errorf("told after %v", most)
		}
	})
}

// twice opens one store twice, as two processes do.
func twice(t *testing.T, test func(t *testing.T, one, two provider.Provider)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "store.db")
		var stores [2]provider.Provider
		for i := range stores {
			store, err := sqlite.Open(t.Context(), path, sqlite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = store.Close() })
			stores[i] = store
		}
		test(t, stores[0], stores[1])
	})
	t.Run("mssql", func(t *testing.T) {
		t.Parallel()
		db, schema := mssqltest.Pooled(t)
		var stores [2]provider.Provider
		for i := range stores {
			store, err := mssql.New(db, mssql.Options{Schema: schema})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = store.Close() })
			stores[i] = store
		}
		test(t, stores[0], stores[1])
	})
}

// What another process cancels is told within Cancellation.PollInterval, although the lease
// is not renewed for most of a minute.
func TestCancellationIsToldToOtherProcesses(t *testing.T) {
	t.Parallel()
	twice(t, func(t *testing.T, one, two provider.Provider) {
		store, committed := commits(one)
		def, work, running, ended := racer()
		slots := 4
		activities := worker.Options{
			OrchestrationConcurrency: worker.None, ActivityConcurrency: slots, Leases: worker.Leases{Activity: time.Minute},
			Cancellation: worker.Cancellation{PollInterval: 50 * time.Millisecond},
		}
		rig := os.Getenv("DUROXIDE_CANCELLATIONS") != ""
		if rig {
			activities.Cancellation.PollInterval = 0 // the default
			slots = 100
			activities.ActivityConcurrency = slots
		}
		runWorker(t, store, worker.Options{ActivityConcurrency: worker.None}, def)
		runWorker(t, two, activities, work)
		delays := cancelMany(t, one, cancellations(t), slots, committed, running, ended)
		if most := delays[len(delays)-1]; rig && most > 3*time.Second {
			t.Errorf("told after %v", most)
		}
	})
}

// While no activity has run for long, nobody asks the store for cancellations; while one
// does, somebody does.
func TestIdleWorkersAskNothing(t *testing.T) {
	t.Parallel()
	onBothStores(t, func(t *testing.T, inner provider.Provider) {
		asked := make(chan struct{}, 1024)
		store := providerfault.New(inner, providerfault.Rule{Operation: providerfault.LostWorkItems, If: func(providerfault.Call) bool {
			asked <- struct{}{}
			return false
		}})
		def, work, running, ended := racer()
		const poll = 5 * time.Millisecond
		runWorker(t, store, worker.Options{Cancellation: worker.Cancellation{PollInterval: poll}}, def, work, callEcho, echo, waiting)
		run := start(t, inner, waiting, "")
		waitForStatus(t, inner, run.Instance())
		for range 3 { // a signal that time for many questions has passed
			<-time.After(10 * poll)
		}
		if n := store.Calls(providerfault.LostWorkItems); n != 0 {
			t.Fatalf("an idle worker asked %d times", n)
		}
		race, err := client.Start(t.Context(), client.New(inner, client.Options{}), def, "race", "")
		if err != nil {
			t.Fatal(err)
		}
		receive(t, "activity", running)
		receive(t, "question", asked)
		receive(t, "question", asked)
		raise(t, inner, "race", "enough")
		result(t, race)
		receive(t, "end of the activity", ended)
	})
}

// What a cancelled activity returns is discarded, which the log says at Debug, and not as a
// lost lease.
func TestResultOfACancelledActivityIsDiscarded(t *testing.T) {
	t.Parallel()
	onBothStores(t, func(t *testing.T, inner provider.Provider) {
		store := providerfault.New(inner)
		var log lockedBuffer
		logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		def, work, running, _ := racer()
		stop := runWorker(t, store, worker.Options{Logger: logger}, def, work)
		run := start(t, inner, def, "")
		receive(t, "activity", running)
		raise(t, inner, run.Instance(), "enough")
		result(t, run)
		stop()
		if n := len(lines(&log, "level=DEBUG", "the result of a cancelled activity is discarded")); n != 1 {
			t.Errorf("told %d times:\n%s", n, log.String())
		}
		if told := lines(&log, "lease"); len(told) != 0 {
			t.Errorf("the log tells of a lease: %v", told)
		}
		if n := store.Calls(providerfault.AckWorkItem); n != 0 {
			t.Errorf("%d acks of an activity that is gone", n)
		}
	})
}
