// Package otel traces and measures orchestrations with OpenTelemetry.
//
//	telemetry := otel.New(otel.Options{Store: store})
//	w, err := worker.New(store, worker.Options{Hook: telemetry})
//	c := client.New(store, client.Options{Hook: telemetry})
//
// An instance is one trace across all processes that work on it. The root is the span of its start. Below it is one
// span for each turn, and below a turn are the spans of the activities and sub-orchestrations that it started. Each
// attempt of a retry policy, each repetition of an activity after a crash, and each repetition of a turn has a span
// of its own. Replaying makes no spans. When an execution continues as new, the next execution has a trace of its
// own, whose first span links to the last turn before it. So the trace of an instance that never ends does not grow
// for ever.
//
// An activity has its span in its context, so that what it calls, and what it logs with that
// context, belongs to the trace.
//
// Metrics have Duroxide's names, labels and buckets, for example duroxide_orchestration_completions_total. Labels are
// names of orchestrations, activities, events and tags. The first 200 names of each kind have labels of their own;
// the rest share the label "other". Instance ids are never labels. docs/observability.md lists all metrics.
//
// Without an exporter, spans and metrics cost next to nothing. The package is a module of its
// own.
package otel

import (
	"context"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/duroxide/duroxide-go/hook"
	"github.com/duroxide/duroxide-go/provider"
)

// Options adjust a hook. The zero value of each field means its default.
type Options struct {
	// TracerProvider makes the spans, default the global one.
	TracerProvider trace.TracerProvider
	// MeterProvider makes the metrics, default the global one.
	MeterProvider metric.MeterProvider
	// Propagator writes the trace context into headers, default [propagation.TraceContext]. The store keeps the
	// headers with the work.
	Propagator propagation.TextMapPropagator
	// Errors puts the texts of errors into spans. They may quote payloads, so by default a span records only that
	// there was an error.
	Errors bool
	// Store is read when metrics are collected, at most every 30 s, for five kinds of gauges: running instances,
	// queued work, work that no worker can do, held instances, and dead letters. They describe the whole store, so each
	// process that sets Store reports the same values. Default nil: no such gauges. A store without [provider.Admin]
	// has none either. Shut the MeterProvider down before you close the store.
	Store provider.Provider
}

const scope = "github.com/duroxide/duroxide-go/otel"

// New returns a hook for workers and clients. A program needs one for each store.
func New(options Options) hook.Hook {
	if options.TracerProvider == nil {
		options.TracerProvider = otel.GetTracerProvider()
	}
	if options.MeterProvider == nil {
		options.MeterProvider = otel.GetMeterProvider()
	}
	if options.Propagator == nil {
		options.Propagator = propagation.TraceContext{}
	}
	build := &instruments{meter: options.MeterProvider.Meter(scope)}
	observe(options.Store, build)
	return &telemetry{
		tracing: &tracing{Options: options, tracer: options.TracerProvider.Tracer(scope)},
		metrics: newMetrics(build),
	}
}

// telemetry traces and measures what it is told of.
type telemetry struct {
	tracing *tracing
	metrics *metrics
}

// Start implements [hook.Hook].
func (t *telemetry) Start(ctx context.Context, s hook.Start) (headers string, ended func(error)) {
	headers, traced := t.tracing.Start(ctx, s)
	return headers, func(err error) {
		traced(err)
		if err == nil {
			t.metrics.clients.starts.add(ctx, 1, t.metrics.orchestration.of(s.Orchestration))
		}
	}
}

// Send implements [hook.Hook].
func (t *telemetry) Send(ctx context.Context, m hook.Message) (ended func(error)) {
	traced := t.tracing.Send(ctx, m)
	return func(err error) {
		traced(err)
		t.metrics.sent(ctx, m, err)
	}
}

// Wait implements [hook.Hook].
func (t *telemetry) Wait(ctx context.Context, _ string) (ended func(error)) {
	if t.metrics.silent(ctx) {
		return nil
	}
	began := time.Now()
	return func(error) { t.metrics.clients.seconds.record(ctx, time.Since(began).Seconds()) }
}

// Turn implements [hook.Hook].
func (t *telemetry) Turn(ctx context.Context, turn hook.Turn) hook.Around {
	began := time.Now()
	around := t.tracing.Turn(ctx, turn)
	if t.metrics.silent(ctx) {
		return around
	}
	traced := around.Ended
	around.Ended = func(end hook.TurnEnd) {
		traced(end)
		t.metrics.ranTurn(ctx, turn, time.Since(began), end)
	}
	return around
}

// Activity implements [hook.Hook].
func (t *telemetry) Activity(ctx context.Context, a hook.Activity) (_ context.Context, ended func(error)) {
	began := time.Now()
	ctx, traced := t.tracing.Activity(ctx, a)
	if t.metrics.silent(ctx) {
		return ctx, traced
	}
	return ctx, func(err error) {
		traced(err)
		t.metrics.ranActivity(ctx, a, time.Since(began), err)
	}
}

// Store implements [hook.Hook].
func (t *telemetry) Store(ctx context.Context, operation string) (ended func(hook.StoreEnd)) {
	if t.metrics.silent(ctx) {
		return nil
	}
	began := time.Now()
	return func(end hook.StoreEnd) { t.metrics.called(ctx, operation, time.Since(began), end) }
}
