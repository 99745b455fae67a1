package worker_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/hook"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/providerfault"
	"github.com/duroxide/duroxide-go/retry"
	"github.com/duroxide/duroxide-go/worker"
)

// span is a piece of a trace as a hook sees it. Headers are "trace/span".
type span struct {
	trace, id, parent, name string
	end                     string
}

// tracer is a hook that traces. Several stand for those of several processes.
type tracer struct {
	hook.None

	prefix string

	mu    sync.Mutex
	spans []*span
	// begun counts spans, ended those that have ended.
	begun, ended int
}

// begin begins a span below the one of the headers, or a trace without any.
func (r *tracer) begin(headers, name string) (own string, s *span) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun++
	s = &span{id: fmt.Sprintf("%s%d", r.prefix, r.begun), name: name}
	if trace, parent, ok := strings.Cut(headers, "/"); ok {
		s.trace, s.parent = trace, parent
	} else {
		s.trace = "trace-" + s.id
	}
	r.spans = append(r.spans, s)
	return s.trace + "/" + s.id, s
}

func (r *tracer) endWith(s *span, how string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.end != "" {
		how = "twice"
	}
	s.end = how
	r.ended++
}

// all returns copies of the spans, which must have ended: the worker has stopped.
func (r *tracer) all(t *testing.T) (spans []span) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.begun != r.ended {
		t.Fatalf("%d spans have begun and %d have ended", r.begun, r.ended)
	}
	for _, s := range r.spans {
		spans = append(spans, *s)
	}
	return spans
}

func (r *tracer) Start(_ context.Context, s hook.Start) (string, func(error)) {
	headers, sp := r.begin("", "start "+s.Orchestration)
	return headers, func(err error) { r.endWith(sp, fmt.Sprint(err)) }
}

func (r *tracer) Send(_ context.Context, m hook.Message) func(error) {
	_, sp := r.begin("", "send "+m.Kind+" "+m.Name+" to "+m.Instance)
	return func(err error) { r.endWith(sp, fmt.Sprint(err)) }
}

func (r *tracer) Turn(_ context.Context, turn hook.Turn) hook.Around {
	headers, sp := r.begin(turn.Headers, fmt.Sprintf("turn of %s %d", turn.Orchestration, turn.ExecutionID))
	if turn.First {
		sp.name += ", first"
	}
	if turn.Parent != "" {
		sp.name += ", child"
	}
	return hook.Around{Headers: headers, Ended: func(end hook.TurnEnd) {
		how := "given up"
		if end.Committed {
			how = fmt.Sprintf("%s %d", end.Status, end.Events)
		}
		if end.Failure != nil {
			how += " " + end.Failure.Category()
		}
		r.endWith(sp, how)
	}}
}

type spanKey struct{}

func (r *tracer) Activity(ctx context.Context, a hook.Activity) (context.Context, func(error)) {
	headers, sp := r.begin(a.Headers, fmt.Sprintf("activity %s #%d", a.Name, a.Attempt))
	return context.WithValue(ctx, spanKey{}, headers), func(err error) { r.endWith(sp, fmt.Sprint(err)) }
}

// spanNames are how often each span was seen, with its end.
func spanNames(spans []span) map[string]int {
	names := map[string]int{}
	for _, s := range spans {
		names[s.name+": "+s.end]++
	}
	return names
}

// expectConnected checks that spans are one trace: each but one has a parent among them.
func expectConnected(t *testing.T, spans []span) {
	t.Helper()
	roots := 0
	for _, s := range spans {
		if s.trace != spans[0].trace {
			t.Errorf("%+v is in another trace than %+v", s, spans[0])
		}
		if s.parent == "" {
			roots++
		} else if !slices.ContainsFunc(spans, func(other span) bool { return other.id == s.parent }) {
			t.Errorf("%+v has an unknown parent", s)
		}
	}
	if roots != 1 {
		t.Errorf("%d spans have no parent", roots)
	}
}

