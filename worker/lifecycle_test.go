package worker_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/providerfault"
	"github.com/duroxide/duroxide-go/provider/sqlite"
	"github.com/duroxide/duroxide-go/retry"
	"github.com/duroxide/duroxide-go/worker"
)

func TestInvalidOptions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		options worker.Options
		want    string
	}{
		{"negative lease", worker.Options{Leases: worker.Leases{Activity: -1}}, "Leases.Activity is negative (-1ns)"},
		{"no lease to speak of", worker.Options{Leases: worker.Leases{Activity: 1}}, "Leases.Activity is 1ns; the least is 1ms"},
		{"negative poll", worker.Options{PollTimeout: -1}, "PollTimeout is negative"},
		{"negative limit", worker.Options{Limits: worker.Limits{HistoryBytes: -2}}, "Limits.HistoryBytes is negative (-2); the only negative value that it takes is worker.Unlimited"},
		{"negative concurrency", worker.Options{OrchestrationConcurrency: -7}, "OrchestrationConcurrency is negative (-7)"},
		{"more turns than memory", worker.Options{OrchestrationConcurrency: 1 << 30}, "OrchestrationConcurrency is 1073741824; the most is 100000"},
		{"more activities than memory", worker.Options{ActivityConcurrency: 100_001}, "ActivityConcurrency is 100001; the most is 100000"},
		{"negative wait for code", worker.Options{Code: worker.Code{UnknownTimeout: -2}}, "Code.UnknownTimeout is negative (-2ns)"},
		{"negative patience", worker.Options{Limits: worker.Limits{BlockedTime: -time.Second}}, "Limits.BlockedTime is negative (-1s)"},
		{
			"a back-off that shrinks",
			worker.Options{Code: worker.Code{Backoff: time.Minute, MaxBackoff: time.Second}},
			"Code.MaxBackoff (1s) is shorter than Code.Backoff (1m0s)",
		},
		{
			"a buffer longer than its lease",
			worker.Options{Leases: worker.Leases{ActivityRenewalBuffer: time.Minute}},
			"Leases.ActivityRenewalBuffer (1m0s) must be shorter than Leases.Activity (30s)",
		},
		{"no version", worker.Options{SupportedVersions: []provider.VersionRange{}}, "SupportedVersions is empty"},
		{
			"a range that is upside down",
			worker.Options{SupportedVersions: []provider.VersionRange{{Min: provider.Version{Major: 1}}}},
			"SupportedVersions has a range that ends (0.0.0) before it begins (1.0.0)",
		},
		{
			"a policy that makes no sense",
			worker.Options{ActivityRetry: &retry.Policy{Jitter: 2}},
			"ActivityRetry: retry.Policy: Jitter is 2",
		},
		{"no patience", worker.Options{Limits: worker.Limits{BlockedTime: 1}}, "Limits.BlockedTime is 1ns; the least is 1ms"},
		{"a name with NUL", worker.Options{Sessions: worker.Sessions{NodeID: "a\x00"}}, `Sessions.NodeID "a\x00" must be valid UTF-8 without NUL`},
		{"a name that is no text", worker.Options{Sessions: worker.Sessions{NodeID: "a\xff"}}, `Sessions.NodeID "a\xff" must be valid UTF-8 without NUL`},
		{"a long name", worker.Options{Sessions: worker.Sessions{NodeID: strings.Repeat("n", 257)}}, "Sessions.NodeID has 257 bytes; at most 256 are allowed"},
		{"negative sessions", worker.Options{Sessions: worker.Sessions{Max: -1}}, "Sessions.Max is negative (-1)"},
		{
			"nothing to run",
			worker.Options{OrchestrationConcurrency: worker.None, ActivityConcurrency: worker.None},
			"OrchestrationConcurrency and ActivityConcurrency are both None, which leaves the worker nothing to run",
		},
		{
			"no activity to run",
			worker.Options{OrchestrationConcurrency: worker.None, Tags: provider.NoActivities()},
			"OrchestrationConcurrency is None and Tags select no activities, which leaves the worker nothing to run",
		},
		{
			"sessions that idle out while their activity runs",
			worker.Options{Sessions: worker.Sessions{IdleTimeout: 25 * time.Second}},
			"Sessions.IdleTimeout (25s) must exceed the interval at which activities are renewed (25s)",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w, err := worker.New(openStore(t), test.options)
			if w != nil || !errors.Is(err, worker.ErrInvalidOptions) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, %v", w, err)
			}
		})
	}
}

// A worker without a store is refused, however the nil is dressed.
func TestNilStore(t *testing.T) {
	t.Parallel()
	for _, store := range []provider.Provider{nil, (*sqlite.Store)(nil)} {
		if w, err := worker.New(store, worker.Options{}); w != nil || !errors.Is(err, worker.ErrInvalidOptions) || !strings.Contains(err.Error(), "the store is nil") {
			t.Errorf("%v, %v", w, err)
		}
	}
}

