package worker

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker/internal/turns"
)

// poisoned fails an instance whose batch was fetched too often. Behind an execution that
// continued as new the failure is the next execution's, whose start may be missing.
func (t *turn) poisoned(ctx context.Context) verdict {
	execution, history := t.item.ExecutionID, t.item.History
	started := provider.OrchestrationStarted{Name: t.item.OrchestrationName, Version: t.item.Version}
	switch b, err := t.batch().Begin(); {
	case t.batch().End() == turns.Continued:
		execution, history = execution+1, nil
		started = t.batch().FailedNext()
	case err == nil:
		started = b.Started
		if started.Version == "" {
			started.Version = t.item.Version
		}
	}
	text := t.worker.poisonText(describeCode(anOrchestration, provider.CodeName{Name: started.Name, Version: started.Version})+
		" (versions known to this worker: "+describeVersions(t.worker.registry.Versions(started.Name))+")", t.key())
	delta := failureDelta(t.item.Instance, execution, history, started, provider.PoisonFailure{
		AttemptCount: t.fetched.AttemptCount, MaxAttempts: t.worker.options.MaxAttempts,
		MessageType: provider.PoisonOrchestration{Instance: t.item.Instance, ExecutionID: execution},
		Message:     text + "\n" + messagesJSON(t.item.Messages),
	})
	t.logger.WarnContext(ctx, "an orchestration was fetched too often and fails", "attempt", t.fetched.AttemptCount)
	return failure{executionID: execution, started: started, delta: delta, otherwise: giveBack{Delay: time.Second}}
}

// poisonText is the line that says of poisoned work what it is and how it failed last.
func (w *Worker) poisonText(what string, key workKey) string {
	last, ok := w.failures.get(key)
	if !ok {
		last = "not known to this worker, which did not see it fail"
	}
	w.failures.forget(key)
	return strings.ReplaceAll(what+"; last error: "+last, "\n", " ")
}

// failed remembers why work was given back, for the text of a poison.
func (w *Worker) failed(key workKey, reason error) {
	w.failures.update(key, func(string) string { return reason.Error() })
}

// failureDelta ends a history with a failure, writing event 1 first if need be.
func failureDelta(instance string, execution uint64, history []provider.Event, started provider.OrchestrationStarted, details provider.ErrorDetails) []provider.Event {
	if len(history) > 0 {
		last := history[len(history)-1].EventID
		return []provider.Event{newEvent(instance, execution, last+1, provider.OrchestrationFailed{Details: details})}
	}
	return []provider.Event{
		newEvent(instance, execution, 1, started),
		newEvent(instance, execution, 2, provider.OrchestrationFailed{Details: details}),
	}
}

func newEvent(instance string, execution, id uint64, kind provider.EventKind) provider.Event {
	return provider.Event{
		EventID: id, InstanceID: instance, ExecutionID: execution,
		TimestampMs: nowMs(), DuroxideVersion: provider.FrameworkVersion, Kind: kind,
	}
}

// messagesJSON is the offending batch, as Poison details hold it.
func messagesJSON(messages []provider.WorkItem) string {
	list := make([]json.RawMessage, 0, len(messages))
	for _, message := range messages {
		if data, err := provider.EncodeWorkItem(message); err == nil {
			list = append(list, data)
		}
	}
	data, err := json.Marshal(list)
	if err != nil {
		return "[]"
	}
	return string(data)
}
