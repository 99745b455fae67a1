package worker_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/providerfault"
	"github.com/duroxide/duroxide-go/worker"
)

// parent calls a child of another definition and returns its failure's text.
func parent(child orchestration.Definition[string, string]) orchestration.Definition[string, string] {
	return orchestration.New("Parent", func(ctx *orchestration.Context, _ string) (string, error) {
		return orchestration.SubOrchestration(ctx, child, "", orchestration.WithInstanceID("child")).Await()
	})
}

// endsPoisoned reports a turn that fails the instance as poison.
func endsPoisoned(call providerfault.Call) bool {
	for _, event := range call.Turn.HistoryDelta {
		if failed, ok := event.Kind.(provider.OrchestrationFailed); ok {
			if _, poison := failed.Details.(provider.PoisonFailure); poison {
				return true
			}
		}
	}
	return false
}

// A batch whose turns never get through fails the instance, and the parent with it.
func TestPoisonedOrchestration(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		// events that the store lets through before it goes bad
		good int
		code string
		want []string
	}{
		{"first turn", 0, `orchestration "Child"`, []string{"OrchestrationStarted", "OrchestrationFailed"}},
		{"later turn", 1, `orchestration "Child" version 1.0.0`, []string{"OrchestrationStarted", "ActivityScheduled", "OrchestrationFailed"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			child := orchestration.New("Child", func(ctx *orchestration.Context, _ string) (string, error) {
				return orchestration.Activity(ctx, echo, "x").Await()
			})
			family := parent(child)
			store := providerfault.New(openStore(t), providerfault.Rule{
				Operation: providerfault.AckOrchestrationItem, Skip: test.good,
				If:    func(call providerfault.Call) bool { return isAbout(call, "child") && !endsPoisoned(call) },
				Fault: providerfault.Fault{Fail: providerfault.Busy()},
			})
			runWorker(t, store, worker.Options{Limits: worker.Limits{Attempts: 2}, Leases: worker.Leases{Orchestration: shortLease}}, family, child, echo)
			run := start(t, store, family, "")
			want := `poison: orchestration child exceeded 3 attempts (max 2): ` + test.code + ` (versions known to this worker: 1.0.0); last error: ack_orchestration_item: injected: the store is busy`
			details, ok := failure(t, run).(provider.PoisonFailure)
			if !ok || details.DisplayMessage() != want || details.Message == "" {
				t.Errorf("the parent fails with %+v", details)
			}
			s, err := client.New(store, client.Options{}).Status(t.Context(), "child")
			if err != nil || s.State != client.Failed || s.Failure.DisplayMessage() != want || s.Name != "Child" {
				t.Errorf("child %+v, %v", s, err)
			}
			if diff := cmp.Diff(test.want, types(history(t, store, "child"))); diff != "" {
				t.Errorf("history (-want +got):\n%s", diff)
			}
			info, err := store.Admin().GetInstanceInfo(t.Context(), "child")
			if err != nil || info.Output == nil || *info.Output != want || info.ParentInstanceID == nil {
				t.Errorf("info %+v, %v", info, err)
			}
		})
	}
}

// isAbout reports a turn of that instance.
func isAbout(call providerfault.Call, instance string) bool {
	return len(call.Turn.HistoryDelta) > 0 && call.Turn.HistoryDelta[0].InstanceID == instance
}

// An activity that is fetched too often fails its orchestration from outside: the
// code is not asked.
func TestPoisonedActivity(t *testing.T) {
	t.Parallel()
	store := providerfault.New(openStore(t), providerfault.Rule{
		Operation: providerfault.AckWorkItem,
		If: func(call providerfault.Call) bool {
			_, done := call.Item.(provider.ActivityCompletedItem)
			return done
		},
		Fault: providerfault.Fault{Fail: providerfault.Refused()},
	})
	def := orchestration.New("Calls", func(ctx *orchestration.Context, _ string) (string, error) {
		_, err := orchestration.Activity(ctx, echo, "x").Await()
		return fmt.Sprint("saw ", err), nil
	})
	runWorker(t, store, worker.Options{Limits: worker.Limits{Attempts: 2}}, def, echo)
	details := failure(t, start(t, store, def, ""))
	want := provider.PoisonFailure{
		AttemptCount: 3, MaxAttempts: 2,
		MessageType: provider.PoisonActivity{Instance: t.Name(), ExecutionID: 1, ActivityName: "Echo", ActivityID: 2},
		Message: `activity "Echo"; last error: ack_work_item: injected: refused` + "\n" +
			`{"ActivityExecute":{"instance":"TestPoisonedActivity","execution_id":1,"id":2,"name":"Echo","input":"x"}}`,
	}
	if diff := cmp.Diff(provider.ErrorDetails(want), details); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
}

// unreadable is a store whose history of one instance cannot be decoded.
type unreadable struct {
	provider.Provider
	instance string
}

func (s unreadable) FetchOrchestrationItem(ctx context.Context, params provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
	fetched, err := s.Provider.FetchOrchestrationItem(ctx, params)
	if fetched != nil && fetched.Item.Instance == s.instance {
		fetched.Item.History, fetched.Item.KVSnapshot = nil, nil
		fetched.Item.HistoryError = errors.Join(errors.New("event 1: unknown kind"), provider.ErrCorrupt)
	}
	return fetched, err
}

