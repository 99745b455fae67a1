package orchestrationtest

import (
	"fmt"
	"strings"

	"github.com/duroxide/duroxide-go/internal/replay"
	"github.com/duroxide/duroxide-go/provider"
)

// transcript is what happened, for a test that fails: a line for each event.
type transcript struct {
	lines   []string
	dropped int
}

// maxLines bounds a transcript.
const maxLines = 500

func (tr *transcript) add(line string) {
	if len(tr.lines) == maxLines {
		tr.dropped++
		return
	}
	tr.lines = append(tr.lines, line)
}

func (tr *transcript) String() string {
	text := strings.Join(tr.lines, "\n")
	if tr.dropped > 0 {
		text += fmt.Sprintf("\n... and %d events more", tr.dropped)
	}
	return text
}

// record notes what a turn has recorded.
func (e *Env) record(in *instance, result *replay.Result) {
	for _, event := range result.HistoryDelta {
		if status, ok := event.Kind.(provider.CustomStatusUpdated); ok {
			in.status = status.Status
		}
		if len(e.log.lines) == maxLines {
			e.log.dropped++
			continue
		}
		source := ""
		if event.SourceEventID != nil {
			source = fmt.Sprintf(" (of %d)", *event.SourceEventID)
		}
		e.log.add(fmt.Sprintf("%10v  %s  %3d  %s%s%s", e.elapsed(), in.id, event.EventID, describe(event.Kind), source, at(result.Places[event.EventID])))
	}
	for _, name := range result.Unheard {
		e.log.add(fmt.Sprintf("%10v  %s  nobody waited for event %q, it is lost", e.elapsed(), in.id, name))
	}
}

// describe says what an event is, with its payload.
func describe(kind provider.EventKind) string {
	switch k := kind.(type) {
	case provider.OrchestrationStarted:
		return fmt.Sprintf("%s %s starts with %s", k.Name, k.Version, brief(k.Input))
	case provider.OrchestrationCompleted:
		return "returns " + brief(k.Output)
	case provider.OrchestrationFailed:
		return "fails: " + k.Details.DisplayMessage()
	case provider.OrchestrationContinuedAsNew:
		return "continues as new with " + brief(k.Input)
	case provider.ActivityScheduled:
		return fmt.Sprintf("activity %s(%s)", k.Name, brief(k.Input))
	case provider.ActivityCompleted:
		return "activity returns " + brief(k.Result)
	case provider.ActivityFailed:
		return "activity fails: " + k.Details.DisplayMessage()
	case provider.TimerCreated:
		return "timer"
	case provider.TimerFired:
		return "timer fires"
	case provider.ExternalSubscribed:
		return fmt.Sprintf("wait for event %q", k.Name)
	case provider.ExternalEvent:
		return fmt.Sprintf("event %q with %s", k.Name, brief(k.Data))
	case provider.QueueSubscribed:
		return fmt.Sprintf("dequeue from %q", k.Name)
	case provider.QueueEventDelivered:
		return fmt.Sprintf("message in %q: %s", k.Name, brief(k.Data))
	case provider.SubOrchestrationScheduled:
		return fmt.Sprintf("sub-orchestration %s(%s) as %q", k.Name, brief(k.Input), k.Instance)
	case provider.SubOrchestrationCompleted:
		return "sub-orchestration returns " + brief(k.Result)
	case provider.SubOrchestrationFailed:
		return "sub-orchestration fails: " + k.Details.DisplayMessage()
	case provider.CustomStatusUpdated:
		return fmt.Sprintf("custom status %q", text(k.Status))
	case provider.OrchestrationCancelRequested:
		return "is asked to end: " + k.Reason
	}
	return kind.Type()
}

// brief is a payload's beginning.
func brief(payload string) string {
	const most = 60
	if runes := []rune(payload); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return payload
}
