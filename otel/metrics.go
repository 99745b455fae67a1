package otel

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/duroxide/duroxide-go/hook"
	"github.com/duroxide/duroxide-go/provider"
)

// metrics counts what a hook is told of, under the contract's names.
type metrics struct {
	orchestration, activity, event, version, tag *label
	// made are all instruments.
	made []enabler

	orchestrations struct {
		starts, completions, failures, infrastructure, configuration, continued, poison counter
		seconds, history, turns                                                         histogram
		fetched                                                                         counter
		milliseconds                                                                    histogram
	}
	children struct {
		calls   counter
		seconds histogram
	}
	activities struct {
		executions, infrastructure, configuration, poison counter
		seconds                                           histogram
		fetched                                           counter
		milliseconds                                      histogram
	}
	store struct {
		seconds histogram
		errors  counter
	}
	clients struct {
		starts, events, cancellations counter
		seconds                       histogram
	}
}

func newMetrics(build *instruments) *metrics {
	m := &metrics{
		orchestration: newLabel("orchestration_name"), activity: newLabel("activity_name"),
		event: newLabel("event_name"), version: newLabel("version"), tag: newLabel("tag"),
	}
	o := &m.orchestrations
	o.starts = build.counter("orchestration_starts_total", "Executions that began.")
	o.completions = build.counter("orchestration_completions_total", "Executions that ended, in whatever way.")
	o.failures = build.counter("orchestration_failures_total", "Executions that failed.")
	o.seconds = build.histogram("orchestration_duration_seconds", "From the beginning of an execution to its end.", orchestrationSeconds)
	o.history = build.histogram("orchestration_history_size", "Events of an execution that ended.", historyEvents)
	o.turns = build.histogram("orchestration_turns", "Turns of an execution that ended, as far as its history tells them apart.", turnCounts)
	o.infrastructure = build.counter("orchestration_infrastructure_errors_total", "Executions that the store failed.")
	o.configuration = build.counter("orchestration_configuration_errors_total", "Executions whose code did not fit, or that nobody had.")
	o.continued = build.counter("orchestration_continue_as_new_total", "Executions that continued as new.")
	o.poison = build.counter("orchestration_poison_total", "Executions that failed because they were fetched too often.")
	o.fetched = build.counter("orchestration_dispatcher_items_fetched", "Turns that were fetched.")
	o.milliseconds = build.histogram("orchestration_dispatcher_processing_duration_ms", "Turns, from their function's run to their commit.", milliseconds)
	m.children.calls = build.counter("suborchestration_calls_total", "Sub-orchestrations that ended.")
	m.children.seconds = build.histogram("suborchestration_duration_seconds", "From the call of a sub-orchestration to its result.", childSeconds)
	a := &m.activities
	a.executions = build.counter("activity_executions_total", "Runs of activities.")
	a.seconds = build.histogram("activity_duration_seconds", "Runs of activities.", activitySeconds)
	a.infrastructure = build.counter("activity_infrastructure_errors_total", "Activities that returned an error of a store.")
	a.configuration = build.counter("activity_configuration_errors_total", "Activities that no worker had.")
	a.poison = build.counter("activity_poison_total", "Activities that failed because they were fetched too often.")
	a.fetched = build.counter("worker_dispatcher_items_fetched", "Activities that were fetched.")
	a.milliseconds = build.histogram("worker_dispatcher_execution_duration_ms", "Runs of activities.", milliseconds)
	m.store.seconds = build.histogram("provider_operation_duration_seconds", "Calls of the store; fetches with their wait.", storeSeconds)
	m.store.errors = build.counter("provider_errors_total", "Calls of the store that failed.")
	m.clients.starts = build.counter("client_orchestration_starts_total", "Starts by clients.")
	m.clients.events = build.counter("client_external_events_raised_total", "Events and queue messages sent by clients.")
	m.clients.cancellations = build.counter("client_cancellations_total", "Cancellations requested by clients.")
	m.clients.seconds = build.histogram("client_wait_duration_seconds", "Waits of clients.", orchestrationSeconds)
	m.made = build.made
	return m
}

// silent reports that nobody reads any metric, so that none has to be made.
func (m *metrics) silent(ctx context.Context) bool {
	for _, instrument := range m.made {
		if instrument.Enabled(ctx) {
			return false
		}
	}
	return true
}

// sent counts a client's message.
func (m *metrics) sent(ctx context.Context, message hook.Message, err error) {
	switch {
	case err != nil:
	case message.Kind == "cancel":
		m.clients.cancellations.add(ctx, 1)
	default:
		m.clients.events.add(ctx, 1, m.event.of(message.Name))
	}
}

// called counts a call of the store. One that its caller has cancelled is neither a success nor
// the store's error.
func (m *metrics) called(ctx context.Context, operation string, took time.Duration, end hook.StoreEnd) {
	m.orchestrations.fetched.add(ctx, end.Turns)
	m.activities.fetched.add(ctx, end.Activities)
	by, status := attribute.String("operation", operation), "success"
	if errors.Is(end.Err, context.Canceled) {
		return
	}
	if end.Err != nil {
		status = "error"
		m.store.errors.add(ctx, 1, by, attribute.String("error_type", storeErrorType(end.Err)))
	}
	m.store.seconds.record(ctx, took.Seconds(), by, attribute.String("status", status))
}