// A trace that a hook carries is one over a parent, its child, the tries of a retry policy, a
// restart of the worker and continue-as-new, whether functions go on in memory or are
// replayed, and a worker without a hook in between breaks nothing. Nothing is told twice
// because of a replay.
func TestOneConnectedTrace(t *testing.T) {
	t.Parallel()
	for name, cached := range map[string]int{"cached": 0, "replayed": worker.None} {
		for _, pause := range []string{"traced", "without hook"} {
			t.Run(name+", "+pause, func(t *testing.T) {
				t.Parallel()
				testOneConnectedTrace(t, cached, pause == "traced")
			})
		}
	}
}

func testOneConnectedTrace(t *testing.T, cached int, traced bool) {
	t.Helper()
	store := openStore(t)
	tries := make(chan struct{}, 1)
	var headers sync.Map
	flaky := activity.New("Flaky", func(ctx context.Context, text string) (string, error) {
		headers.Store(ctx.Value(spanKey{}), true)
		select {
		case tries <- struct{}{}:
			return "", errors.New("the first try fails")
		default:
			return text, nil
		}
	})
	child := calling(flaky, orchestration.WithRetry(retry.Policy{MaxAttempts: 2, Backoff: retry.Constant(time.Millisecond)}))
	parent := orchestration.New("Parent", func(ctx *orchestration.Context, round int) (string, error) {
		event := orchestration.NewEvent[string]("go").Wait(ctx)
		text, err := orchestration.SubOrchestration(ctx, child, "x").Await()
		if err != nil {
			return "", err
		}
		if round == 1 {
			ctx.SetCustomStatus("waiting")
			if _, err := event.Await(); err != nil {
				return "", err
			}
			return orchestration.Declare[int, string]("Parent").ContinueAsNew(ctx, 2)
		}
		return orchestration.Activity(ctx, echo, text).Await()
	})
	before, after := &tracer{prefix: "a"}, &tracer{prefix: "b"}
	definitions := []worker.Registrable{parent, child, flaky, echo}
	stop := runWorker(t, store, worker.Options{Hook: before, Cache: worker.Cache{Instances: cached}}, definitions...)
	c := client.New(store, client.Options{Hook: before})
	run, err := client.Start(t.Context(), c, parent, "p", 1)
	if err != nil {
		t.Fatal(err)
	}
	waitForStatus(t, store, "p")
	stop()
	options := worker.Options{Cache: worker.Cache{Instances: cached}}
	if traced {
		options.Hook = after
	}
	stop = runWorker(t, store, options, definitions...)
	raise(t, store, "p", "go")
	if got := result(t, run); got != "x" {
		t.Errorf("the result is %q", got)
	}
	stop()
	spans := slices.Concat(before.all(t), after.all(t))
	expectConnected(t, spans)
	want := map[string]int{
		"start Parent: <nil>": 1,
		// Subscribes and starts the child; hears of it and waits.
		"turn of Parent 1, first: Running 3": 1, "turn of Parent 1: Running 5": 1,
		"turn of CallFlaky 1, first, child: Running 2": 1, "turn of CallFlaky 1, child: Running 4": 1,
		"turn of CallFlaky 1, child: Running 6": 1, "turn of CallFlaky 1, child: Completed 8": 1,
		"activity Flaky #1: the first try fails": 1, "activity Flaky #1: <nil>": 1,
	}
	if traced {
		want["turn of Parent 1: ContinuedAsNew 7"] = 1
		want["turn of Parent 2, first: Running 3"], want["turn of Parent 2: Running 5"], want["turn of Parent 2: Completed 8"] = 1, 1, 1
		want["turn of CallFlaky 1, first, child: Running 2"], want["turn of CallFlaky 1, child: Completed 4"] = 2, 1
		want["activity Flaky #1: <nil>"], want["activity Echo #1: <nil>"] = 2, 1
	}
	got := spanNames(spans)
	for _, name := range slices.SortedFunc(keysOf(want, got), cmp.Compare[string]) {
		if want[name] != got[name] {
			t.Errorf("%d times %q, want %d", got[name], name, want[name])
		}
	}
	for _, s := range spans { // the activity's function has the span in its context
		if strings.HasPrefix(s.name, "activity Flaky") {
			if _, ok := headers.Load(s.trace + "/" + s.id); !ok {
				t.Errorf("%+v was not in the context of the activity", s)
			}
		}
	}
	expectHeaders(t, store, "p", spans[0].trace+"/")
}

