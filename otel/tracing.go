package otel

import (
	"context"
	"encoding/json"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/duroxide/duroxide-go/hook"
	"github.com/duroxide/duroxide-go/provider"
)

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

// tracing makes the spans.
type tracing struct {
	Options

	tracer trace.Tracer
}

// The options of spans, made once.
var (
	producer = trace.WithSpanKind(trace.SpanKindProducer)
	consumer = trace.WithSpanKind(trace.SpanKindConsumer)
)

// begin begins a span, which the caller ends. Its attributes are set when it is known that
// somebody reads them.
func (t *tracing) begin(ctx context.Context, name string, options ...trace.SpanStartOption) (context.Context, trace.Span) {
	return t.tracer.Start(ctx, name, options...) //nolint:spancheck // as said
}

// headers are the span of a context, as they travel.
func (t *tracing) headers(ctx context.Context) string {
	if _, traceOnly := t.Propagator.(propagation.TraceContext); traceOnly && !trace.SpanContextFromContext(ctx).IsValid() {
		return ""
	}
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
	if trace.SpanContextFromContext(ctx).IsValid() {
		ctx = trace.ContextWithSpan(ctx, nil) // a worker's own span is nothing to an instance
	}
	carrier := propagation.MapCarrier{}
	if headers == "" || json.Unmarshal([]byte(headers), &carrier) != nil {
		return ctx
	}
	return t.Propagator.Extract(ctx, carrier)
}

// Start is [hook.Hook]'s: the span belongs to the caller's.
func (t *tracing) Start(ctx context.Context, s hook.Start) (headers string, ended func(error)) {
	ctx, span := t.begin(ctx, "start "+s.Orchestration, producer)
	if span.IsRecording() {
		span.SetAttributes(instanceID.String(s.Instance), name.String(s.Orchestration))
	}
	return t.headers(ctx), func(err error) { t.end(span, err) }
}

// Send is [hook.Hook]'s: the span belongs to the caller's.
func (t *tracing) Send(ctx context.Context, m hook.Message) (ended func(error)) {
	title := "send " + m.Kind
	if m.Name != "" {
		title += " " + m.Name
	}
	_, span := t.begin(ctx, title, producer)
	if span.IsRecording() {
		span.SetAttributes(instanceID.String(m.Instance))
	}
	return func(err error) { t.end(span, err) }
}

// Turn is [hook.Hook]'s.
func (t *tracing) Turn(ctx context.Context, turn hook.Turn) hook.Around {
	ctx, span := t.begin(t.below(ctx, turn.Headers), "orchestration "+turn.Orchestration, consumer)
	if span.IsRecording() {
		span.SetAttributes(turnAttributes(turn)...)
	}
	var next trace.Span
	return hook.Around{
		Headers: t.headers(ctx),
		Next: func() string {
			var begun context.Context
			begun, next = t.begin(ctx, "continue "+turn.Orchestration, trace.WithNewRoot(),
				trace.WithLinks(trace.LinkFromContext(ctx)), producer,
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

// Activity is [hook.Hook]'s.
func (t *tracing) Activity(ctx context.Context, a hook.Activity) (_ context.Context, ended func(error)) {
	ctx, span := t.begin(t.below(ctx, a.Headers), "activity "+a.Name, consumer)
	if span.IsRecording() {
		span.SetAttributes(
			instanceID.String(a.Instance), executionID.Int64(int64(a.ExecutionID)), activityName.String(a.Name),
			activityID.Int64(int64(a.ID)), attempt.Int64(int64(a.Attempt)), workerID.String(a.WorkerID),
		)
		if a.Tag != "" {
			span.SetAttributes(tag.String(a.Tag))
		}
	}
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