// ranActivity counts an activity.
func (m *metrics) ranActivity(ctx context.Context, a hook.Activity, took time.Duration, err error) {
	outcome := outcome(err)
	if outcome == "" {
		m.activities.poison.add(ctx, 1)
		return
	}
	name := m.activity.of(a.Name)
	labels := []attribute.KeyValue{name, attribute.String("outcome", outcome), m.tag.of(cmp.Or(a.Tag, "default"))}
	m.activities.executions.add(ctx, 1, append(labels, attribute.String("retry_attempt", tries(a.Attempt)))...)
	switch outcome {
	case "config_error": // it did not run
		m.activities.configuration.add(ctx, 1, name)
		return
	case "infra_error":
		m.activities.infrastructure.add(ctx, 1, name)
	}
	m.activities.seconds.record(ctx, took.Seconds(), labels...)
	m.activities.milliseconds.record(ctx, float64(took)/float64(time.Millisecond))
}

// ranTurn counts a turn and, if it is committed, what came of it.
func (m *metrics) ranTurn(ctx context.Context, turn hook.Turn, took time.Duration, end hook.TurnEnd) {
	o := &m.orchestrations
	o.milliseconds.record(ctx, float64(took)/float64(time.Millisecond))
	if !end.Committed {
		return
	}
	name, version := m.orchestration.of(turn.Orchestration), m.version.of(turn.Version)
	if len(end.Added) > 0 && end.Added[0].EventID == 1 {
		o.starts.add(ctx, 1, name, version, attribute.String("initiated_by", initiatedBy(turn)))
	}
	m.endedChildren(ctx, turn, end)
	if !end.Status.Terminal() {
		return
	}
	turns := countTurns(end.History)
	status := attribute.String("status", ending(end.Status))
	o.completions.add(ctx, 1, name, version, status, attribute.String("final_turn_count", turnRange(turns)))
	if took, ok := duration(end); ok {
		o.seconds.record(ctx, took, name, version, status)
	}
	o.history.record(ctx, float64(end.Events), name)
	o.turns.record(ctx, float64(turns), name)
	if end.Status == provider.StatusContinuedAsNew {
		o.continued.add(ctx, 1, name)
	}
	if end.Failure != nil {
		m.failed(ctx, name, version, end.Failure)
	}
}

// failed counts an execution that failed.
func (m *metrics) failed(ctx context.Context, name, version attribute.KeyValue, failure provider.ErrorDetails) {
	category := attribute.String("error_category", failure.Category())
	m.orchestrations.failures.add(ctx, 1, name, version, attribute.String("error_type", errorType(failure)), category)
	switch failure.(type) {
	case provider.InfrastructureFailure:
		m.orchestrations.infrastructure.add(ctx, 1, name, category)
	case provider.ConfigurationFailure:
		m.orchestrations.configuration.add(ctx, 1, name, category)
	case provider.PoisonFailure:
		m.orchestrations.poison.add(ctx, 1)
	}
}

// endedChildren counts the sub-orchestrations of which the turn has heard that they ended.
func (m *metrics) endedChildren(ctx context.Context, turn hook.Turn, end hook.TurnEnd) {
	for _, event := range end.Added {
		outcome := "success"
		switch event.Kind.(type) {
		case provider.SubOrchestrationCompleted:
		case provider.SubOrchestrationFailed:
			outcome = "failed"
		default:
			continue
		}
		call, scheduled, ok := callOf(event, end.History)
		if !ok {
			continue
		}
		labels := []attribute.KeyValue{
			attribute.String("parent_orchestration", m.orchestration.bounded(turn.Orchestration)),
			attribute.String("child_orchestration", m.orchestration.bounded(scheduled.Name)), attribute.String("outcome", outcome),
		}
		m.children.calls.add(ctx, 1, labels...)
		m.children.seconds.record(ctx, seconds(call, event), labels...)
	}
}

// callOf finds the call of the sub-orchestration that an event is about.
func callOf(event provider.Event, history []provider.Event) (provider.Event, provider.SubOrchestrationScheduled, bool) {
	if event.SourceEventID == nil {
		return provider.Event{}, provider.SubOrchestrationScheduled{}, false
	}
	i, found := slices.BinarySearchFunc(history, *event.SourceEventID, func(e provider.Event, id uint64) int { return cmp.Compare(e.EventID, id) })
	if !found {
		return provider.Event{}, provider.SubOrchestrationScheduled{}, false
	}
	scheduled, ok := history[i].Kind.(provider.SubOrchestrationScheduled)
	return history[i], scheduled, ok
}

// duration is how long an execution took. ok is false when its history could not be read.
func duration(end hook.TurnEnd) (_ float64, ok bool) {
	events := end.History
	if len(events) == 0 {
		events = end.Added
	}
	if len(end.Added) == 0 || events[0].EventID != 1 {
		return 0, false
	}
	return seconds(events[0], end.Added[len(end.Added)-1]), true
}

// seconds are between two events.
func seconds(from, to provider.Event) float64 {
	return max(0, float64(to.TimestampMs)-float64(from.TimestampMs)) / 1000
}

// countTurns is the number of turns of an execution, with the one behind the history. A history
// does not name them: one begins with what arrives after the code has decided something, or
// later than what arrived before.
func countTurns(history []provider.Event) int64 {
	if len(history) == 0 {
		return 1
	}
	turns := int64(2)
	for i, event := range history[1:] {
		before := history[i]
		if i > 0 && arrives(event) && (!arrives(before) || event.TimestampMs != before.TimestampMs) {
			turns++
		}
	}
	return turns
}

// arrives reports an event that was a message to the execution.
func arrives(event provider.Event) bool {
	switch event.Kind.(type) {
	case provider.ActivityCompleted, provider.ActivityFailed, provider.TimerFired, provider.SubOrchestrationCompleted,
		provider.SubOrchestrationFailed, provider.ExternalEvent, provider.QueueEventDelivered, provider.OrchestrationCancelRequested:
		return true
	}
	return false
}
