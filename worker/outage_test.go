package worker_test

import (
	"context"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
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

// outages is a store that can be taken away and brought back.
type outages struct {
	*providerfault.Store
	inner provider.Provider

	mu   sync.Mutex
	back chan struct{}
}

// leave takes the store away: calls fail, or hang.
func (s *outages) leave(hang bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.back = make(chan struct{})
	fault := providerfault.Fault{Fail: providerfault.Unreachable()}
	if hang {
		fault = providerfault.Fault{Hold: s.back}
	}
	back := s.back
	s.Add(providerfault.Rule{Fault: fault, If: func(providerfault.Call) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.back == back
	}})
}

func (s *outages) comeBack() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.back)
	s.back = nil
}

func withOutages(store provider.Provider) *outages {
	return &outages{Store: providerfault.New(store), inner: store}
}

// toldIn is a logger, and a channel that is closed when it has said the text.
func toldIn(text string) (*slog.Logger, <-chan struct{}) {
	told := make(chan struct{})
	w := &lineWatch{text: text, seen: sync.OnceFunc(func() { close(told) })}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug})), told
}

type lineWatch struct {
	io.Writer
	text string
	seen func()
}

func (w *lineWatch) Write(line []byte) (int, error) {
	if strings.Contains(string(line), w.text) {
		w.seen()
	}
	return len(line), nil
}

// heldWork is an activity that tells each time it runs, counts them, and returns once
// finish is closed.
func heldWork() (work activity.Definition[string, string], running, finish chan struct{}, runs *atomic.Int32) {
	running, finish, runs = make(chan struct{}, 16), make(chan struct{}), new(atomic.Int32)
	return activity.New("Work", func(context.Context, string) (string, error) {
		runs.Add(1)
		running <- struct{}{}
		<-finish
		return "done", nil
	}), running, finish, runs
}

// What an activity returned while the store was away arrives when it is back, and the
// activity has run once: also when its lease has ended meanwhile, as long as no other
// worker took it.
func TestResultsSurviveAnOutage(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		hangs bool
		lease time.Duration
		// until is what the log says when the store may come back.
		until string
	}{
		{"shorter than the lease", false, time.Minute, "the store fails"},
		{"longer than the lease", false, 1500 * time.Millisecond, "it is kept for when the activity comes back"},
		{"longer than the lease, and nothing answers", true, 1500 * time.Millisecond, "it is kept for when the activity comes back"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			onBothStores(t, func(t *testing.T, inner provider.Provider) {
				store := withOutages(inner)
				work, running, finish, runs := heldWork()
				def := calling(work)
				logger, told := toldIn(test.until)
				runWorker(t, store, worker.Options{
					Leases: worker.Leases{Activity: test.lease, Orchestration: shortLease}, Logger: logger, PollTimeout: shortLease,
				}, def, work)
				run := start(t, inner, def, "")
				receive(t, "activity", running)
				store.leave(test.hangs)
				close(finish)
				receive(t, "the log's line", told)
				store.comeBack()
				if got := result(t, run); got != "done" || runs.Load() != 1 {
					t.Errorf("output %q after %d runs", got, runs.Load())
				}
			})
		})
	}
}

// A turn that was decided while the store was away is committed when it is back, or run
// again when its lease has ended. Its activity is scheduled once either way.
func TestTurnsSurviveAnOutage(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		lease time.Duration
		until string
	}{
		{"shorter than the lease", time.Minute, "the store fails"},
		{"longer than the lease", shortLease, "a turn was not committed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			onBothStores(t, func(t *testing.T, inner provider.Provider) {
				store := withOutages(inner)
				var leave sync.Once
				def := orchestration.New("Flow", func(ctx *orchestration.Context, text string) (string, error) {
					leave.Do(func() { store.leave(false) })
					return orchestration.Activity(ctx, echo, text).Await()
				})
				logger, told := toldIn(test.until)
				runWorker(t, store, worker.Options{Leases: worker.Leases{Orchestration: test.lease}, Logger: logger, PollTimeout: shortLease}, def, echo)
				run := start(t, inner, def, "x")
				receive(t, "the log's line", told)
				store.comeBack()
				if got := result(t, run); got != "x" {
					t.Errorf("output %q", got)
				}
				want := "OrchestrationStarted ActivityScheduled ActivityCompleted OrchestrationCompleted"
				if got := strings.Join(types(history(t, inner, run.Instance())), " "); got != want {
					t.Errorf("history %s, want %s", got, want)
				}
			})
		})
	}
}