// keysOf yields the keys of maps.
func keysOf(maps ...map[string]int) func(func(string) bool) {
	return func(yield func(string) bool) {
		seen := map[string]bool{}
		for _, m := range maps {
			for key := range m {
				if !seen[key] && !yield(key) {
					return
				}
				seen[key] = true
			}
		}
	}
}

// expectHeaders checks the beginning of what an execution began with.
func expectHeaders(t *testing.T, store provider.Provider, instance, want string) {
	t.Helper()
	started, ok := history(t, store, instance)[0].Kind.(provider.OrchestrationStarted)
	if !ok || !strings.HasPrefix(started.Headers, want) {
		t.Errorf("the headers of %s are %q, want %q…", instance, started.Headers, want)
	}
}

// A hook is told how clients' calls, turns and activities fail.
func TestHookIsToldOfFailures(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	traced := &tracer{}
	panicking := activity.New("Panicking", func(context.Context, string) (string, error) { panic("ouch") })
	def := calling(panicking)
	stop := runWorker(t, store, worker.Options{Hook: traced}, def, panicking)
	c := client.New(store, client.Options{Hook: traced})
	run, err := client.Start(t.Context(), c, def, "f", "")
	if err != nil {
		t.Fatal(err)
	}
	failure(t, run)
	if _, err := client.Start(t.Context(), c, def, "f", ""); !errors.Is(err, client.ErrAlreadyExists) {
		t.Fatal(err)
	}
	if err := c.Cancel(t.Context(), "f", "", client.MustExist()); !errors.Is(err, client.ErrEnded) {
		t.Fatal(err)
	}
	if err := errors.Join(client.RaiseEvent(t.Context(), c, orchestration.NewEvent[string]("e"), "f", ""), client.Enqueue(t.Context(), c, orchestration.NewQueue[string]("q"), "f", "")); err != nil {
		t.Fatal(err)
	}
	stop()
	got := spanNames(traced.all(t))
	for _, want := range []string{
		"start CallPanicking: <nil>",
		`start CallPanicking: instance "f" already exists (CallPanicking, Failed)`,
		`send cancel  to f: cancelling "f": the instance has ended (CallPanicking, Failed)`,
		"send event e to f: <nil>", "send queue q to f: <nil>",
		"turn of CallPanicking 1, first: Running 2",
		"activity Panicking #1: the activity panicked",
		"turn of CallPanicking 1: Failed 4 application",
	} {
		if got[want] != 1 {
			t.Errorf("%d times %q in\n%v", got[want], want, got)
		}
		delete(got, want)
	}
	if len(got) > 0 {
		t.Errorf("also %v", got)
	}
}

// A turn whose effects are not stored says so, and one that fails the instance instead tells
// that.
func TestHookIsToldOfTurnsGivenUp(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	traced := &tracer{}
	waits := make(chan struct{})
	blocks := orchestration.New("Blocks", func(*orchestration.Context, string) (string, error) {
		<-waits
		return "", nil
	})
	t.Cleanup(func() { close(waits) })
	stop := runWorker(t, store, worker.Options{
		Hook: traced, Limits: worker.Limits{BlockedTime: 10 * time.Millisecond, Attempts: 2}, Code: worker.Code{Backoff: time.Millisecond},
	}, blocks)
	failure(t, start(t, store, blocks, ""))
	stop()
	got := spanNames(traced.all(t))
	if got["turn of Blocks 1, first: given up"] != 1 || got["turn of Blocks 1, first: Failed 2 application"] != 1 {
		t.Errorf("the spans are %v", got)
	}
}

