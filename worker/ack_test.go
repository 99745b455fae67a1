package worker_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/providerfault"
	"github.com/duroxide/duroxide-go/worker"
)

// Whatever the network does to acks and fetches, an instance ends once with the same
// result.
func TestUnreliableStore(t *testing.T) {
	t.Parallel()
	busy := providerfault.Fault{Fail: providerfault.Busy()}
	lost := providerfault.Fault{Lose: providerfault.Unreachable()}
	rejected := providerfault.Fault{Fail: &provider.Error{Message: "injected: no permission"}}
	for _, test := range []struct {
		name  string
		rules []providerfault.Rule
	}{
		{"turn not accepted at first", []providerfault.Rule{{Operation: providerfault.AckOrchestrationItem, Times: 3, Fault: busy}}},
		{"turn never accepted within the tries", []providerfault.Rule{{Operation: providerfault.AckOrchestrationItem, Times: 6, Fault: busy}}},
		{"answer to a turn lost", []providerfault.Rule{{Operation: providerfault.AckOrchestrationItem, Times: 1, Fault: lost}}},
		{"every turn committed twice", []providerfault.Rule{{Operation: providerfault.AckOrchestrationItem, Fault: providerfault.Fault{Repeat: 1}}}},
		{"lock lost at the ack", []providerfault.Rule{{Operation: providerfault.AckOrchestrationItem, Times: 1, Fault: providerfault.Fault{Fail: providerfault.LockLost()}}}},
		{"turn rejected, and its failure too", []providerfault.Rule{{Operation: providerfault.AckOrchestrationItem, Times: 2, Fault: rejected}}},
		{"nothing can be handed back", []providerfault.Rule{
			{Operation: providerfault.AckOrchestrationItem, Times: 6, Fault: busy},
			{Operation: providerfault.AckWorkItem, Times: 6, Fault: busy},
			{Operation: providerfault.AbandonOrchestrationItem, Fault: busy},
			{Operation: providerfault.AbandonWorkItem, Fault: busy},
		}},
		{"activity's ack not accepted at first", []providerfault.Rule{{Operation: providerfault.AckWorkItem, Times: 3, Fault: busy}}},
		{"activity's ack never accepted within the tries", []providerfault.Rule{{Operation: providerfault.AckWorkItem, Times: 6, Fault: busy}}},
		{"answer to an activity's ack lost", []providerfault.Rule{{Operation: providerfault.AckWorkItem, Times: 1, Fault: lost}}},
		{"every activity acknowledged twice", []providerfault.Rule{{Operation: providerfault.AckWorkItem, Fault: providerfault.Fault{Repeat: 1}}}},
		{"activity's ack refused", []providerfault.Rule{{Operation: providerfault.AckWorkItem, Times: 1, Fault: providerfault.Fault{Fail: providerfault.Refused()}}}},
		{"activity's lock lost at the ack", []providerfault.Rule{{Operation: providerfault.AckWorkItem, Times: 1, Fault: providerfault.Fault{Fail: providerfault.LockLost()}}}},
		{"fetched turns never arrive", []providerfault.Rule{{Operation: providerfault.FetchOrchestrationItem, Times: 1, Fault: lost}}},
		{"fetched activities never arrive", []providerfault.Rule{{Operation: providerfault.FetchWorkItem, Times: 1, Fault: lost}}},
		{"every message delivered twice", []providerfault.Rule{{Operation: providerfault.EnqueueForOrchestrator, Fault: providerfault.Fault{Repeat: 1}}}},
		{"parent of an unstamped child cannot be read at first", []providerfault.Rule{{Operation: providerfault.Read, Times: 2, Fault: busy}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			child := orchestration.New("Child", func(ctx *orchestration.Context, text string) (string, error) {
				return orchestration.Activity(ctx, echo, text).Await()
			})
			def := orchestration.New("Root", func(ctx *orchestration.Context, text string) ([]string, error) {
				return orchestration.Join(
					orchestration.SubOrchestration(ctx, child, text+" by child"),
					orchestration.Activity(ctx, echo, text),
				)
			})
			inner := openStore(t)
			store := providerfault.New(unstamped{inner}, test.rules...)
			runWorker(t, store, worker.Options{
				Leases: worker.Leases{Orchestration: shortLease, Activity: shortLease}, PollTimeout: shortLease,
			}, def, child, echo)
			c := client.New(store, client.Options{})
			// A start that is delivered twice may find its own instance at work the second time.
			run, err := client.Start(t.Context(), c, def, "root", "hi", client.UseExisting())
			if err != nil {
				t.Fatal(err)
			}
			run = client.Attach[[]string](client.New(inner, client.Options{}), run.Instance())
			if diff := cmp.Diff([]string{"hi by child", "hi"}, result(t, run)); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
			want := []string{
				"OrchestrationStarted", "SubOrchestrationScheduled", "ActivityScheduled",
				"ActivityCompleted", "SubOrchestrationCompleted", "OrchestrationCompleted",
			}
			got := types(history(t, inner, "root"))
			if got[3] == "SubOrchestrationCompleted" { // either may come first
				got[3], got[4] = got[4], got[3]
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("history (-want +got):\n%s", diff)
			}
		})
	}
}

