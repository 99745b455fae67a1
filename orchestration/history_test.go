package orchestration_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/internal/registry"
	"github.com/duroxide/duroxide-go/internal/replay"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
)

// script runs an orchestration turn by turn on a clock of its own, each turn from its start,
// and keeps the history.
type script struct {
	t       testing.TB
	fn      replay.Func
	started provider.OrchestrationStarted
	nowMs   uint64
	history []provider.Event
	// misfits counts those that the turns have told.
	misfits int
}

// scripted begins an instance, whose id is "i".
func scripted[I, O any](t testing.TB, def orchestration.Definition[I, O], input string) *script {
	t.Helper()
	r := registry.New()
	if err := def.Register(r); err != nil {
		t.Fatal(err)
	}
	fn, _, _ := r.Orchestration(def.Name(), "")
	s := &script{t: t, fn: fn, nowMs: 1_000_000, started: provider.OrchestrationStarted{Name: def.Name(), Version: def.Version(), Input: input}}
	s.turn()
	return s
}

func (s *script) turn(messages ...provider.WorkItem) {
	s.t.Helper()
	result, err := replay.Run(s.t.Context(), replay.Turn{
		Instance: "i", ExecutionID: 1, Func: s.fn, History: s.history, Started: s.started, Messages: messages,
		FrameworkVersion: "0.1.32", NowMs: func() uint64 { return s.nowMs },
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.history = append(s.history, result.HistoryDelta...)
	s.misfits += len(result.Unreadable)
}

// happen makes a turn of what a step says about the event of that id: "2 fires", "2 returns
// text" or "2 fails text", of an activity or a sub-orchestration. A timer fires when it is due.
func (s *script) happen(step string) {
	s.t.Helper()
	var id uint64
	if _, err := fmt.Sscan(step, &id); err != nil || id > uint64(len(s.history)) {
		s.t.Fatalf("step %q: %v", step, err)
	}
	_, what, _ := strings.Cut(step, " ")
	verb, text, _ := strings.Cut(what, " ")
	failure := provider.Application{Kind: provider.AppActivityFailed, Message: text}
	switch k := s.history[id-1].Kind.(type) {
	case provider.TimerCreated:
		s.nowMs = max(s.nowMs, k.FireAtMs)
		s.turn(provider.TimerFiredItem{Instance: "i", ExecutionID: 1, ID: id, FireAtMs: k.FireAtMs})
	case provider.ActivityScheduled:
		if verb == "fails" {
			s.turn(provider.ActivityFailedItem{Instance: "i", ExecutionID: 1, ID: id, Details: failure})
		} else {
			s.turn(provider.ActivityCompletedItem{Instance: "i", ExecutionID: 1, ID: id, Result: text})
		}
	case provider.SubOrchestrationScheduled:
		if verb == "fails" {
			s.turn(provider.SubOrchFailedItem{ParentInstance: "i", ParentExecutionID: 1, ParentID: id, Details: failure})
		} else {
			s.turn(provider.SubOrchCompletedItem{ParentInstance: "i", ParentExecutionID: 1, ParentID: id, Result: text})
		}
	default:
		s.t.Fatalf("step %q: event %d is %s", step, id, k.Type())
	}
}

// lines are the history without its start: a line for each event.
func (s *script) lines() []string {
	var lines []string
	for _, event := range s.history[1:] {
		source := uint64(0)
		if event.SourceEventID != nil {
			source = *event.SourceEventID
		}
		var text string
		switch k := event.Kind.(type) {
		case provider.ActivityScheduled:
			text = "activity " + k.Name
		case provider.TimerCreated:
			text = "timer " + (time.Duration(k.FireAtMs-event.TimestampMs) * time.Millisecond).String()
		case provider.SubOrchestrationScheduled:
			text = fmt.Sprintf("sub %s %q", k.Name, k.Instance)
		case provider.ActivityCompleted, provider.SubOrchestrationCompleted:
			text = fmt.Sprintf("%d returned", source)
		case provider.ActivityFailed, provider.SubOrchestrationFailed:
			text = fmt.Sprintf("%d failed", source)
		case provider.TimerFired:
			text = fmt.Sprintf("%d fired", source)
		case provider.ActivityCancelRequested, provider.SubOrchestrationCancelRequested:
			text = fmt.Sprintf("%d cancelled", source)
		case provider.OrchestrationCompleted:
			text = "completed: " + k.Output
		case provider.OrchestrationFailed:
			text = "failed: " + k.Details.DisplayMessage()
		default:
			text = k.Type()
		}
		lines = append(lines, fmt.Sprintf("%d %s", event.EventID, text))
	}
	return lines
}