func TestRegistration(t *testing.T) {
	t.Parallel()
	w, err := worker.New(openStore(t), worker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Register(callEcho, echo); err != nil {
		t.Error(err)
	}
	for what, err := range map[string]error{
		"registered twice":         w.Register(echo),
		"does not rise":            w.Register(callEcho),
		"definition 2 of 2 is nil": w.Register(activity.New("Y", func(context.Context, string) (string, error) { return "", nil }), nil),
		"\"X\" has no function":    w.Register(activity.Declare[string, string]("X")),
		"has no function":          w.Register(orchestration.Declare[string, string]("X")),
		"no version \"2.0.0\"":     w.Pin("CallEcho", "2.0.0"),
		"are reserved": w.Register(activity.New("__duroxide_syscall:new_guid", func(context.Context, string) (string, error) {
			return "", nil
		})),
	} {
		if err == nil || (!strings.Contains(err.Error(), what) && what != "does not rise") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := w.Pin("CallEcho", "1.0.0"); err != nil {
		t.Error(err)
	}
}

func TestAWorkerRunsOnce(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	w, err := worker.New(store, worker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Register(callEcho, echo); err != nil {
		t.Fatal(err)
	}
	stop := run(t, w)
	result(t, start(t, store, callEcho, "x"))
	check := func(when string) {
		for what, err := range map[string]error{
			"Run": w.Run(t.Context()), "Register": w.Register(waiting), "Pin": w.Pin("CallEcho", "1.0.0"),
		} {
			if !errors.Is(err, worker.ErrRunning) {
				t.Errorf("%s %s: %v", what, when, err)
			}
		}
	}
	check("while it runs")
	stop()
	check("after it ran")
}

// A pinned version is what new instances get, whatever is registered.
func TestPin(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	version := func(ctx *orchestration.Context, _ string) (string, error) { return ctx.Info().Version, nil }
	one := orchestration.New("Pinned", version)
	two := one.WithVersion("2.0.0")
	w, err := worker.New(store, worker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Register(one, two), w.Pin("Pinned", "1.0.0")); err != nil {
		t.Fatal(err)
	}
	run(t, w)
	if got := result(t, start(t, store, one, "")); got != "1.0.0" {
		t.Errorf("version %s", got)
	}
}

func TestIdleShutdown(t *testing.T) {
	t.Parallel()
	fetching := make(chan struct{}, 16)
	store := providerfault.New(openStore(t), providerfault.Rule{If: func(call providerfault.Call) bool {
		if strings.HasPrefix(string(call.Operation), "fetch") {
			fetching <- struct{}{}
		}
		return false
	}})
	stop := runWorker(t, store, worker.Options{OrchestrationConcurrency: 2, ActivityConcurrency: 2})
	for range 2 { // one for the slots of each kind
		receive(t, "fetch", fetching)
	}
	stop() // does not wait for work
}

// Shutdown lets a running activity finish in time and keeps its result.
func TestShutdownWaitsForActivities(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	running, release := make(chan struct{}), make(chan struct{})
	slow := activity.New("Slow", func(ctx context.Context, _ string) (string, error) {
		close(running)
		<-release
		return "done", context.Cause(ctx)
	})
	def := calling(slow)
	stop := runWorker(t, store, worker.Options{ShutdownTimeout: time.Minute}, def, slow)
	instance := start(t, store, def, "").Instance()
	receive(t, "activity", running)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		stop()
	}()
	close(release)
	receive(t, "shutdown", stopped)
	runWorker(t, store, worker.Options{ActivityConcurrency: worker.None}, def)
	if got := result(t, client.Attach[string](client.New(store, client.Options{}), instance)); got != "done" {
		t.Errorf("output = %q", got)
	}
}

// A result that an activity returns although it has to stop counts: the work is done.
func TestShutdownKeepsAResult(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	running := make(chan struct{})
	stubborn := activity.New("Stubborn", func(ctx context.Context, _ string) (string, error) {
		close(running)
		<-ctx.Done()
		return "done all the same", nil
	})
	def := calling(stubborn)
	stop := runWorker(t, store, worker.Options{ShutdownTimeout: worker.AtOnce}, def, stubborn)
	run := start(t, store, def, "")
	receive(t, "activity", running)
	stop()
	runWorker(t, store, worker.Options{ActivityConcurrency: worker.None}, def)
	if got := result(t, run); got != "done all the same" {
		t.Errorf("output = %q", got)
	}
}

// An activity that has to stop is handed back at once: the next worker takes it
// without waiting for the lease of 30 s, and the try does not count.
func TestShutdownHandsActivitiesBack(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		obedient bool
	}{
		{"obedient", true},
		{"deaf", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			store := openStore(t)
			running, release, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
			first := activity.New("Work", func(ctx context.Context, _ string) (string, error) {
				defer close(ended)
				close(running)
				if test.obedient {
					<-ctx.Done()
					return "", context.Cause(ctx)
				}
				<-release
				return "too late", nil
			})
			second := activity.New("Work", func(ctx context.Context, _ string) (string, error) {
				info, _ := activity.InfoFrom(ctx)
				if info.Attempt != 1 {
					return "", errors.New("the interrupted try counted")
				}
				return "second", nil
			})
			def := calling(first)
			stop := runWorker(t, store, worker.Options{ShutdownTimeout: worker.AtOnce}, def, first)
			run := start(t, store, def, "")
			receive(t, "activity", running)
			stop()
			runWorker(t, store, worker.Options{}, def, second)
			if got := result(t, run); got != "second" {
				t.Errorf("output = %q", got)
			}
			close(release)
			<-ended
		})
	}
}