// A turn that the store refuses for good fails the instance with the reason, under
// the version that was resolved for it, and its parent.
func TestRefusedTurn(t *testing.T) {
	t.Parallel()
	child := orchestration.New("Child", func(ctx *orchestration.Context, text string) (string, error) {
		return orchestration.Activity(ctx, echo, text).Await()
	}).WithVersion("2.1.0")
	family := parent(child)
	store := providerfault.New(openStore(t), providerfault.Rule{
		Operation: providerfault.AckOrchestrationItem, Times: 1,
		If:    func(call providerfault.Call) bool { return isAbout(call, "child") },
		Fault: providerfault.Fault{Fail: providerfault.Refused()},
	})
	runWorker(t, store, worker.Options{}, family, child, echo)
	want := provider.InfrastructureFailure{Operation: "ack_orchestration_item", Message: "injected: refused"}
	if diff := cmp.Diff(provider.ErrorDetails(want), failure(t, start(t, store, family, ""))); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
	s, err := client.New(store, client.Options{}).Status(t.Context(), "child")
	if err != nil || s.State != client.Failed || s.Version != "2.1.0" {
		t.Errorf("child %+v, %v", s, err)
	}
	if diff := cmp.Diff([]string{"OrchestrationStarted", "OrchestrationFailed"}, types(history(t, store, "child"))); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
}

// watched is a store that tells of each turn it committed.
type watched struct {
	provider.Provider
	committed func(provider.AckOrchestrationParams)
}

func (s watched) AckOrchestrationItem(ctx context.Context, params provider.AckOrchestrationParams) error {
	err := s.Provider.AckOrchestrationItem(ctx, params)
	if err == nil {
		s.committed(params)
	}
	return err
}