// partly is a hook that is told of activities alone.
type partly struct {
	hook.None

	names chan string
}

func (p partly) Activity(ctx context.Context, a hook.Activity) (context.Context, func(error)) {
	p.names <- a.Name + " " + a.Headers
	return ctx, nil
}

// What embeds hook.None hands on what others have sent.
func TestNoneHandsHeadersOn(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	names := make(chan string, 1)
	runWorker(t, store, worker.Options{Hook: partly{names: names}}, callEcho, echo)
	item := provider.StartOrchestrationItem{Instance: "i", Orchestration: "CallEcho", Input: "x", ExecutionID: 1, Headers: "tenant=7"}
	if err := store.EnqueueForOrchestrator(t.Context(), item, 0); err != nil {
		t.Fatal(err)
	}
	if got := receive(t, "the activity runs", names); got != "Echo tenant=7" {
		t.Errorf("the activity is %q", got)
	}
	if _, err := client.Attach[string](client.New(store, client.Options{Hook: hook.None{}}), "i").Wait(deadline(t)); err != nil {
		t.Error(err)
	}
}

// renewing is a hook that gives each execution headers of its own.
type renewing struct{ hook.None }

func (renewing) Turn(_ context.Context, turn hook.Turn) hook.Around {
	return hook.Around{Headers: "in " + turn.Headers, Next: func() string { return turn.Headers + "+" }}
}

// A hook may give the next execution other headers than the activities.
func TestHeadersOfTheNextExecution(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	def := orchestration.New("Twice", func(ctx *orchestration.Context, round int) (string, error) {
		if round == 0 {
			return orchestration.Declare[int, string]("Twice").ContinueAsNew(ctx, 1)
		}
		return "", nil
	})
	runWorker(t, store, worker.Options{Hook: renewing{}}, def)
	run := start(t, store, def, 0)
	result(t, run)
	expectHeaders(t, store, run.Instance(), "+")
}

// listener is a hook that keeps what it is told of, each as a line.
type listener struct {
	mu    sync.Mutex
	lines map[string]int
}

func (l *listener) heard(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lines == nil {
		l.lines = map[string]int{}
	}
	l.lines[fmt.Sprintf(format, args...)]++
}

// expect checks that lines were heard so often; 0 is at least once.
func (l *listener) expect(t *testing.T, want map[string]int) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for line, n := range want {
		if got := l.lines[line]; got == 0 || n > 0 && got != n {
			t.Errorf("heard %d times %q, want %d; all: %v", got, line, n, l.lines)
		}
	}
}

func (l *listener) Start(context.Context, hook.Start) (string, func(error)) { return "", nil }

func (l *listener) Send(context.Context, hook.Message) func(error) { return nil }

func (l *listener) Wait(_ context.Context, instance string) func(error) {
	return func(err error) { l.heard("wait %s: %v", instance, errors.Is(err, context.Canceled)) }
}

func (l *listener) Turn(_ context.Context, turn hook.Turn) hook.Around {
	return hook.Around{Ended: func(end hook.TurnEnd) {
		if end.Failure != nil {
			l.heard("turn of %s: %s %s, %d+%d", turn.Orchestration, end.Status, end.Failure.Category(), len(end.History), len(end.Added))
		}
	}}
}

func (l *listener) Activity(ctx context.Context, a hook.Activity) (context.Context, func(error)) {
	return ctx, func(err error) {
		why := "other"
		if notRun, ok := errors.AsType[*hook.NotRunError](err); ok {
			why = notRun.Details.Category()
		} else if errors.Is(err, hook.ErrCancelled) {
			why = "cancelled"
		}
		l.heard("activity %s: %s", a.Name, why)
	}
}

