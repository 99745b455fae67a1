package orchestration_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/internal/details"
	"github.com/duroxide/duroxide-go/internal/registry"
	"github.com/duroxide/duroxide-go/internal/replay"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/retry"
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
	// keep says whether the function is kept until the next turn, and kept is where it is.
	keep func() bool
	kept *replay.Suspended
	// activityRetry is the worker's policy of activities.
	activityRetry *retry.Policy
	// next are the messages that the instance has sent to itself to continue as new.
	next []provider.WorkItem
	// sent are the activities that were asked for, see asked.
	sent []provider.WorkItem
}

// scripted begins an instance, whose id is "i".
func scripted[I, O any](t testing.TB, def orchestration.Definition[I, O], input string) *script {
	t.Helper()
	s := unstarted(t, def, input)
	s.turn()
	return s
}

// unstarted is an instance before its first turn.
func unstarted[I, O any](t testing.TB, def orchestration.Definition[I, O], input string) *script {
	t.Helper()
	r := registry.New()
	if err := r.Add(def); err != nil {
		t.Fatal(err)
	}
	fn, _, _ := r.Orchestration(def.Name(), "")
	s := &script{t: t, fn: fn, nowMs: 1_000_000, started: provider.OrchestrationStarted{Name: def.Name(), Version: def.Version(), Input: input}}
	t.Cleanup(s.forget)
	return s
}

func (s *script) turn(messages ...provider.WorkItem) {
	s.t.Helper()
	turn := replay.Turn{
		Instance: "i", ExecutionID: 1, Func: s.fn, History: s.history, Started: s.started, Messages: messages,
		FrameworkVersion: "0.1.32", NowMs: func() uint64 { return s.nowMs }, Keep: s.keep != nil,
		ActivityRetry: s.activityRetry,
	}
	if s.kept != nil && s.keep() {
		turn.Resume = s.kept
		turn.History, _ = s.kept.Extend(0, s.history)
	} else {
		s.forget()
	}
	result, err := replay.Run(s.t.Context(), turn)
	if err != nil {
		s.t.Fatal(err)
	}
	s.misfits += len(result.Unreadable)
	s.kept = result.Suspended
	s.history = append(slices.Clone(s.history), result.HistoryDelta...)
	s.sent = append(s.sent, result.WorkerItems...)
	if result.Outcome == replay.ContinuedAsNew {
		s.next = result.OrchestratorItems
	}
}

// forget ends the function that is kept.
func (s *script) forget() {
	if s.kept != nil {
		if err := s.kept.Stop(s.t.Context()); err != nil {
			s.t.Error(err)
		}
		s.kept = nil
	}
}

// open are the steps that could happen next, each without its result.
func (s *script) open() (activities, timers []uint64, ended bool) {
	done := map[uint64]bool{}
	for _, event := range s.history {
		if event.SourceEventID != nil {
			done[*event.SourceEventID] = true
		}
		ended = ended || event.Terminal()
	}
	for _, event := range s.history {
		switch event.Kind.(type) {
		case provider.ActivityScheduled:
			if !done[event.EventID] {
				activities = append(activities, event.EventID)
			}
		case provider.TimerCreated:
			if !done[event.EventID] {
				timers = append(timers, event.EventID)
			}
		}
	}
	return activities, timers, ended
}

// happen makes a turn of what a step says about the event of that id: "2 fires", "2 returns
// text" or "2 fails text", of an activity or a sub-orchestration. "2 fails text at 7" is of one whose
// last heartbeat was 7, and "2 late" of one that no worker began in time, and "2 overrun" of
// one that ran for too long. A timer fires when it is due.
// "cancel why" cancels the instance, and steps with " and " between them are one turn.
func (s *script) happen(step string) {
	s.t.Helper()
	var messages []provider.WorkItem
	for part := range strings.SplitSeq(step, " and ") {
		messages = append(messages, s.message(part))
	}
	s.turn(messages...)
}

func (s *script) message(step string) provider.WorkItem {
	s.t.Helper()
	if why, ok := strings.CutPrefix(step, "cancel "); ok {
		return provider.CancelInstanceItem{Instance: "i", Reason: why}
	}
	var id uint64
	if _, err := fmt.Sscan(step, &id); err != nil || id > uint64(len(s.history)) {
		s.t.Fatalf("step %q: %v", step, err)
	}
	_, what, _ := strings.Cut(step, " ")
	verb, text, _ := strings.Cut(what, " ")
	text, heartbeat, _ := strings.Cut(text, " at ")
	failure := provider.ApplicationFailure{Kind: provider.AppActivityFailed, Message: text, Heartbeat: heartbeat}
	switch verb {
	case "late":
		verb, failure = "fails", details.StartedLate(time.Hour, 60_000)
	case "overrun":
		verb, failure = "fails", details.RanTooLong(60_000)
	}
	switch k := s.history[id-1].Kind.(type) {
	case provider.TimerCreated:
		s.nowMs = max(s.nowMs, k.FireAtMs)
		return provider.TimerFiredItem{Instance: "i", ExecutionID: 1, ID: id, FireAtMs: k.FireAtMs}
	case provider.ActivityScheduled:
		if verb == "fails" {
			return provider.ActivityFailedItem{Instance: "i", ExecutionID: 1, ID: id, Details: failure}
		}
		return provider.ActivityCompletedItem{Instance: "i", ExecutionID: 1, ID: id, Result: text}
	case provider.SubOrchestrationScheduled:
		if verb == "fails" {
			return provider.SubOrchFailedItem{ParentInstance: "i", ParentExecutionID: 1, ParentID: id, Details: failure}
		}
		return provider.SubOrchCompletedItem{ParentInstance: "i", ParentExecutionID: 1, ParentID: id, Result: text}
	default:
		s.t.Fatalf("step %q: event %d is %s", step, id, k.Type())
		return nil
	}
}

// asked are the activities that were asked for: the id, how long each may wait, and the details
// of the heartbeat that it begins with.
func (s *script) asked() []string {
	var lines []string
	for _, item := range s.sent {
		a, _ := item.(provider.ActivityExecuteItem)
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%d %dms %s", a.ID, a.StartTimeoutMs, a.Heartbeat)))
	}
	return lines
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
		case provider.OrchestrationCancelRequested:
			text = "cancel: " + k.Reason
		case provider.ExternalSubscribed:
			text = "event " + k.Name
		case provider.QueueSubscribed:
			text = "dequeue " + k.Name
		case provider.ExternalSubscribedCancelled, provider.QueueSubscriptionCancelled:
			text = fmt.Sprintf("%d taken back", source)
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