// With FailMisfits an instance whose history cannot be decoded is offered again, and fails with an
// event that needs no knowledge of the history.
func TestUnreadableHistory(t *testing.T) {
	t.Parallel()
	inner, run := leftWaiting(t)

	store := named(unreadable{Provider: inner, instance: run.Instance()}, inner)
	runWorker(t, store, worker.Options{Limits: worker.Limits{Attempts: 1}, Code: worker.Code{FailMisfits: true}}, waiting)
	raise(t, store, run.Instance(), "go")
	want := provider.PoisonFailure{
		AttemptCount: 2, MaxAttempts: 1, Message: "event 1: unknown kind\ncorrupt data",
		MessageType: provider.PoisonDeserialization{
			Instance: run.Instance(), ExecutionID: 1, Error: "event 1: unknown kind\ncorrupt data",
		},
	}
	if diff := cmp.Diff(provider.ErrorDetails(want), failure(t, run)); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
	events := history(t, inner, run.Instance())
	if last := events[len(events)-1]; last.EventID != 99999 {
		t.Errorf("the failure has event id %d", last.EventID)
	}
}

// What arrives for an instance after it failed over its history is dropped. Once, the
// instance was to fail again, which the store refused as the event was there already,
// and the message came back every second for ever.
func TestLateMessageAfterAnUnreadableHistory(t *testing.T) {
	t.Parallel()
	inner, run := leftWaiting(t)

	var log lockedBuffer
	dropped := make(chan struct{}, 1)
	store := providerfault.New(named(unreadable{Provider: inner, instance: run.Instance()}, inner), providerfault.Rule{
		Operation: providerfault.AckOrchestrationItem, If: func(call providerfault.Call) bool {
			if len(call.Turn.HistoryDelta) == 0 {
				dropped <- struct{}{}
			}
			return false
		},
	})
	stop := runWorker(t, store, worker.Options{
		Limits: worker.Limits{Attempts: 1}, Code: worker.Code{FailMisfits: true}, Logger: slog.New(slog.NewTextHandler(&log, nil)),
	}, waiting)
	raise(t, store, run.Instance(), "go")
	before := failure(t, run)
	raise(t, store, run.Instance(), "late")
	receive(t, "empty ack", dropped)
	stop()
	if depths, err := inner.Admin().GetQueueDepths(t.Context()); err != nil || depths.OrchestratorQueue != 0 {
		t.Errorf("queue %+v, %v", depths, err)
	}
	if diff := cmp.Diff(before, failure(t, run)); diff != "" {
		t.Errorf("the late message changed the failure (-before +after):\n%s", diff)
	}
	if n := strings.Count(log.String(), "messages for an instance that has ended, and whose history cannot be read, are dropped"); n != 1 {
		t.Errorf("the log says %d times that the message is dropped:\n%s", n, log.String())
	}
	if strings.Contains(log.String(), "a turn was not committed") {
		t.Errorf("the log reports trouble:\n%s", log.String())
	}
}

// A worker that can read the history ends the trouble.
func TestUnreadableHistoryIsLeftToOthers(t *testing.T) {
	t.Parallel()
	inner, run := leftWaiting(t)

	abandoned := make(chan struct{}, 16)
	store := providerfault.New(named(unreadable{Provider: inner, instance: run.Instance()}, inner), providerfault.Rule{
		Operation: providerfault.AbandonOrchestrationItem, If: func(providerfault.Call) bool { abandoned <- struct{}{}; return false },
	})
	stop := runWorker(t, store, worker.Options{}, waiting)
	raise(t, store, run.Instance(), "go")
	receive(t, "abandon", abandoned)
	stop()
	runWorker(t, inner, worker.Options{}, waiting)
	result(t, run)
}

// Messages for a finished instance are dropped even if that took many tries: it must
// not end a second time.
func TestFinishedInstanceIsNotPoisoned(t *testing.T) {
	t.Parallel()
	inner := openStore(t)
	stop := runWorker(t, inner, worker.Options{}, callEcho, echo)
	run := start(t, inner, callEcho, "x")
	result(t, run)
	stop()
	dropped := make(chan struct{}, 1)
	store := providerfault.New(inner,
		// The first worker takes the message and dies.
		providerfault.Rule{
			Operation: providerfault.FetchOrchestrationItem, Times: 1, Fault: providerfault.Fault{Lose: providerfault.Unreachable()},
		},
		providerfault.Rule{Operation: providerfault.AckOrchestrationItem, If: func(call providerfault.Call) bool {
			if len(call.Turn.HistoryDelta) == 0 {
				dropped <- struct{}{}
			}
			return false
		}})
	raise(t, store, run.Instance(), "late")
	stop = runWorker(t, store, worker.Options{Limits: worker.Limits{Attempts: 1}, OrchestrationConcurrency: 1, Leases: worker.Leases{Orchestration: shortLease}}, callEcho, echo)
	receive(t, "empty ack", dropped)
	stop()
	if got := result(t, run); got != "x" {
		t.Errorf("output = %q", got)
	}
	if depths, err := store.Admin().GetQueueDepths(t.Context()); err != nil || depths.OrchestratorQueue != 0 {
		t.Errorf("queue %+v, %v", depths, err)
	}
}
