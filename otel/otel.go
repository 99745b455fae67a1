// Package otel traces orchestrations with OpenTelemetry.
//
//	tracing := otel.New(otel.Config{})
//	w, err := worker.New(store, worker.Options{Hook: tracing})
//	c := client.New(store, client.WithHook(tracing))
//
// An instance is one trace over all processes that work on it: the span of its start, below
// it one for each turn, and below a turn those of the activities and sub-orchestrations that
// it started. A try of a retry policy, an activity that is run again after a crash, and a turn
// that is tried again are spans of their own; replaying makes none. An execution that
// continued as new has a trace of its own, whose first span is linked to the turn before it,
// so that the trace of an instance without an end does not grow for ever.
//
// An activity has its span in its context, so that what it calls, and what it logs with that
// context, belongs to the trace.
//
// The package is a module of its own.
package otel

import (
	"context"
	"encoding/json"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/duroxide/duroxide-go/hook"
	"github.com/duroxide/duroxide-go/provider"
)

// Config configures a hook. The zero value of each field means its default.
type Config struct {
	// TracerProvider makes the spans, default the global one.
	TracerProvider trace.TracerProvider
	// Propagator puts the trace into headers, default [propagation.TraceContext]. Headers are
	// stored.
	Propagator propagation.TextMapPropagator
	// Errors puts the texts of errors into spans. Those of applications may quote payloads, so
	// by default a span says only that there was one.
	Errors bool
}

// Attributes of spans: the fields of the worker's log.
const (
	namespace = "duroxide."

	instanceID   = attribute.Key(namespace + "instance_id")
	executionID  = attribute.Key(namespace + "execution_id")
	name         = attribute.Key(namespace + "orchestration_name")
	version      = attribute.Key(namespace + "orchestration_version")
	parent       = attribute.Key(namespace + "parent_instance_id")
	activityName = attribute.Key(namespace + "activity_name")
	activityID   = attribute.Key(namespace + "activity_id")
	tag          = attribute.Key(namespace + "tag")
	attempt      = attribute.Key(namespace + "attempt")
	workerID     = attribute.Key(namespace + "worker_id")
	status       = attribute.Key(namespace + "status")
	category     = attribute.Key(namespace + "error_category")
)

// New returns a hook for workers and clients. A program needs one.
func New(config Config) hook.Hook {
	if config.TracerProvider == nil {
		config.TracerProvider = otel.GetTracerProvider()
	}
	if config.Propagator == nil {
		config.Propagator = propagation.TraceContext{}
	}
	return &tracing{Config: config, tracer: config.TracerProvider.Tracer("github.com/duroxide/duroxide-go/otel")}
}

type tracing struct {
	hook.None
	Config

	tracer trace.Tracer
}

// begin begins a span, which the caller ends.
func (t *tracing) begin(ctx context.Context, name string, options ...trace.SpanStartOption) (context.Context, trace.Span) {
	return t.tracer.Start(ctx, name, options...) //nolint:spancheck // as said
}

// headers are the span of a context, as they travel.
func (t *tracing) headers(ctx context.Context) string {
	carrier := propagation.MapCarrier{}
	t.Propagator.Inject(ctx, carrier)
	if len(carrier) == 0 {
		return ""
	}
	text, err := json.Marshal(carrier)
	if err != nil {
		return ""
	}
	return string(text)
}

// below is the context with the span of headers, if there is one in them.
func (t *tracing) below(ctx context.Context, headers string) context.Context {
	carrier := propagation.MapCarrier{}
	ctx = trace.ContextWithSpan(ctx, nil) // a worker's own span is nothing to an instance
	if json.Unmarshal([]byte(headers), &carrier) != nil {
		return ctx
	}
	return t.Propagator.Extract(ctx, carrier)
}

