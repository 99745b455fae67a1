package worker_test

import (
	"errors"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker"
)

// A call of a sub-orchestration whose id is taken, by whatever instance in whatever state,
// fails with orchestration.ErrAlreadyExists, and the instance stays as it is
// (orchestration.WithInstanceID). A child that fails by such a failure tells it on.
func TestTakenChildIDsAreATypedError(t *testing.T) {
	t.Parallel()
	finished := orchestration.New("Finished", func(*orchestration.Context, string) (string, error) { return "", nil })
	parent := orchestration.New("Asks", func(ctx *orchestration.Context, id string) (string, error) {
		_, err := orchestration.SubOrchestration(ctx, finished, "", orchestration.WithInstanceID(id)).Await()
		call, ok := errors.AsType[*orchestration.CallError](err)
		if !errors.Is(err, orchestration.ErrAlreadyExists) || !ok {
			return "", errors.Join(errors.New("the call ended otherwise"), err)
		}
		return call.Source, nil
	})
	passing := orchestration.New("Passing", func(ctx *orchestration.Context, id string) (string, error) {
		return orchestration.SubOrchestration(ctx, finished, "", orchestration.WithInstanceID(id)).Await()
	})
	above := orchestration.New("Above", func(ctx *orchestration.Context, id string) (bool, error) {
		_, err := orchestration.SubOrchestration(ctx, passing, id).Await()
		return errors.Is(err, orchestration.ErrAlreadyExists), nil
	})
	family := orchestration.New("Family", func(ctx *orchestration.Context, _ string) (string, error) {
		return orchestration.SubOrchestration(ctx, waiting, "", orchestration.WithInstanceID("another's")).Await()
	})
	onBothStores(t, func(t *testing.T, store provider.Provider) {
		runWorker(t, store, worker.Options{}, waiting, finished, parent, passing, above, family)
		c := client.New(store, client.Options{})
		begin := func(def, id string) {
			t.Helper()
			if _, err := client.Start(t.Context(), c, orchestration.Declare[string, any](def), id, ""); err != nil {
				t.Fatal(err)
			}
		}
		begin("Waiting", "running")
		begin("Finished", "finished")
		begin("Family", "family")
		waitForStatus(t, store, "running")
		waitForStatus(t, store, "another's")
		if _, err := c.Wait(deadline(t), "finished"); err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{"running", "finished", "another's", "asks its own"} {
			name := "asks " + id
			if id == "asks its own" {
				name = id
			}
			run, err := client.Start(t.Context(), c, parent, name, id)
			if err != nil {
				t.Fatal(err)
			}
			if got := result(t, run); got != `sub-orchestration "Finished"` {
				t.Errorf("%s: %s", id, got)
			}
		}
		run, err := client.Start(t.Context(), c, above, "above", "finished")
		if err != nil {
			t.Fatal(err)
		}
		if !result(t, run) {
			t.Error("the failure of a child's child has lost its kind")
		}
		direct, err := client.Start(t.Context(), c, passing, "passing", "finished")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := direct.Wait(deadline(t)); !errors.Is(err, orchestration.ErrAlreadyExists) || !errors.Is(err, client.ErrAlreadyExists) {
			t.Errorf("the client sees %v", err)
		}
		for _, id := range []string{"running", "another's"} {
			if s, err := c.Status(t.Context(), id); err != nil || s.State != client.Running {
				t.Errorf("%s is disturbed: %+v, %v", id, s, err)
			}
		}
	})
}

// A parent that gives up a child whose id is taken by a start that still waits cancels only that child, which never
// begins, and not the instance that has the id.
func TestTakenChildIsCancelledAlone(t *testing.T) {
	t.Parallel()
	child := orchestration.New("Child", func(*orchestration.Context, string) (string, error) { return "", nil })
	stranger := orchestration.New("Stranger", func(*orchestration.Context, string) (string, error) { return "untouched", nil })
	for name, parent := range map[string]func(ctx *orchestration.Context, _ string) (string, error){
		"dropped": func(ctx *orchestration.Context, _ string) (string, error) {
			call := orchestration.SubOrchestration(ctx, child, "", orchestration.WithInstanceID("taken"))
			orchestration.SelectAndDrop(ctx.Timer(time.Millisecond), call)
			return "", nil
		},
		"failed": func(ctx *orchestration.Context, _ string) (string, error) {
			orchestration.SubOrchestration(ctx, child, "", orchestration.WithInstanceID("taken"))
			_ = ctx.Sleep(time.Millisecond)
			panic("parent")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onBothStores(t, func(t *testing.T, store provider.Provider) {
				c := client.New(store, client.Options{})
				taken, err := client.Start(t.Context(), c, stranger, "taken", "")
				if err != nil {
					t.Fatal(err)
				}
				def := orchestration.New("Parent", parent)
				runWorker(t, store, worker.Options{}, def, child) // which leaves the stranger's start where it is
				if _, err := c.Wait(deadline(t), start(t, store, def, "").Instance()); err != nil {
					t.Fatal(err)
				}
				runWorker(t, store, worker.Options{}, stranger)
				if got := result(t, taken); got != "untouched" {
					t.Errorf("output %q", got)
				}
			})
		})
	}
}
