package otel_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/otel"
	"github.com/duroxide/duroxide-go/provider/sqlite"
	"github.com/duroxide/duroxide-go/retry"
	"github.com/duroxide/duroxide-go/worker"
)

const secret = "secret-4711"

// process is a process of its own: its spans and its worker.
type process struct {
	exporter *tracetest.InMemoryExporter
	provider *sdktrace.TracerProvider
	client   *client.Client
	stop     func()
}

// begin starts a process on a store.
func begin(t *testing.T, store *sqlite.Store, options otel.Options, cached int, definitions ...worker.Registrable) *process {
	t.Helper()
	p := &process{exporter: tracetest.NewInMemoryExporter()}
	p.provider = sdktrace.NewTracerProvider(sdktrace.WithSyncer(p.exporter))
	options.TracerProvider = p.provider
	tracing := otel.New(options)
	p.client = client.New(store, client.Options{Hook: tracing})
	w, err := worker.New(store, worker.Options{Hook: tracing, Cache: worker.Cache{Instances: cached}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Register(definitions...); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	p.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(p.stop)
	return p
}

func openStore(t *testing.T) *sqlite.Store {
	t.Helper()
	store, err := sqlite.OpenMemory(t.Context(), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func deadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// The spans of a parent, its child, the tries of a retry policy, and what a second process
// does after the first has stopped are one trace, below the caller's span. The execution
// that continues as new has another trace, linked to the turn before it. There is one span
// for each thing that was done, whether functions are kept in memory or replayed.
func TestTraces(t *testing.T) {
	t.Parallel()
	for name, cached := range map[string]int{"cached": 0, "replayed": worker.None} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testTraces(t, cached)
		})
	}
}

func testTraces(t *testing.T, cached int) {
	t.Helper()
	store := openStore(t)
	var tries sync.Map
	var inside []trace.SpanContext // of the activity's calls, one after the other
	flaky := activity.New("Flaky", func(ctx context.Context, round string) (string, error) {
		inside = append(inside, trace.SpanContextFromContext(ctx))
		if _, again := tries.LoadOrStore(round, true); !again {
			return "", errors.New(secret)
		}
		return round, nil
	})
	child := orchestration.New("Child", func(ctx *orchestration.Context, round string) (string, error) {
		policy := retry.Policy{MaxAttempts: 2, Backoff: retry.Constant(time.Millisecond)}
		return orchestration.Activity(ctx, flaky, round, orchestration.WithRetry(policy)).Await()
	})
	parent := orchestration.New("Parent", func(ctx *orchestration.Context, round string) (string, error) {
		event := orchestration.NewEvent[string]("go").Wait(ctx)
		result, err := orchestration.SubOrchestration(ctx, child, round).Await()
		if err != nil || round == "two" {
			return result, err
		}
		ctx.SetCustomStatus("waiting")
		if _, err := event.Await(); err != nil {
			return "", err
		}
		return orchestration.Declare[string, string]("Parent").ContinueAsNew(ctx, "two")
	})
	one := begin(t, store, otel.Options{}, cached, parent, child, flaky)
	ctx, span := one.provider.Tracer("test").Start(t.Context(), "caller")
	run, err := client.Start(ctx, one.client, parent, "p", "one")
	span.End()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := one.client.WaitForCustomStatus(deadline(t), "p", 0); err != nil {
		t.Fatal(err)
	}
	one.stop()
	two := begin(t, store, otel.Options{}, cached, parent, child, flaky)
	if err := client.RaiseEvent(t.Context(), client.New(store, client.Options{}), orchestration.NewEvent[string]("go"), "p", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Wait(deadline(t)); err != nil {
		t.Fatal(err)
	}
	two.stop()

	spans := slices.Concat(one.exporter.GetSpans(), two.exporter.GetSpans())
	traces := connected(t, spans)
	if len(traces) != 2 {
		t.Fatalf("%d traces, want 2", len(traces))
	}
	first, second := spans[0].SpanContext.TraceID(), trace.TraceID{}
	for id := range traces {
		if id != first {
			second = id
		}
	}
	// The child: starts the activity, the pause, the activity again, and ends.
	work := []string{
		"activity Flaky", "activity Flaky",
		"orchestration Child", "orchestration Child", "orchestration Child", "orchestration Child",
	}
	expect(t, traces[first], append(work, "caller", "orchestration Parent", "orchestration Parent", "orchestration Parent", "start Parent"))
	expect(t, traces[second], append(work, "continue Parent", "orchestration Parent", "orchestration Parent"))
	expectLink(t, traces[second], traces[first])
	for _, sc := range inside { // what the activity calls belongs to its span
		if !slices.ContainsFunc(spans, func(s tracetest.SpanStub) bool {
			return s.SpanContext.SpanID() == sc.SpanID() && s.Name == "activity Flaky"
		}) {
			t.Errorf("the activity ran in %v", sc.SpanID())
		}
	}
	for _, s := range spans {
		if text := fmt.Sprint(s.Name, s.Attributes, s.Status, s.Events); strings.Contains(text, secret) {
			t.Errorf("a span shows it: %s", text)
		}
	}
}

// connected groups spans by trace, and checks that each has its parent in there, but one.
func connected(t *testing.T, spans []tracetest.SpanStub) map[trace.TraceID][]tracetest.SpanStub {
	t.Helper()
	traces := map[trace.TraceID][]tracetest.SpanStub{}
	for _, s := range spans {
		traces[s.SpanContext.TraceID()] = append(traces[s.SpanContext.TraceID()], s)
	}
	for id, list := range traces {
		roots := 0
		for _, s := range list {
			switch {
			case !s.Parent.IsValid():
				roots++
			case !slices.ContainsFunc(list, func(other tracetest.SpanStub) bool { return other.SpanContext.SpanID() == s.Parent.SpanID() }):
				t.Errorf("the parent of %q is not in trace %v", s.Name, id)
			}
		}
		if roots != 1 {
			t.Errorf("trace %v has %d roots", id, roots)
		}
	}
	return traces
}

// expect compares the names of the spans.
func expect(t *testing.T, spans []tracetest.SpanStub, want []string) {
	t.Helper()
	var got []string
	for _, s := range spans {
		got = append(got, s.Name)
	}
	slices.Sort(got)
	if want = slices.Sorted(slices.Values(want)); !slices.Equal(got, want) {
		t.Errorf("the spans are\n%q, want\n%q", got, want)
	}
}

// expectLink checks that the root of a trace is linked to the last turn of the one before.
func expectLink(t *testing.T, spans, before []tracetest.SpanStub) {
	t.Helper()
	for _, s := range spans {
		if s.Parent.IsValid() {
			continue
		}
		if len(s.Links) != 1 || !slices.ContainsFunc(before, func(other tracetest.SpanStub) bool {
			return other.Name == "orchestration Parent" && other.SpanContext.SpanID() == s.Links[0].SpanContext.SpanID() &&
				strings.Contains(fmt.Sprint(other.Attributes), "ContinuedAsNew")
		}) {
			t.Errorf("%q has the links %+v", s.Name, s.Links)
		}
	}
}

// Failures are errors of their spans: without a text, which may quote payloads, unless
// Options.Errors asks for it.
func TestErrors(t *testing.T) {
	t.Parallel()
	for _, texts := range []bool{false, true} {
		t.Run(fmt.Sprint(texts), func(t *testing.T) {
			t.Parallel()
			failing := activity.New("Failing", func(context.Context, string) (string, error) { return "", errors.New(secret) })
			def := orchestration.New("Fails", func(ctx *orchestration.Context, _ string) (string, error) {
				return orchestration.Activity(ctx, failing, "").Await()
			})
			p := begin(t, openStore(t), otel.Options{Errors: texts}, 0, def, failing)
			run, err := client.Start(t.Context(), p.client, def, "f", "")
			if err != nil {
				t.Fatal(err)
			}
			_, err = run.Wait(deadline(t))
			if _, ok := errors.AsType[*client.FailedError](err); !ok {
				t.Fatal(err)
			}
			if _, err := client.Start(t.Context(), p.client, def, "f", ""); !errors.Is(err, client.ErrAlreadyExists) {
				t.Fatal(err)
			}
			if err := p.client.Cancel(t.Context(), "f", ""); err != nil {
				t.Fatal(err)
			}
			if err := client.RaiseEvent(t.Context(), p.client, orchestration.NewEvent[string]("go"), "f", ""); err != nil {
				t.Fatal(err)
			}
			p.stop()
			var failed []string
			for _, s := range p.exporter.GetSpans() {
				if s.Status.Code == codes.Error {
					failed = append(failed, s.Name)
					if texts != (s.Status.Description != "") {
						t.Errorf("the error of %q is %q", s.Name, s.Status.Description)
					}
				}
			}
			slices.Sort(failed)
			if want := []string{"activity Failing", "orchestration Fails", "start Fails"}; !slices.Equal(failed, want) {
				t.Errorf("failed are %q, want %q", failed, want)
			}
			expect(t, p.exporter.GetSpans(), []string{
				"start Fails", "start Fails", "send cancel", "send event go",
				"orchestration Fails", "orchestration Fails", "activity Failing",
			})
		})
	}
}

// Headers that are no trace begin one, and a propagator that carries nothing leaves none.
func TestStrangeHeaders(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	def := orchestration.New("Plain", func(_ *orchestration.Context, text string) (string, error) { return text, nil })
	p := begin(t, store, otel.Options{Propagator: propagation.Baggage{}}, 0, def)
	run, err := client.Start(t.Context(), p.client, def, "i", "x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Wait(deadline(t)); err != nil {
		t.Fatal(err)
	}
	p.stop()
	for _, s := range p.exporter.GetSpans() {
		if s.Parent.IsValid() {
			t.Errorf("%q has a parent", s.Name)
		}
	}
}
