package orchestration_test

import (
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
)

func TestSubOrchestrations(t *testing.T) {
	t.Parallel()
	child := orchestration.New("Child", func(ctx *orchestration.Context, n int) (string, error) {
		if n < 0 {
			return "", fmt.Errorf("%d is negative", n)
		}
		doubled, err := orchestration.Activity(ctx, double, n).Await()
		return fmt.Sprint(ctx.Info().Instance, " of ", ctx.Info().ParentInstance, ": ", doubled), err
	})
	parent := orchestration.New("Parent", func(ctx *orchestration.Context, id string) ([]string, error) {
		generated := orchestration.SubOrchestration(ctx, child, 1)
		explicit := orchestration.SubOrchestration(ctx, child, 2, orchestration.WithInstanceID(id))
		bad := orchestration.SubOrchestration(ctx, child.AtVersion("1.0.0"), -1)
		results, err := orchestration.Join(generated, explicit, bad)
		if failed, ok := errors.AsType[*orchestration.CallError](err); ok {
			results[2] = failed.Source + ": " + failed.Message
		}
		return results, nil
	})
	e := newEngine(t, parent, child, double)
	run := start(e, parent, "child-of-mine")
	want := []string{
		run.Instance() + "::sub::2 of " + run.Instance() + ": 2",
		"child-of-mine of " + run.Instance() + ": 4",
		`sub-orchestration "Child": -1 is negative`,
	}
	if diff := cmp.Diff(want, result(t, run)); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

// A child that continues as new still reports to its parent (P41), and a parent that
// does starts new children each time (P42), whose results find it (P40).
func TestFamiliesAcrossContinueAsNew(t *testing.T) {
	t.Parallel()
	child := orchestration.New("Child", func(ctx *orchestration.Context, n int) (int, error) {
		if n < 10 {
			return orchestration.Declare[int, int]("Child").ContinueAsNew(ctx, n+10)
		}
		return n, nil
	})
	type state struct{ Round, Sum int }
	parent := orchestration.New("Parent", func(ctx *orchestration.Context, s state) (int, error) {
		n, err := orchestration.SubOrchestration(ctx, child, s.Round).Await()
		if err != nil {
			return 0, err
		}
		s = state{Round: s.Round + 1, Sum: s.Sum + n}
		if s.Round == 3 {
			return s.Sum, nil
		}
		return orchestration.Declare[state, int]("Parent").ContinueAsNew(ctx, s)
	})
	e := newEngine(t, parent, child)
	run := start(e, parent, state{})
	if got := result(t, run); got != 33 {
		t.Errorf("sum = %d, want 33", got)
	}
	children, err := e.store.Admin().ListChildren(t.Context(), run.Instance())
	if err != nil {
		t.Fatal(err)
	}
	id := run.Instance()
	if diff := cmp.Diff([]string{id + "::sub::2", id + "::sub::2_2", id + "::sub::3_2"}, children); diff != "" {
		t.Errorf("children (-want +got):\n%s", diff)
	}
}

func TestDetachedOrchestrationsLiveOn(t *testing.T) {
	t.Parallel()
	audit := orchestration.New("Audit", func(ctx *orchestration.Context, _ string) (string, error) {
		return orchestration.NewEvent[string]("seal").Wait(ctx).Await()
	})
	def := orchestration.New("Order", func(ctx *orchestration.Context, id string) (string, error) {
		orchestration.Detach(ctx, audit, id, "ordered")
		return "ordered", nil
	})
	e := newEngine(t, def, audit)
	result(t, start(e, def, "audit-1"))
	run := client.Attach[string](e.client, "audit-1")
	waitUntilWaiting(t, e, "audit-1")
	if parent, err := e.store.Admin().GetParentID(t.Context(), "audit-1"); err != nil || parent != nil {
		t.Errorf("parent %v, %v", parent, err)
	}
	if err := client.RaiseEvent(t.Context(), e.client, orchestration.NewEvent[string]("seal"), "audit-1", "sealed"); err != nil {
		t.Fatal(err)
	}
	if got := result(t, run); got != "sealed" {
		t.Errorf("output = %q", got)
	}
}

// waitUntilWaiting waits until an instance's history ends with a subscription.
func waitUntilWaiting(t *testing.T, e *engine, instance string) {
	t.Helper()
	ctx := deadline(t)
	for {
		past, err := e.store.Read(ctx, instance)
		if err != nil {
			t.Fatal(err)
		}
		for _, event := range past {
			if _, ok := event.Kind.(provider.ExternalSubscribed); ok {
				return
			}
		}
		runtime.Gosched()
	}
}
