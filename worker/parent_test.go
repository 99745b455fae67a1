package worker_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/providerfault"
	"github.com/duroxide/duroxide-go/worker"
)

// unstamped is a store on which a worker before 0.1.30 starts the children: they are
// not told the parent's execution.
type unstamped struct{ provider.Provider }

func (s unstamped) AckOrchestrationItem(ctx context.Context, params provider.AckOrchestrationParams) error {
	params.OrchestratorItems = slices.Clone(params.OrchestratorItems)
	for i, item := range params.OrchestratorItems {
		switch m := item.(type) {
		case provider.StartOrchestrationItem:
			m.ParentExecutionID = nil
			params.OrchestratorItems[i] = m
		case provider.ContinueAsNewItem:
			m.ParentInstance, m.ParentID, m.ParentExecutionID = nil, nil, nil
			params.OrchestratorItems[i] = m
		}
	}
	return s.Provider.AckOrchestrationItem(ctx, params)
}

// A child that knows its parent's execution ends without a look at the parent: of 200
// of them, each costs the same.
func TestStampedChildrenReadNoParent(t *testing.T) {
	t.Parallel()
	child := orchestration.New("Child", func(_ *orchestration.Context, n int) (int, error) {
		if n%2 == 1 {
			return 0, errors.New("odd")
		}
		return n, nil
	})
	family := orchestration.New("Parent", func(ctx *orchestration.Context, n int) (int, error) {
		var children []*orchestration.Future[int]
		for i := range n {
			children = append(children, orchestration.SubOrchestration(ctx, child, i))
		}
		even := 0
		for _, f := range children {
			if _, err := f.Await(); err == nil {
				even++
			}
		}
		return even, nil
	})
	inner := openStore(t)
	store := providerfault.New(inner)
	runWorker(t, store, worker.Options{}, family, child)
	run := start(t, inner, family, 200)
	if got := result(t, run); got != 100 {
		t.Errorf("%d even children, want 100", got)
	}
	if n := store.Calls(providerfault.Read); n != 0 {
		t.Errorf("%d histories were read", n)
	}
}

// Families whose messages an older worker wrote find together all the same: the parent
// of a child that continued as new comes from the execution before, its execution from
// the parent's history (P40, P41).
func TestUnstampedFamilies(t *testing.T) {
	t.Parallel()
	child := orchestration.New("Child", func(ctx *orchestration.Context, n int) (int, error) {
		if n < 3 {
			return orchestration.Declare[int, int]("Child").ContinueAsNew(ctx, n+1)
		}
		return n, nil
	})
	family := orchestration.New("Parent", func(ctx *orchestration.Context, round int) (int, error) {
		n, err := orchestration.SubOrchestration(ctx, child, round).Await()
		if err != nil || round == 2 {
			return n, err
		}
		return orchestration.Declare[int, int]("Parent").ContinueAsNew(ctx, round+1)
	})
	store := unstamped{openStore(t)}
	runWorker(t, store, worker.Options{}, family, child)
	if got := result(t, start(t, store, family, 0)); got != 3 {
		t.Errorf("output = %d", got)
	}
}

// A parent that cannot be read holds up the end of its child, which the log explains,
// also where that end is the failure that takes the place of a refused turn.
func TestUnreadableParentIsLogged(t *testing.T) {
	t.Parallel()
	child := orchestration.New("Child", func(*orchestration.Context, string) (string, error) { return "x", nil })
	family := parent(child)
	var log lockedBuffer
	ofChild := func(call providerfault.Call) bool { return isAbout(call, "child") }
	store := providerfault.New(unstamped{openStore(t)},
		providerfault.Rule{Operation: providerfault.AckOrchestrationItem, If: ofChild, Times: 1, Fault: providerfault.Fault{Fail: providerfault.Refused()}},
		providerfault.Rule{Operation: providerfault.Read, Skip: 1, Times: 1, Fault: providerfault.Fault{Fail: &provider.Error{Message: "injected: no permission"}}})
	runWorker(t, store, worker.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}, family, child)
	if got := result(t, start(t, store, family, "")); got != "x" {
		t.Errorf("output = %q", got)
	}
	want := `what="the parent's history"`
	if n := strings.Count(log.String(), want); n != 1 {
		t.Errorf("the log says %d times, want once: %s\n%s", n, want, log.String())
	}
}

// The result of a child reaches the execution that waits for it, from whichever
// process and in whichever execution the parent is (P40).
func TestParentExecution(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	child := orchestration.New("Child", func(ctx *orchestration.Context, _ string) (string, error) {
		return orchestration.NewEvent[string]("go").Wait(ctx).Await()
	})
	family := orchestration.New("Parent", func(ctx *orchestration.Context, round int) (string, error) {
		if round < 2 {
			return orchestration.Declare[int, string]("Parent").ContinueAsNew(ctx, round+1)
		}
		future := orchestration.SubOrchestration(ctx, child, "", orchestration.WithInstanceID("child"))
		ctx.SetCustomStatus("waiting")
		return future.Await()
	})
	stop := runWorker(t, store, worker.Options{}, family)
	run := start(t, store, family, 0)
	waitForStatus(t, store, run.Instance())
	stop()
	// The child's whole life is in another process, which does not know the parent.
	told := make(chan provider.WorkItem, 1)
	other := providerfault.New(store, providerfault.Rule{
		Operation: providerfault.AckOrchestrationItem,
		If: func(call providerfault.Call) bool {
			for _, item := range call.Turn.OrchestratorItems {
				told <- item
			}
			return false
		},
	})
	stop = runWorker(t, other, worker.Options{Code: worker.Code{Backoff: time.Millisecond}, Limits: worker.Limits{Attempts: 1000}}, child)
	waitForKind(t, store, "child", provider.ExternalSubscribed{Name: "go"})
	raise(t, store, "child", "go")
	want := provider.SubOrchCompletedItem{ParentInstance: run.Instance(), ParentExecutionID: 3, ParentID: 2}
	if diff := cmp.Diff(provider.WorkItem(want), receive(t, "message to the parent", told)); diff != "" {
		t.Errorf("message to the parent (-want +got):\n%s", diff)
	}
	stop()
	runWorker(t, store, worker.Options{}, family)
	result(t, run)
}