func (l *listener) Store(_ context.Context, operation string) func(hook.StoreEnd) {
	return func(end hook.StoreEnd) {
		l.heard("store %s: %v", operation, end.Err)
		for range end.Turns {
			l.heard("turn fetched")
		}
		for range end.Activities {
			l.heard("activity fetched")
		}
	}
}

// A hook is told of each call of the store by workers and clients, of what it has fetched, and
// of waits; from the store as it is, and from a plain one.
func TestHookIsToldOfStoreCalls(t *testing.T) {
	t.Parallel()
	for name, store := range map[string]provider.Provider{"store": openStore(t), "plain": unselecting{openStore(t)}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			heard := &listener{}
			stop := runWorker(t, store, worker.Options{Hook: heard, PollTimeout: 10 * time.Millisecond}, callEcho, echo)
			c := client.New(store, client.Options{Hook: heard})
			run, err := client.Start(t.Context(), c, callEcho, "i", "x")
			if err != nil {
				t.Fatal(err)
			}
			result(t, run)
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := c.Wait(ended, "another"); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			stop()
			heard.expect(t, map[string]int{
				"store start_instance: <nil>": 1, "store take: <nil>": 0, "store ack_turn_and_take: <nil>": 2,
				"store ack_work_and_take: <nil>": 1, "turn fetched": 2, "activity fetched": 1,
				"wait i: false": 1, "wait another: true": 1,
			})
		})
	}
}

// A hook is told of what fails without a run of its function, and of activities that were
// cancelled.
func TestHookIsToldOfWhatIsNotRun(t *testing.T) {
	t.Parallel()
	store := providerfault.New(openStore(t),
		providerfault.Rule{
			Operation: providerfault.AckOrchestrationItem, Fault: providerfault.Fault{Fail: providerfault.Busy()},
			If: func(call providerfault.Call) bool { return isAbout(call, "poisoned") && !endsPoisoned(call) },
		},
		providerfault.Rule{
			Operation: providerfault.AckOrchestrationItem, Fault: providerfault.Fault{Fail: providerfault.Refused()}, Times: 1,
			If: func(call providerfault.Call) bool { return isAbout(call, "refused") },
		})
	heard := &listener{}
	began := make(chan struct{})
	endless := activity.New("Endless", func(ctx context.Context, _ string) (string, error) {
		close(began)
		<-ctx.Done()
		return "", nil
	})
	def := orchestration.New("Plain", func(*orchestration.Context, string) (string, error) { return "", nil })
	callEndless := calling(endless)
	stop := runWorker(t, unselecting{store}, worker.Options{
		Hook: heard, Limits: worker.Limits{Attempts: 1}, Leases: worker.Leases{Orchestration: shortLease}, PollTimeout: 10 * time.Millisecond,
		Code: worker.Code{Backoff: 10 * time.Millisecond, MaxBackoff: 10 * time.Millisecond, UnknownTimeout: 300 * time.Millisecond},
	}, def, callEcho, callEndless, endless)
	c := client.New(store, client.Options{})
	for instance, name := range map[string]string{
		"poisoned": "Plain", "refused": "Plain", "unknown": "Nobody", "activity": "CallEcho", "cancelled": "CallEndless",
	} {
		if _, err := client.Start(t.Context(), c, orchestration.Declare[string, any](name), instance, ""); err != nil {
			t.Fatal(err)
		}
	}
	receive(t, "the activity runs", began)
	if err := c.Cancel(t.Context(), "cancelled", ""); err != nil {
		t.Fatal(err)
	}
	for _, instance := range []string{"poisoned", "refused", "unknown", "activity", "cancelled"} {
		if _, err := c.Wait(deadline(t), instance); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	heard.expect(t, map[string]int{
		"turn of Plain: Failed poison, 0+2": 1, "turn of Plain: Failed infrastructure, 0+2": 1, "turn of Nobody: Failed configuration, 0+2": 1,
		"activity Echo: configuration": 1, "activity Endless: cancelled": 1,
	})
}