// A result that the store does not take holds up neither its slot nor the next result.
func TestAKeptResultFreesItsSlot(t *testing.T) {
	t.Parallel()
	onBothStores(t, func(t *testing.T, inner provider.Provider) {
		var refuses atomic.Bool
		refuses.Store(true)
		refused := make(chan struct{}, 1024)
		store := providerfault.New(inner, providerfault.Rule{
			Operation: providerfault.AckWorkItem, Fault: providerfault.Fault{Fail: providerfault.Unreachable()},
			If: func(call providerfault.Call) bool {
				if call.Instance == "late" && refuses.Load() {
					refused <- struct{}{}
					return true
				}
				return false
			},
		})
		runWorker(t, store, worker.Options{ActivityConcurrency: 1}, callEcho, echo)
		late, err := client.Start(t.Context(), client.New(inner, client.Options{}), callEcho, "late", "late")
		if err != nil {
			t.Fatal(err)
		}
		receive(t, "refused result", refused)
		for _, id := range []string{"one", "two", "three"} {
			other, err := client.Start(t.Context(), client.New(inner, client.Options{}), callEcho, id, id)
			if err != nil {
				t.Fatal(err)
			}
			result(t, other)
		}
		refuses.Store(false)
		if got := result(t, late); got != "late" {
			t.Errorf("output %q", got)
		}
	})
}

// A worker that has to stop while the store is away does so in its time, says what it
// leaves behind, and that is done again when the lease has ended.
func TestShutdownDuringAnOutage(t *testing.T) {
	t.Parallel()
	for _, hangs := range []bool{false, true} {
		name := "calls fail"
		if hangs {
			name = "calls hang"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := withOutages(openStore(t))
			running, finish := make(chan struct{}, 16), make(chan struct{})
			work := activity.New("Work", func(context.Context, string) (string, error) {
				running <- struct{}{}
				<-finish
				return "done", nil
			})
			def := calling(work)
			logger, log := logged()
			options := worker.Options{Leases: worker.Leases{Activity: 5 * time.Second}, ShutdownTimeout: 10 * time.Millisecond, Logger: logger}
			stop := runWorker(t, store, options, def, work)
			run := start(t, store.inner, def, "")
			receive(t, "activity", running)
			store.leave(hangs)
			close(finish)
			stop()
			if n := len(lines(log, "level=ERROR", "a result did not arrive before the worker had to stop")); n != 1 {
				t.Errorf("told %d times what is left behind:\n%s", n, log.String())
			}
			store.comeBack()
			runWorker(t, store, worker.Options{}, def, work)
			if got := result(t, run); got != "done" {
				t.Errorf("output %q", got)
			}
		})
	}
}

// The figures of outages of whole seconds, whose lengths DUROXIDE_OUTAGES lists: an activity
// that returned meanwhile, under the default leases, or that runs until the recovery, beyond
// its lease, has run once, and its orchestration is done within a second of the recovery.
func TestOutagesOfSeconds(t *testing.T) {
	t.Parallel()
	lengths := os.Getenv("DUROXIDE_OUTAGES")
	if lengths == "" {
		t.Skip("takes as long as the outages that DUROXIDE_OUTAGES lists, such as 1s,25s")
	}
	for text := range strings.SplitSeq(lengths, ",") {
		length, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, test := range []struct {
			name  string
			lease time.Duration
			runs  bool
		}{{"returns", 0, false}, {"runs", length / 2, true}} {
			t.Run(text+"/"+test.name, func(t *testing.T) {
				t.Parallel()
				onBothStores(t, func(t *testing.T, inner provider.Provider) {
					store := withOutages(inner)
					work, running, finish, runs := heldWork()
					def := calling(work)
					runWorker(t, store, worker.Options{Leases: worker.Leases{Activity: test.lease}}, def, work)
					run := start(t, inner, def, "")
					receive(t, "activity", running)
					store.leave(false)
					if !test.runs {
						close(finish)
					}
					<-time.After(length) // the outage itself
					back := time.Now()
					store.comeBack()
					if test.runs {
						close(finish)
					}
					got, late := result(t, run), time.Since(back)
					t.Logf("done %v after the recovery", late)
					if got != "done" || runs.Load() != 1 || late > time.Second {
						t.Errorf("output %q after %d runs, %v after the recovery", got, runs.Load(), late)
					}
				})
			})
		}
	}
}