// The same for a turn whose function does not give control back.
func TestShutdownHandsTurnsBack(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	running, release, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	stuck := orchestration.New("Stuck", func(*orchestration.Context, string) (string, error) {
		defer close(ended)
		close(running)
		<-release
		return "stuck", nil
	})
	fixed := orchestration.New("Stuck", func(*orchestration.Context, string) (string, error) { return "fixed", nil })
	stop := runWorker(t, store, worker.Options{ShutdownTimeout: worker.AtOnce}, stuck)
	run := start(t, store, stuck, "")
	receive(t, "turn", running)
	stop()
	began := time.Now()
	runWorker(t, store, worker.Options{Limits: worker.Limits{Attempts: 1}}, fixed) // the interrupted try did not count
	if got := result(t, run); got != "fixed" {
		t.Errorf("output = %q", got)
	}
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("took %v, as if the lease of 5 s had to end", took)
	}
	close(release)
	<-ended
}

// Work goes on in another process where the first one stopped.
func TestAnotherWorkerTakesOver(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	def := orchestration.New("Relay", func(ctx *orchestration.Context, _ string) ([]string, error) {
		one, err := orchestration.Activity(ctx, echo, "one").Await()
		if err != nil {
			return nil, err
		}
		event := orchestration.NewEvent[string]("go").Wait(ctx)
		ctx.SetCustomStatus("waiting")
		if _, err := event.Await(); err != nil {
			return nil, err
		}
		two, err := orchestration.Activity(ctx, echo, "two").Await()
		return []string{one, two}, err
	})
	stop := runWorker(t, store, worker.Options{}, def, echo)
	run := start(t, store, def, "")
	waitForStatus(t, store, run.Instance())
	stop()
	raise(t, store, run.Instance(), "go")
	runWorker(t, store, worker.Options{}, def, echo)
	if diff := cmp.Diff([]string{"one", "two"}, result(t, run)); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
}

// Processes that run only one sort of work, and tags that route it.
func TestDividedWork(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	who := func(name string) activity.Definition[string, string] {
		return activity.New("Who", func(ctx context.Context, _ string) (string, error) {
			info, ok := activity.InfoFrom(ctx)
			if !ok {
				return "", errors.New("no info")
			}
			return name + " " + info.Tag, nil
		})
	}
	def := orchestration.New("Routes", func(ctx *orchestration.Context, _ string) ([]string, error) {
		return orchestration.Join(
			orchestration.Activity(ctx, who(""), ""),
			orchestration.Activity(ctx, who(""), "", orchestration.WithTag("gpu")),
			orchestration.Activity(ctx, who(""), "", orchestration.WithTag("cpu")),
		)
	})
	gpu, err := provider.Tags("gpu")
	if err != nil {
		t.Fatal(err)
	}
	cpu, err := provider.DefaultAndTags("cpu")
	if err != nil {
		t.Fatal(err)
	}
	runWorker(t, store, worker.Options{OrchestrationConcurrency: worker.None, Tags: gpu}, who("gpu worker"))
	runWorker(t, store, worker.Options{OrchestrationConcurrency: worker.None, Tags: cpu}, who("cpu worker"))
	runWorker(t, store, worker.Options{ActivityConcurrency: worker.None}, def)
	want := []string{"cpu worker ", "gpu worker gpu", "cpu worker cpu"}
	if diff := cmp.Diff(want, result(t, start(t, store, def, ""))); diff != "" {
		t.Errorf("who (-want +got):\n%s", diff)
	}
}

func TestActivityContext(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	var got activity.Info
	look := activity.New("Look", func(ctx context.Context, _ string) (string, error) {
		got, _ = activity.InfoFrom(ctx)
		activity.Logger(ctx).InfoContext(ctx, "looking")
		name, version := activity.Caller(ctx)
		return name + " " + version, nil
	})
	def := calling(look, orchestration.InSession("s"), orchestration.WithTag("t"))
	runWorker(t, store, worker.Options{Tags: provider.AnyTag(), Sessions: worker.Sessions{NodeID: "node"}}, def.WithVersion("3.0.0"), look)
	run := start(t, store, def, "")
	if out := result(t, run); out != "CallLook 3.0.0" {
		t.Errorf("caller = %q", out)
	}
	if !strings.HasPrefix(got.WorkerID, "work-") || !strings.HasSuffix(got.WorkerID, "-node") {
		t.Errorf("worker id %q", got.WorkerID)
	}
	want := activity.Info{
		Instance: run.Instance(), ExecutionID: 1, ActivityID: 2, Name: "Look", Attempt: 1,
		WorkerID: got.WorkerID, SessionID: "s", Tag: "t",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("info (-want +got):\n%s", diff)
	}
}
