package orchestration_test

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
)

// Cancelling ends an instance, its children and what they run.
func TestCancellation(t *testing.T) {
	t.Parallel()
	child := orchestration.New("Child", func(ctx *orchestration.Context, _ string) (string, error) {
		ctx.SetCustomStatus("up")
		return orchestration.NewEvent[string]("never").Wait(ctx).Await()
	})
	cleaned := atomic.Bool{}
	parent := orchestration.New("Parent", func(ctx *orchestration.Context, _ string) (string, error) {
		done := orchestration.SubOrchestration(ctx, child, "", orchestration.WithInstanceID("child"))
		grand := orchestration.SubOrchestration(ctx, orchestration.Declare[string, string]("Parent2"), "", orchestration.WithInstanceID("middle"))
		_, err := orchestration.Join(done, grand)
		cleaned.Store(true)
		return "", err
	})
	middle := orchestration.New("Parent2", func(ctx *orchestration.Context, _ string) (string, error) {
		return orchestration.SubOrchestration(ctx, child, "", orchestration.WithInstanceID("grandchild")).Await()
	})
	e := newEngine(t, parent, middle, child)
	run := start(e, parent, "")
	e.status("child", "up")
	e.status("grandchild", "up")
	if err := e.client.Cancel(t.Context(), run.Instance(), "changed my mind"); err != nil {
		t.Fatal(err)
	}
	_, err := run.Wait(deadline(t))
	failed, ok := errors.AsType[*client.FailedError](err)
	if !ok || !failed.Cancelled() || err.Error() != "canceled: changed my mind" {
		t.Errorf("error %v", err)
	}
	for _, id := range []string{"child", "middle", "grandchild"} {
		if got := failureText(t, client.Attach[string](e.client, id)); got != "canceled: parent canceled" {
			t.Errorf("%s: %s", id, got)
		}
	}
	if cleaned.Load() {
		t.Error("the orchestration went on after its cancellation")
	}
	// A finished instance stays as it is.
	if err := e.client.Cancel(t.Context(), run.Instance(), "again"); err != nil {
		t.Fatal(err)
	}
	if got := failureText(t, run); got != "canceled: changed my mind" {
		t.Errorf("cancelled again: %s", got)
	}
}

// An instance that is cancelled before its first turn starts and ends in that turn.
func TestCancelledBeforeItsFirstTurn(t *testing.T) {
	t.Parallel()
	def := orchestration.New("Late", func(ctx *orchestration.Context, _ string) (string, error) {
		return orchestration.Activity(ctx, greet, "x").Await()
	})
	e := newEngine(t)
	run := start(e, def, "")
	if err := e.client.Cancel(t.Context(), run.Instance(), "too late"); err != nil {
		t.Fatal(err)
	}
	e.work(def, greet)
	if got := failureText(t, run); got != "canceled: too late" {
		t.Errorf("failure = %s", got)
	}
}