// Start implements [hook.Hook]: the span belongs to the caller's.
func (t *tracing) Start(ctx context.Context, s hook.Start) (headers string, ended func(error)) {
	ctx, span := t.begin(ctx, "start "+s.Orchestration, trace.WithSpanKind(trace.SpanKindProducer),
		trace.WithAttributes(instanceID.String(s.Instance), name.String(s.Orchestration)))
	return t.headers(ctx), func(err error) { t.end(span, err) }
}

// Send implements [hook.Hook]: the span belongs to the caller's.
func (t *tracing) Send(ctx context.Context, m hook.Message) (ended func(error)) {
	title := "send " + m.Kind
	if m.Name != "" {
		title += " " + m.Name
	}
	_, span := t.begin(ctx, title, trace.WithSpanKind(trace.SpanKindProducer),
		trace.WithAttributes(instanceID.String(m.Instance)))
	return func(err error) { t.end(span, err) }
}

// Turn implements [hook.Hook].
func (t *tracing) Turn(ctx context.Context, turn hook.Turn) hook.Around {
	ctx, span := t.begin(t.below(ctx, turn.Headers), "orchestration "+turn.Orchestration,
		trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(turnAttributes(turn)...))
	var next trace.Span
	return hook.Around{
		Headers: t.headers(ctx),
		Next: func() string {
			var begun context.Context
			begun, next = t.begin(ctx, "continue "+turn.Orchestration, trace.WithNewRoot(),
				trace.WithLinks(trace.LinkFromContext(ctx)), trace.WithSpanKind(trace.SpanKindProducer),
				trace.WithAttributes(instanceID.String(turn.Instance), name.String(turn.Orchestration)))
			return t.headers(begun)
		},
		Ended: func(end hook.TurnEnd) {
			if !end.Committed {
				t.end(span, errGivenUp)
				return
			}
			if next != nil {
				next.End()
			}
			t.endTurn(span, end)
		},
	}
}

// endTurn ends the span of a turn that is stored.
func (t *tracing) endTurn(span trace.Span, end hook.TurnEnd) {
	if end.Status != provider.StatusRunning {
		span.SetAttributes(status.String(string(end.Status)))
	}
	if end.Failure == nil {
		span.End()
		return
	}
	span.SetAttributes(category.String(end.Failure.Category()))
	t.end(span, failed(end.Failure.DisplayMessage()))
}

// Activity implements [hook.Hook].
func (t *tracing) Activity(ctx context.Context, a hook.Activity) (_ context.Context, ended func(error)) {
	attributes := []attribute.KeyValue{
		instanceID.String(a.Instance), executionID.Int64(int64(a.ExecutionID)), activityName.String(a.Name),
		activityID.Int64(int64(a.ID)), attempt.Int64(int64(a.Attempt)), workerID.String(a.WorkerID),
	}
	if a.Tag != "" {
		attributes = append(attributes, tag.String(a.Tag))
	}
	ctx, span := t.begin(t.below(ctx, a.Headers), "activity "+a.Name,
		trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(attributes...))
	return ctx, func(err error) { t.end(span, err) }
}

// end ends a span, nil for one that went well.
func (t *tracing) end(span trace.Span, err error) {
	if err != nil {
		text := ""
		if t.Errors {
			text = err.Error()
		}
		span.SetStatus(codes.Error, text)
	}
	span.End()
}

func turnAttributes(turn hook.Turn) []attribute.KeyValue {
	list := []attribute.KeyValue{
		instanceID.String(turn.Instance), executionID.Int64(int64(turn.ExecutionID)),
		name.String(turn.Orchestration), version.String(turn.Version),
		attempt.Int64(int64(turn.Attempt)), workerID.String(turn.WorkerID),
	}
	if turn.Parent != "" {
		list = append(list, parent.String(turn.Parent))
	}
	return list
}

// failed is the text of a failure as an error.
type failed string

func (f failed) Error() string { return string(f) }

// errGivenUp is the end of a turn whose effects are not stored.
const errGivenUp = failed("the turn was not committed")