// An instance whose metadata no store accepts fails, without what was refused. Once,
// its failure carried the same metadata, was refused as well, and came back for ever.
func TestRefusedMetadata(t *testing.T) {
	t.Parallel()
	unknown := provider.UnknownVersion
	for _, test := range []struct {
		name    string
		start   provider.StartOrchestrationItem
		refuses func(provider.ExecutionMetadata) bool
		options worker.Options
		// The name and version that remain. The parent never does.
		row, version *string
	}{
		{
			"parent",
			provider.StartOrchestrationItem{Orchestration: "CallEcho", ParentInstance: new("p"), ParentID: new(uint64(2))},
			func(m provider.ExecutionMetadata) bool { return m.ParentInstanceID != nil },
			worker.Options{},
			new("CallEcho"), new("1.0.0"),
		},
		{
			"name",
			provider.StartOrchestrationItem{Orchestration: "CallEcho"},
			func(m provider.ExecutionMetadata) bool {
				return m.OrchestrationName != nil && *m.OrchestrationName == "CallEcho"
			},
			worker.Options{},
			&unknown, &unknown,
		},
		{
			"any name",
			provider.StartOrchestrationItem{Orchestration: "CallEcho"},
			func(m provider.ExecutionMetadata) bool { return m.OrchestrationName != nil },
			worker.Options{},
			nil, nil,
		},
		{
			"name and parent of what nobody runs",
			provider.StartOrchestrationItem{Orchestration: "Nobody", ParentInstance: new("p"), ParentID: new(uint64(2))},
			func(m provider.ExecutionMetadata) bool {
				return m.ParentInstanceID != nil || m.OrchestrationName != nil && *m.OrchestrationName == "Nobody"
			},
			worker.Options{Code: worker.Code{UnknownTimeout: 100 * time.Millisecond, Backoff: time.Millisecond}},
			&unknown, &unknown,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			ended := make(chan provider.ExecutionMetadata, 1)
			store := providerfault.New(watched{unselecting{openStore(t)}, func(params provider.AckOrchestrationParams) {
				if params.Metadata.Status != nil {
					ended <- params.Metadata
				}
			}}, providerfault.Rule{
				Operation: providerfault.AckOrchestrationItem,
				If:        func(call providerfault.Call) bool { return test.refuses(call.Turn.Metadata) },
				Fault:     providerfault.Fault{Fail: providerfault.Refused()},
			})
			runWorker(t, store, test.options, callEcho, echo)
			test.start.Instance, test.start.ExecutionID = "i", 1
			if err := store.EnqueueForOrchestrator(t.Context(), test.start, 0); err != nil {
				t.Fatal(err)
			}
			got := receive(t, "end", ended)
			if got.Output == nil || *got.Output == "" {
				t.Error("the failure has no output")
			}
			want := provider.ExecutionMetadata{Status: got.Status, Output: got.Output, OrchestrationName: test.row, OrchestrationVersion: test.version}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("metadata (-want +got):\n%s", diff)
			}
			s, err := client.New(store, client.Options{}).Status(t.Context(), "i")
			if err != nil || s.State != client.Failed || s.Name != test.start.Orchestration {
				t.Errorf("status %+v, %v", s, err)
			}
		})
	}
}

