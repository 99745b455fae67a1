package worker_test

import (
	"fmt"
	"testing"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/providerfault"
	"github.com/duroxide/duroxide-go/worker"
)

// However a parent ends, a child that still runs is cancelled, also one of an earlier
// execution. An instance that has the id a child of an earlier execution asked for, and
// is somebody else's, goes on.
func TestChildrenEndWithTheirParent(t *testing.T) {
	t.Parallel()
	parentEnds := func(call providerfault.Call) bool {
		m := call.Turn.Metadata
		return isAbout(call, "parent") && m.Status != nil && *m.Status == provider.StatusCompleted
	}
	for _, test := range []struct {
		name   string
		ending string
		rules  []providerfault.Rule
		want   string
	}{
		{name: "panic", ending: "panic", want: "parent failed"},
		{name: "return", ending: "return", want: "parent dropped sub-orchestration future"},
		{name: "continue-as-new, then return", ending: "continue", want: "parent ended"},
		{name: "continue-as-new, then panic", ending: "continue and panic", want: "parent ended"},
		{
			name: "refused turn", ending: "return", want: "parent failed",
			rules: []providerfault.Rule{{
				Operation: providerfault.AckOrchestrationItem, If: parentEnds, Fault: providerfault.Fault{Fail: providerfault.Refused()},
			}},
		},
		{
			name: "poison", ending: "return", want: "parent failed",
			rules: []providerfault.Rule{{
				Operation: providerfault.AckOrchestrationItem, If: parentEnds, Fault: providerfault.Fault{Fail: providerfault.Busy()},
			}},
		},
		{
			name: "poison behind continue-as-new", ending: "continue", want: "parent ended",
			rules: []providerfault.Rule{{
				Operation: providerfault.AckOrchestrationItem, If: parentEnds, Fault: providerfault.Fault{Fail: providerfault.Busy()},
			}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			onBothStores(t, func(t *testing.T, inner provider.Provider) {
				store := providerfault.New(inner, test.rules...)
				options := worker.Options{Leases: worker.Leases{Orchestration: shortLease}, Limits: worker.Limits{Attempts: 2}}
				runWorker(t, store, options, leaving, waiting)
				letParentEnd(t, inner, test.ending)
				child := failure(t, client.Attach[string](client.New(inner, client.Options{}), "child"))
				if got := child.DisplayMessage(); got != "canceled: "+test.want {
					t.Errorf("the child ended with %q, want %q", got, test.want)
				}
				raise(t, inner, "stranger", "go")
				result(t, client.Attach[string](client.New(inner, client.Options{}), "stranger"))
			})
		})
	}
}

// A child that is scheduled in the turn that continues as new is never started. The end of
// the instance sends it no cancel request, which would stay in the queue for ever.
func TestAChildThatNeverStartedGetsNoMessage(t *testing.T) {
	t.Parallel()
	onBothStores(t, func(t *testing.T, store provider.Provider) {
		def := orchestration.New("Twice", func(ctx *orchestration.Context, next bool) (string, error) {
			if next {
				return "", nil
			}
			orchestration.SubOrchestration(ctx, waiting, "")
			return orchestration.Declare[bool, string]("Twice").ContinueAsNew(ctx, true)
		})
		runWorker(t, store, worker.Options{}, def, waiting)
		result(t, start(t, store, def, false))
		orphans, err := store.(provider.Store).CountOrphanMessages(t.Context(), 0)
		if err != nil || orphans.Messages != 0 {
			t.Errorf("%+v, %v", orphans, err)
		}
	})
}

// leaving starts a child and, when told to, ends without waiting for it.
var leaving = orchestration.New("Leaving", func(ctx *orchestration.Context, ending string) (string, error) {
	switch ending {
	case "continued":
		return "", nil
	case "continued and panic":
		panic("boom")
	}
	orchestration.SubOrchestration(ctx, waiting, "", orchestration.WithInstanceID("child"))
	orchestration.SubOrchestration(ctx, waiting, "", orchestration.WithInstanceID("stranger"))
	ctx.SetCustomStatus("waiting")
	if _, err := orchestration.NewEvent[string]("go").Wait(ctx).Await(); err != nil {
		return "", err
	}
	switch ending {
	case "panic":
		panic("boom")
	case "continue":
		return orchestration.Declare[string, string]("Leaving").ContinueAsNew(ctx, "continued")
	case "continue and panic":
		return orchestration.Declare[string, string]("Leaving").ContinueAsNew(ctx, "continued and panic")
	}
	return "", nil
})

