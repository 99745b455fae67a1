package orchestration_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
)

func TestFailurePropagation(t *testing.T) {
	t.Parallel()
	child := orchestration.New("Child", func(ctx *orchestration.Context, _ string) (string, error) {
		return orchestration.Activity(ctx, refuse, "card declined").Await()
	})
	parent := orchestration.New("Parent", func(ctx *orchestration.Context, _ string) (string, error) {
		return orchestration.SubOrchestration(ctx, child, "").Await()
	})
	e := newEngine(t, parent, child, refuse)
	run := start(e, parent, "")
	_, err := run.Wait(deadline(t))
	failed, ok := errors.AsType[*client.FailedError](err)
	if !ok {
		t.Fatalf("error %v", err)
	}
	want := provider.ApplicationFailure{Kind: provider.AppOrchestrationFailed, Message: "card declined"}
	if diff := cmp.Diff(provider.ErrorDetails(want), failed.Details); diff != "" || failed.Cancelled() || failed.Instance != run.Instance() {
		t.Errorf("%+v (-want +got):\n%s", failed, diff)
	}
}

func TestCompensation(t *testing.T) {
	t.Parallel()
	def := orchestration.New("Saga", func(ctx *orchestration.Context, _ string) (string, error) {
		if _, err := orchestration.Activity(ctx, refuse, "no stock").Await(); err != nil {
			undone, undoErr := orchestration.Activity(ctx, greet, "refund").Await()
			return undone, errors.Join(err, undoErr)
		}
		return "", nil
	})
	e := newEngine(t, def, greet, refuse)
	if got := failureText(t, start(e, def, "")); got != "no stock" {
		t.Errorf("failure = %q", got)
	}
}

// exiting is an error whose Error ends its goroutine.
type exiting struct{}

func (exiting) Error() string { runtime.Goexit(); return "" }

func TestPanics(t *testing.T) {
	t.Parallel()
	explode := activity.New("Explode", func(_ context.Context, how string) (string, error) {
		if how == "exit" {
			runtime.Goexit()
		}
		if how == "exit in the text" {
			panic(exiting{})
		}
		panic(how)
	})
	def := orchestration.New("Panics", func(ctx *orchestration.Context, how string) (string, error) {
		if how == "self" {
			panic("boom")
		}
		if how == "encode" {
			orchestration.Activity(ctx, activity.Declare[float64, string]("X"), math.NaN())
		}
		_, err := orchestration.Activity(ctx, explode, how).Await()
		return fmt.Sprint("caught ", err), nil
	})
	e := newEngine(t, def, explode)
	for how, want := range map[string]string{
		"self":   "orchestration panicked: boom",
		"encode": `orchestration panicked: input of activity "X": json: unsupported value: NaN`,
		"exit":   "caught the activity called runtime.Goexit",
		"bang":   "caught activity panicked: bang",

		"exit in the text": "caught the activity called runtime.Goexit",
	} {
		run, err := client.Start(t.Context(), e.client, def, how, how)
		if err != nil {
			t.Fatal(err)
		}
		output, err := run.Wait(deadline(t))
		if got := output; got != want && (err == nil || err.Error() != want) {
			t.Errorf("%s: %q, %v; want %q", how, output, err, want)
		}
	}
}