// A start with a parent that no instance can be fails with that reason, whether or not
// somebody runs it.
func TestImpossibleParent(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, orchestration, parent, want string }{
		{"empty", "CallEcho", "", "parent instance id must not be empty"},
		{"NUL", "CallEcho", "a\x00b", `parent instance id "a\x00b" must not contain NUL`},
		{"unregistered", "Nobody", "", `orchestration "Nobody"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			store := openStore(t)
			runWorker(t, store, worker.Options{Code: worker.Code{UnknownTimeout: 100 * time.Millisecond, Backoff: time.Millisecond}}, callEcho, echo)
			if err := store.EnqueueForOrchestrator(t.Context(), provider.StartOrchestrationItem{
				Instance: "i", Orchestration: test.orchestration, ParentInstance: &test.parent, ParentID: new(uint64(2)), ExecutionID: 1,
			}, 0); err != nil {
				t.Fatal(err)
			}
			details := failure(t, client.Attach[string](client.New(store, client.Options{}), "i"))
			if got := details.DisplayMessage(); !strings.Contains(got, test.want) {
				t.Errorf("failed with %q, want %q", got, test.want)
			}
			info, err := store.Admin().GetInstanceInfo(t.Context(), "i")
			if err != nil || info.OrchestrationName != test.orchestration || info.ParentInstanceID != nil {
				t.Errorf("info %+v, %v", info, err)
			}
		})
	}
}

// Each commit that fails is logged, once, with its reason.
func TestUncommittedTurnsAreLogged(t *testing.T) {
	t.Parallel()
	isDrop := func(call providerfault.Call) bool { return len(call.Turn.HistoryDelta) == 0 }
	endsInstance := func(call providerfault.Call) bool { return call.Turn.Metadata.Status != nil }
	refused := providerfault.Fault{Fail: providerfault.Refused()}
	for _, test := range []struct {
		name string
		rule providerfault.Rule
		want string
		// times is how often the log must say so.
		times int
	}{
		{"drop", providerfault.Rule{If: isDrop, Times: 1, Fault: refused}, `error="ack_orchestration_item: injected: refused" tries=1`, 1},
		{
			"drop, lock lost",
			providerfault.Rule{If: isDrop, Times: 1, Fault: providerfault.Fault{Fail: providerfault.LockLost()}},
			"a turn was not committed because its lock was lost", 1,
		},
		// The turn, and the failure that took its place.
		{"failure", providerfault.Rule{If: endsInstance, Times: 2, Fault: refused}, `error="ack_orchestration_item: injected: refused" tries=1`, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var log lockedBuffer
			test.rule.Operation = providerfault.AckOrchestrationItem
			dropped := make(chan struct{}, 1)
			store := providerfault.New(watched{unselecting{openStore(t)}, func(params provider.AckOrchestrationParams) {
				if len(params.HistoryDelta) == 0 {
					dropped <- struct{}{}
				}
			}}, test.rule)
			stop := runWorker(t, store, worker.Options{
				Logger: slog.New(slog.NewTextHandler(&log, nil)), Leases: worker.Leases{Orchestration: shortLease}, PollTimeout: shortLease,
			}, callEcho, echo)
			run := start(t, store, callEcho, "x")
			result(t, run)
			raise(t, store, run.Instance(), "late")
			receive(t, "drop", dropped)
			stop()
			if n := strings.Count(log.String(), test.want); n != test.times {
				t.Errorf("the log says %d times, want %d: %s\n%s", n, test.times, test.want, log.String())
			}
		})
	}
}

// A store that does not answer holds a finished turn up no longer than a lease, and a
// shutdown no longer than that.
func TestStoreThatHangs(t *testing.T) {
	t.Parallel()
	hanging, release := make(chan struct{}, 64), make(chan struct{})
	store := providerfault.New(openStore(t), providerfault.Rule{
		If: func(call providerfault.Call) bool {
			if call.Operation != providerfault.AckOrchestrationItem {
				return false
			}
			hanging <- struct{}{}
			return true
		},
		Fault: providerfault.Fault{Hold: release},
	})
	var log lockedBuffer
	stop := runWorker(t, store, worker.Options{
		Leases: worker.Leases{Orchestration: shortLease}, ShutdownTimeout: worker.AtOnce, Logger: slog.New(slog.NewTextHandler(&log, nil)),
	}, callEcho, echo)
	run := start(t, store, callEcho, "x")
	receive(t, "ack", hanging)
	stop()
	close(release)
	// The log says what was tried, not what might have been.
	if text := log.String(); !strings.Contains(text, `msg="a turn was not committed"`) || strings.Count(text, " tries=") != strings.Count(text, " tries=1\n") {
		t.Errorf("the log says:\n%s", text)
	}
	runWorker(t, store, worker.Options{}, callEcho, echo)
	result(t, run)
}

// blind is a store that ignores the capability filter.
type blind struct {
	provider.Provider
	abandoned chan provider.AbandonParams
}

func (s blind) FetchOrchestrationItem(ctx context.Context, params provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
	params.Filter = nil
	return s.Provider.FetchOrchestrationItem(ctx, params)
}

func (s blind) AbandonOrchestrationItem(ctx context.Context, params provider.AbandonParams) error {
	s.abandoned <- params
	return s.Provider.AbandonOrchestrationItem(ctx, params)
}

// An execution pinned to another framework version is left alone, by the store's
// filter and, should that fail, by the worker itself.
func TestFrameworkVersions(t *testing.T) {
	t.Parallel()
	inner, run := leftWaiting(t)
	raise(t, inner, run.Instance(), "go")

	old := worker.Options{SupportedVersions: []provider.VersionRange{{Max: provider.Version{Minor: 1}}}}
	store := blind{Provider: inner, abandoned: make(chan provider.AbandonParams, 16)}
	stop := runWorker(t, named(store, inner), old, waiting)
	params := receive(t, "abandon", store.abandoned)
	stop()
	if params.Delay != time.Second || !params.IgnoreAttempt || !strings.Contains(params.Misfit, "framework version 0.1.32") {
		t.Errorf("abandoned with %+v", params)
	}
	runWorker(t, inner, old, waiting) // never gets it
	runWorker(t, inner, worker.Options{}, waiting)
	result(t, run)
}

// A worker does not decide an execution of another framework version, however often its
// batch was tried: it does not poison it (§7.4).
func TestFrameworkVersionBeforePoison(t *testing.T) {
	t.Parallel()
	inner, run := leftWaiting(t)
	raise(t, inner, run.Instance(), "go")
	for range 2 {
		fetched, err := inner.FetchOrchestrationItem(t.Context(), provider.FetchOrchestrationParams{
			LockTimeout: time.Minute, Known: provider.Know(provider.CodeName{Name: waiting.Name(), Version: "1.0.0"}),
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := inner.AbandonOrchestrationItem(t.Context(), provider.AbandonParams{LockToken: fetched.LockToken}); err != nil {
			t.Fatal(err)
		}
	}
	store := blind{Provider: inner, abandoned: make(chan provider.AbandonParams, 16)}
	stop := runWorker(t, named(store, inner), worker.Options{
		Limits: worker.Limits{Attempts: 2}, SupportedVersions: []provider.VersionRange{{Max: provider.Version{Minor: 1}}},
	}, waiting)
	params := receive(t, "abandon", store.abandoned)
	stop()
	if params.Delay != time.Second || !params.IgnoreAttempt || !strings.Contains(params.Misfit, "framework version 0.1.32") {
		t.Errorf("abandoned with %+v", params)
	}
	runWorker(t, inner, worker.Options{}, waiting)
	result(t, run)
}

// waitForKind waits until a history holds that event.
func waitForKind(t *testing.T, store provider.Provider, instance string, kind provider.EventKind) {
	t.Helper()
	ctx := deadline(t)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for ctx.Err() == nil {
		for _, event := range history(t, store, instance) {
			if event.Kind == kind {
				return
			}
		}
		<-tick.C
	}
	t.Fatalf("%s has no %+v", instance, kind)
}

// A start that is queued before the message that begins the next execution does not
// take its place (P48).
func TestDuplicateStartBesideContinueAsNew(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	other := orchestration.New("Other", func(*orchestration.Context, string) (string, error) { return "other", nil })
	var duplicated atomic.Bool
	def := orchestration.New("Loop", func(ctx *orchestration.Context, n int) (string, error) {
		if n == 1 {
			return "second", nil
		}
		// A start that arrives during the turn is queued ahead of what the turn sends.
		if duplicated.CompareAndSwap(false, true) {
			send(t, store, provider.StartOrchestrationItem{Instance: ctx.Info().Instance, Orchestration: "Other", ExecutionID: 1})
		}
		return orchestration.Declare[int, string]("Loop").ContinueAsNew(ctx, 1)
	})
	runWorker(t, store, worker.Options{}, def, other)
	if got := result(t, start(t, store, def, 0)); got != "second" {
		t.Errorf("output = %q", got)
	}
}

// Sessions: everything of one goes to the owner that has it, and no worker holds more
// of them at a time than it may.
func TestSessions(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	var mu sync.Mutex
	inSession, most := 0, 0
	who := func(worker string) activity.Definition[string, string] {
		return activity.New("Who", func(context.Context, string) (string, error) {
			mu.Lock()
			inSession++
			most = max(most, inSession)
			mu.Unlock()
			defer func() {
				mu.Lock()
				inSession--
				mu.Unlock()
			}()
			return worker, nil
		})
	}
	def := orchestration.New("Steps", func(ctx *orchestration.Context, session string) ([]string, error) {
		var owners []string
		for range 4 {
			owner, err := orchestration.Activity(ctx, who(""), "", orchestration.InSession(session)).Await()
			if err != nil {
				return nil, err
			}
			owners = append(owners, owner)
		}
		return owners, nil
	})
	options := worker.Options{OrchestrationConcurrency: worker.None, ActivityConcurrency: 3, Sessions: worker.Sessions{Max: 1}}
	one, two := options, options
	one.Sessions.NodeID, two.Sessions.NodeID = "one", "two"
	runWorker(t, store, one, who("one"))
	runWorker(t, store, two, who("two"))
	runWorker(t, store, worker.Options{ActivityConcurrency: worker.None}, def)
	var runs []*client.Run[[]string]
	for _, session := range []string{"a", "b", "c", "d"} {
		run, err := client.Start(t.Context(), client.New(store, client.Options{}), def, session, session)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, run)
	}
	for _, run := range runs {
		owners := result(t, run)
		for _, owner := range owners {
			if owner != owners[0] {
				t.Errorf("session %s went to %v", run.Instance(), owners)
				break
			}
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if most > 2 {
		t.Errorf("%d sessions at a time in two workers that take one each", most)
	}
}

// Sessions are kept, also while the worker shuts down and their last activity runs.
func TestSessionsAreKeptUntilTheEnd(t *testing.T) {
	t.Parallel()
	renewed := make(chan struct{}, 1024)
	store := providerfault.New(openStore(t), providerfault.Rule{
		If: func(call providerfault.Call) bool {
			if call.Operation == providerfault.RenewSessionLock {
				renewed <- struct{}{}
			}
			return false
		},
	})
	running, stopping := make(chan struct{}), make(chan struct{})
	slow := activity.New("Slow", func(context.Context, string) (string, error) {
		close(running)
		<-stopping
		for len(renewed) > 0 {
			<-renewed
		}
		<-renewed
		return "kept", nil
	})
	def := calling(slow, orchestration.InSession("s"))
	stop := runWorker(t, store, worker.Options{
		ShutdownTimeout: time.Minute, Sessions: worker.Sessions{Lease: 50 * time.Millisecond, CleanupInterval: 20 * time.Millisecond},
	}, def, slow)
	run := start(t, store, def, "")
	receive(t, "activity", running)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		stop()
	}()
	close(stopping)
	receive(t, "end", stopped)
	runWorker(t, store, worker.Options{}, def)
	if got := result(t, run); got != "kept" {
		t.Errorf("output = %q", got)
	}
	if store.Calls(providerfault.CleanupOrphanedSessions) == 0 {
		t.Error("nobody cleans up")
	}
}

// The sessions of a worker that has ended are free for others at once: nobody has its slots' names any more.
func TestSessionsEndWithTheirWorker(t *testing.T) {
	t.Parallel()
	def := orchestration.New("Twice", func(ctx *orchestration.Context, _ string) (string, error) {
		if _, err := orchestration.Activity(ctx, echo, "", orchestration.InSession("s")).Await(); err != nil {
			return "", err
		}
		event := orchestration.NewEvent[string]("go").Wait(ctx)
		ctx.SetCustomStatus("waiting")
		if _, err := event.Await(); err != nil {
			return "", err
		}
		return orchestration.Activity(ctx, echo, "again", orchestration.InSession("s")).Await()
	})
	onBothStores(t, func(t *testing.T, store provider.Provider) {
		options := worker.Options{Sessions: worker.Sessions{Lease: time.Hour}}
		stop := runWorker(t, store, options, def, echo)
		run := start(t, store, def, "")
		waitForStatus(t, store, run.Instance())
		stop()
		runWorker(t, store, options, def, echo)
		raise(t, store, run.Instance(), "go")
		if got := result(t, run); got != "again" {
			t.Errorf("output = %q", got)
		}
	})
}

// A fetch that fails is tried again, and does not stop the worker.
func TestFailingFetches(t *testing.T) {
	t.Parallel()
	store := providerfault.New(openStore(t),
		providerfault.Rule{Operation: providerfault.FetchOrchestrationItem, Times: 2, Fault: providerfault.Fault{Fail: providerfault.Busy()}},
		providerfault.Rule{Operation: providerfault.FetchWorkItem, Times: 2, Fault: providerfault.Fault{Fail: providerfault.Refused()}})
	runWorker(t, store, worker.Options{OrchestrationConcurrency: 1, ActivityConcurrency: 1}, callEcho, echo)
	if got := result(t, start(t, store, callEcho, "x")); got != "x" {
		t.Errorf("output = %q", got)
	}
}