// letParentEnd starts a parent beside an instance that has the id of one of its children,
// and tells it to end when its other child waits.
func letParentEnd(t *testing.T, store provider.Provider, ending string) {
	t.Helper()
	c := client.New(store, client.Options{})
	if _, err := client.Start(t.Context(), c, waiting, "stranger", ""); err != nil {
		t.Fatal(err)
	}
	waitForStatus(t, store, "stranger")
	run, err := client.Start(t.Context(), c, leaving, "parent", ending)
	if err != nil {
		t.Fatal(err)
	}
	waitForStatus(t, store, "child")
	raise(t, store, "parent", "go")
	_, _ = run.Wait(deadline(t)) // some fail and some do not
}

// So do the children of executions that were pruned meanwhile.
func TestChildrenOfPrunedExecutionsEndWithTheirParent(t *testing.T) {
	t.Parallel()
	onBothStores(t, func(t *testing.T, store provider.Provider) {
		loop := orchestration.New("Loop", func(ctx *orchestration.Context, n int) (string, error) {
			done := orchestration.SubOrchestration(ctx, quick, "")
			orchestration.SubOrchestration(ctx, waiting, "", orchestration.WithInstanceID(fmt.Sprint("child-", n)))
			if _, err := done.Await(); err != nil {
				return "", err
			}
			if n < 3 {
				return orchestration.Declare[int, string]("Loop").ContinueAsNew(ctx, n+1)
			}
			ctx.SetCustomStatus("waiting")
			return orchestration.NewEvent[string]("go").Wait(ctx).Await()
		})
		runWorker(t, store, worker.Options{}, loop, waiting, quick)
		run, err := client.Start(t.Context(), client.New(store, client.Options{}), loop, "parent", 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, instance := range []string{"parent", "child-1", "child-2", "child-3"} {
			waitForStatus(t, store, instance)
		}
		pruned, err := store.Admin().PruneExecutions(t.Context(), "parent", provider.PruneOptions{})
		if err != nil || pruned.ExecutionsDeleted != 2 {
			t.Fatalf("pruned %+v, %v", pruned, err)
		}
		raise(t, store, "parent", "go")
		result(t, run)
		for child, want := range map[string]string{
			"child-1": "canceled: parent ended", "child-2": "canceled: parent ended",
			"child-3": "canceled: parent dropped sub-orchestration future",
		} {
			if got := failure(t, client.Attach[string](client.New(store, client.Options{}), child)).DisplayMessage(); got != want {
				t.Errorf("%s ended with %q, want %q", child, got, want)
			}
		}
	})
}

// quick ends at once.
var quick = orchestration.New("Quick", func(*orchestration.Context, string) (string, error) { return "", nil })

// The children of an instance whose history cannot be read end with it too.
func TestChildrenOfAnUnreadableParentAreCancelled(t *testing.T) {
	t.Parallel()
	onBothStores(t, func(t *testing.T, store provider.Provider) {
		stop := runWorker(t, store, worker.Options{}, leaving, waiting)
		c := client.New(store, client.Options{})
		if _, err := client.Start(t.Context(), c, leaving, "parent", "return"); err != nil {
			t.Fatal(err)
		}
		waitForStatus(t, store, "child")
		stop()
		raise(t, store, "parent", "go")
		runWorker(t, named(unreadable{store, "parent"}, store), worker.Options{Limits: worker.Limits{Attempts: 1}, Code: worker.Code{FailMisfits: true}}, leaving, waiting)
		if got := failure(t, client.Attach[string](c, "child")).DisplayMessage(); got != "canceled: parent ended" {
			t.Errorf("the child ended with %q", got)
		}
	})
}
