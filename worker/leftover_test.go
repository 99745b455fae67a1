package worker_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker"
)

// queued counts the messages in the orchestrator queue that no turn has, and those of them
// that are hidden.
func queued(t *testing.T, store provider.Provider) (all, hidden uint64) {
	t.Helper()
	depths, err := store.Admin().GetQueueDepths(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	hidden, err = store.(provider.Store).CountHiddenMessages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return depths.OrchestratorQueue, hidden
}

// A timer that lost a select is hidden, which queue depths tell, and leaves the queue when
// its instance ends, whether that completes or fails (provider.AckOrchestrationParams,
// provider.Store.CountHiddenMessages).
func TestEndedInstancesLeaveNoTimers(t *testing.T) {
	t.Parallel()
	impatient := orchestration.New("Impatient", func(ctx *orchestration.Context, end string) (string, error) {
		event, timer := orchestration.NewEvent[string]("go").Wait(ctx), ctx.Timer(time.Hour)
		ctx.SetCustomStatus("waits")
		orchestration.SelectAndDrop(event, timer)
		ctx.SetCustomStatus("went")
		if _, err := orchestration.NewEvent[string]("end").Wait(ctx).Await(); err != nil || end == "well" {
			return end, err
		}
		panic(end)
	})
	onBothStores(t, func(t *testing.T, store provider.Provider) {
		runWorker(t, store, worker.Options{}, impatient)
		c := client.New(store, client.Options{})
		for _, id := range []string{"well", "badly", "stays"} {
			if _, err := client.Start(t.Context(), c, impatient, id, id); err != nil {
				t.Fatal(err)
			}
			waitForStatus(t, store, id)
			raise(t, store, id, "go")
			if _, err := c.WaitForCustomStatus(deadline(t), id, 1); err != nil {
				t.Fatal(err)
			}
			if id == "stays" {
				break
			}
			if all, hidden := queued(t, store); all != 1 || hidden != 1 {
				t.Errorf("%s: while the instance runs: %d messages, %d hidden, want one, hidden", id, all, hidden)
			}
			raise(t, store, id, "end")
			if _, err := c.Wait(deadline(t), id); err != nil {
				t.Fatal(err)
			}
			if all, _ := queued(t, store); all != 0 {
				t.Errorf("%s: after the end there are %d messages", id, all)
			}
		}
		// Another instance's end is not theirs.
		if _, hidden := queued(t, store); hidden != 1 {
			t.Errorf("the instance that runs has %d hidden messages, want its timer", hidden)
		}
	})
}

// A turn that drops its timers keeps what is visible, what starts the instance, what the
// turn itself sends, and what other instances wait for; without DropTimers all stays
// (provider.AckOrchestrationParams).
func TestDropTimersDropsNothingElse(t *testing.T) {
	t.Parallel()
	onBothStores(t, func(t *testing.T, store provider.Provider) {
		const hour = uint64(3_600_000)
		later := uint64(time.Now().UnixMilli()) + hour
		timer := func(instance string, id uint64) provider.WorkItem {
			return provider.TimerFiredItem{Instance: instance, ExecutionID: 1, ID: id, FireAtMs: later}
		}
		begin := func(instance string, drop bool) {
			send(t, store, provider.StartOrchestrationItem{Instance: instance, Orchestration: "O", ExecutionID: 1})
			fetched, err := store.FetchOrchestrationItem(t.Context(), provider.FetchOrchestrationParams{LockTimeout: time.Minute})
			if err != nil || fetched == nil {
				t.Fatal(fetched, err)
			}
			send(t, store, timer(instance, 2), timer("other", 2))
			if err := store.EnqueueForOrchestrator(t.Context(), provider.StartOrchestrationItem{Instance: instance, Orchestration: "O", ExecutionID: 1}, time.Hour); err != nil {
				t.Fatal(err)
			}
			if err := store.AckOrchestrationItem(t.Context(), provider.AckOrchestrationParams{
				LockToken: fetched.LockToken, ExecutionID: 1, DropTimers: drop,
				OrchestratorItems: []provider.WorkItem{timer(instance, 3)},
			}); err != nil {
				t.Fatal(err)
			}
		}
		begin("drops", true)
		if _, hidden := queued(t, store); hidden != 3 {
			t.Errorf("after a turn that drops: %d, want the start, the turn's own timer and the other instance's", hidden)
		}
		begin("keeps", false)
		if _, hidden := queued(t, store); hidden != 3+4 {
			t.Errorf("after a turn that does not: %d, want four more", hidden)
		}
	})
}

// Messages for ids that never began are counted and deleted once they are old enough, and
// nothing else is (provider.Store.DeleteOrphanMessages).
func TestMessagesOfNobodyAreCollected(t *testing.T) {
	t.Parallel()
	onBothStores(t, func(t *testing.T, store provider.Provider) {
		orphans := store.(provider.Store)
		var nobody []provider.WorkItem
		for i := range 102 {
			id := fmt.Sprintf("nobody-%d", i)
			nobody = append(nobody,
				provider.CancelInstanceItem{Instance: id, Reason: "r"}, provider.ExternalRaisedItem{Instance: id, Name: "go", Data: "1"})
		}
		send(t, store, nobody...)
		// These are somebody's: begun, about to begin, or a long time in the making.
		stop := runWorker(t, store, worker.Options{}, waiting)
		c := client.New(store, client.Options{})
		if _, err := client.Start(t.Context(), c, waiting, "begun", ""); err != nil {
			t.Fatal(err)
		}
		waitForStatus(t, store, "begun")
		stop()
		send(t, store, provider.ExternalRaisedItem{Instance: "begun", Name: "other", Data: "1"},
			provider.CancelInstanceItem{Instance: "starting", Reason: "r"},
			provider.StartOrchestrationItem{Instance: "starting", Orchestration: "O", ExecutionID: 1})
		if err := store.EnqueueForOrchestrator(t.Context(), provider.ExternalRaisedItem{Instance: "future", Name: "go", Data: "1"}, time.Hour); err != nil {
			t.Fatal(err)
		}
		const somebody = 3 + 1

		check := func(what string, want provider.OrphanMessages, f func() (provider.OrphanMessages, error)) {
			t.Helper()
			if got, err := f(); err != nil || got != want {
				t.Errorf("%s: %+v, %v, want %+v", what, got, err, want)
			}
		}
		all := provider.OrphanMessages{Instances: 102, Messages: 204}
		check("counted, of any age", all, func() (provider.OrphanMessages, error) {
			return orphans.CountOrphanMessages(t.Context(), 0)
		})
		check("deleted, older than an hour", provider.OrphanMessages{}, func() (provider.OrphanMessages, error) {
			return orphans.DeleteOrphanMessages(t.Context(), time.Hour)
		})
		check("deleted", all, func() (provider.OrphanMessages, error) {
			return orphans.DeleteOrphanMessages(t.Context(), 0)
		})
		check("counted afterwards", provider.OrphanMessages{}, func() (provider.OrphanMessages, error) {
			return orphans.CountOrphanMessages(t.Context(), 0)
		})
		if all, _ := queued(t, store); all != somebody {
			t.Errorf("%d are left, want the %d that are somebody's", all, somebody)
		}
		if _, err := orphans.DeleteOrphanMessages(t.Context(), -1); err == nil {
			t.Error("a negative age is accepted")
		}
	})
}

// Of several starts of one id that come at the same time, one is enqueued, and the others
// are told who uses it; a waiting start counts, and a deleted instance does not
// (provider.Store.FindInstance).
func TestOneOfSimultaneousStartsStarts(t *testing.T) {
	t.Parallel()
	onBothStores(t, func(t *testing.T, store provider.Provider) {
		starter := store.(provider.Store)
		item := provider.StartOrchestrationItem{Instance: "i", Orchestration: "Waiting", Input: `""`, ExecutionID: 1}
		find := func(want *provider.IDUse) {
			t.Helper()
			got, err := starter.FindInstance(t.Context(), "i")
			if err != nil || (got == nil) != (want == nil) || got != nil && *got != *want {
				t.Errorf("found %+v, %v, want %+v", got, err, want)
			}
		}
		find(nil)
		var mu sync.Mutex
		started, told := 0, 0
		var starts sync.WaitGroup
		for range 8 {
			starts.Go(func() {
				use, err := starter.StartInstance(t.Context(), item)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err != nil:
					t.Error(err)
				case use == nil:
					started++
				case *use == provider.IDUse{Name: "Waiting"}:
					told++
				default:
					t.Errorf("told of %+v", use)
				}
			})
		}
		starts.Wait()
		if started != 1 || told != 7 {
			t.Errorf("%d started and %d were told, want 1 and 7", started, told)
		}
		if all, _ := queued(t, store); all != 1 {
			t.Errorf("%d are queued, want one start", all)
		}
		find(&provider.IDUse{Name: "Waiting"})

		runWorker(t, store, worker.Options{}, waiting)
		waitForStatus(t, store, "i")
		find(&provider.IDUse{Name: "Waiting", Status: provider.StatusRunning})
		raise(t, store, "i", "go")
		if _, err := client.New(store, client.Options{}).Wait(deadline(t), "i"); err != nil {
			t.Fatal(err)
		}
		find(&provider.IDUse{Name: "Waiting", Status: provider.StatusCompleted})
		if use, err := starter.StartInstance(t.Context(), item); err != nil || use == nil || use.Status != provider.StatusCompleted {
			t.Errorf("a start of a finished instance is told %+v, %v", use, err)
		}
		if _, err := store.Admin().DeleteInstance(t.Context(), "i", false); err != nil {
			t.Fatal(err)
		}
		find(nil)
	})
}
