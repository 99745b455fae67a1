package adapt_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/adapt"
	"github.com/duroxide/duroxide-go/provider/sqlite"
	"github.com/duroxide/duroxide-go/tsql/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// plain is a store with the plain contract.
type plain struct{ provider.Provider }

// bare is one without a management interface.
type bare struct{ plain }

func (bare) Admin() provider.Admin { return nil }

func open(t *testing.T) *sqlite.Store {
	t.Helper()
	store, err := sqlite.OpenMemory(t.Context(), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

// A Store stays what it is.
func TestStoreIsItself(t *testing.T) {
	t.Parallel()
	store := open(t)
	if adapt.Store(store) != provider.Store(store) {
		t.Error("a Store was decorated")
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var start = provider.StartOrchestrationItem{Instance: "i", Orchestration: "O", ExecutionID: 1}

// Combined calls are made one after the other: a turn is taken and committed, what it queues is taken with that, and
// its end brings the next turn.
func TestTakesOneAfterTheOther(t *testing.T) {
	t.Parallel()
	for name, plain := range map[string]provider.Provider{"with management": plain{open(t)}, "without": bare{plain{open(t)}}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := adapt.Store(plain)
			use, err := store.StartInstanceWith(t.Context(), start, []provider.WorkItem{provider.QueueMessageItem{Instance: "i", Name: "q", Data: "1"}}, false)
			if use != nil || err != nil {
				t.Fatal(use, err)
			}
			turn := &provider.FetchOrchestrationParams{LockTimeout: time.Minute}
			work := []provider.FetchWorkParams{{LockTimeout: time.Minute}, {LockTimeout: time.Minute}}
			taken, err := store.Claim(t.Context(), provider.ClaimParams{Turn: turn, Work: work})
			must(t, err)
			if taken.Turn == nil || len(taken.Turn.Item.Messages) != 2 || len(taken.Work) != 0 || taken.Waited {
				t.Fatalf("taken %+v", taken)
			}
			name, version, running := "O", "1.0.0", provider.StatusRunning
			taken, err = store.AckTurnAndClaim(t.Context(), provider.AckOrchestrationParams{
				LockToken: taken.Turn.LockToken, ExecutionID: 1,
				HistoryDelta: []provider.Event{{EventID: 1, InstanceID: "i", ExecutionID: 1, Kind: provider.OrchestrationStarted{Name: "O", Version: "1.0.0"}}},
				WorkerItems:  []provider.WorkItem{provider.ActivityExecuteItem{Instance: "i", ExecutionID: 1, ID: 2, Name: "A"}},
				Metadata:     provider.ExecutionMetadata{Status: &running, OrchestrationName: &name, OrchestrationVersion: &version},
			}, provider.ClaimParams{Turn: turn, Work: work})
			must(t, err)
			if taken.Turn != nil || len(taken.Work) != 1 || taken.Work[0].For != 0 || taken.Err != nil {
				t.Fatalf("taken with the turn: %+v", taken)
			}
			token := taken.Work[0].LockToken
			must(t, store.KeepHeartbeat(t.Context(), token, time.Minute, "half"))
			outcomes, err := store.RenewLocks(t.Context(), []provider.LockRenewal{
				{LockToken: "no token", Turn: true, ExtendFor: time.Minute}, {LockToken: token, ExtendFor: time.Minute},
			})
			if err != nil || !errors.Is(outcomes[0], provider.ErrInvalidLockToken) || outcomes[1] != nil {
				t.Errorf("renewals: %v, %v", outcomes, err)
			}
			done := provider.ActivityCompletedItem{Instance: "i", ExecutionID: 1, ID: 2, Result: "x"}
			outcomes, taken, err = store.AckWorkAndClaim(t.Context(), []provider.WorkAck{{LockToken: token, Completion: done}, {LockToken: "no token"}},
				provider.ClaimParams{Turn: turn})
			if err != nil || outcomes[0] != nil || !errors.Is(outcomes[1], provider.ErrInvalidLockToken) || taken.Turn == nil {
				t.Fatalf("acknowledgements: %v, %+v, %v", outcomes, taken, err)
			}
			completed := provider.StatusCompleted
			must(t, store.AckOrchestrationItem(t.Context(), provider.AckOrchestrationParams{
				LockToken: taken.Turn.LockToken, ExecutionID: 1, Metadata: provider.ExecutionMetadata{Status: &completed},
				HistoryDelta: []provider.Event{{EventID: 3, InstanceID: "i", ExecutionID: 1, Kind: provider.OrchestrationCompleted{Output: "x"}}},
			}))
			list, err := store.ReadProgress(t.Context(), []string{"i", "nobody"})
			if err != nil || !list[0].Ended() || list[0].Use.Name != "O" || len(list[0].History) != 2 || list[1].Use != nil {
				t.Errorf("progress %+v, %v", list, err)
			}
			if use, err := store.StartInstance(t.Context(), start); err != nil || use == nil || use.Status != provider.StatusCompleted {
				t.Errorf("a start of a used id: %+v, %v", use, err)
			}
		})
	}
}

// failing is a store that cannot fetch activities.
type failing struct{ plain }

func (failing) FetchWorkItem(context.Context, provider.FetchWorkParams) (*provider.FetchedWorkItem, error) {
	return nil, provider.Retryable("fetch_work_item", "busy", nil)
}

// A turn that is locked is not lost when the activities cannot be fetched, nor is an acknowledgement.
func TestErrorsAfterALock(t *testing.T) {
	t.Parallel()
	store := adapt.Store(failing{plain{open(t)}})
	must(t, store.EnqueueForOrchestrator(t.Context(), start, 0))
	params := provider.ClaimParams{Turn: &provider.FetchOrchestrationParams{LockTimeout: time.Minute}, Work: []provider.FetchWorkParams{{LockTimeout: time.Minute}}}
	taken, err := store.Claim(t.Context(), params)
	if err != nil || taken.Turn == nil || !provider.IsRetryable(taken.Err) {
		t.Fatalf("taken %+v, %v", taken, err)
	}
	params.Turn = nil
	if _, err := store.Claim(t.Context(), params); !provider.IsRetryable(err) {
		t.Errorf("nothing was taken, and the error is %v", err)
	}
	outcomes, taken, err := store.AckWorkAndClaim(t.Context(), []provider.WorkAck{{LockToken: "no token"}}, params)
	if err != nil || len(outcomes) != 1 || !provider.IsRetryable(taken.Err) {
		t.Errorf("%v, %+v, %v", outcomes, taken, err)
	}
}

// patient is a store that has no work, and waits for it or not.
type patient struct {
	provider.Provider

	waits bool
	looks atomic.Int32
}

func (*patient) Admin() provider.Admin { return nil }

func (p *patient) FetchOrchestrationItem(ctx context.Context, params provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
	p.looks.Add(1)
	if p.waits {
		select {
		case <-time.After(params.PollTimeout):
		case <-ctx.Done():
		}
	}
	return nil, nil
}

func (p *patient) FetchWorkItem(context.Context, provider.FetchWorkParams) (*provider.FetchedWorkItem, error) {
	p.looks.Add(1)
	return nil, nil //nolint:nilnil // there is none
}

// A Claim waits as the plain store does. Notices for turns come by time unless it waits; those for activities always
// do.
func TestNoticesByTime(t *testing.T) {
	t.Parallel()
	for _, waits := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			store := adapt.Store(&patient{waits: waits})
			turns, activities, stop := store.WorkReady()
			took := make(chan provider.Claimed, 1)
			go func() {
				taken, _ := store.Claim(t.Context(), provider.ClaimParams{Turn: &provider.FetchOrchestrationParams{}, Wait: time.Second})
				took <- taken
			}()
			time.Sleep(250 * time.Millisecond)
			if len(activities) != 1 || (len(turns) == 0) != waits {
				t.Errorf("waits: %v; %d notices for turns, %d for activities", waits, len(turns), len(activities))
			}
			if taken := <-took; taken.Waited != waits {
				t.Errorf("waits: %v, and the call says %v", waits, taken.Waited)
			}
			time.Sleep(150 * time.Millisecond)
			if len(turns) != 1 {
				t.Error("no notice for turns although nothing waits")
			}
			stop()
			stop() // once or more
		})
	}
}

// What a call of the same store makes ready is told at once.
func TestNoticesOfCalls(t *testing.T) {
	t.Parallel()
	store := adapt.Store(plain{open(t)})
	turns, activities, stop := store.WorkReady()
	defer stop()
	must(t, store.EnqueueForOrchestrator(t.Context(), start, 0))
	<-turns
	must(t, store.EnqueueForWorker(t.Context(), provider.ActivityExecuteItem{Instance: "i", ExecutionID: 1, ID: 2, Name: "A"}))
	<-activities
}

// A store that ignores UnknownFor is not asked for unknown code: it would give any work.
func TestUnknownCodeIsNotAskedFor(t *testing.T) {
	t.Parallel()
	inner := &patient{}
	store := adapt.Store(inner)
	turn, err := store.FetchOrchestrationItem(t.Context(), provider.FetchOrchestrationParams{UnknownFor: time.Second})
	work, workErr := store.FetchWorkItem(t.Context(), provider.FetchWorkParams{UnknownFor: time.Second})
	if turn != nil || work != nil || err != nil || workErr != nil || inner.looks.Load() != 0 {
		t.Errorf("%v, %v, %v, %v; asked %d times", turn, work, err, workErr, inner.looks.Load())
	}
}

// What a plain store cannot tell is empty, and what it cannot do says so.
func TestWhatAPlainStoreDoesNotHave(t *testing.T) {
	t.Parallel()
	store := adapt.Store(bare{plain{open(t)}})
	ctx := t.Context()
	if store.Admin() != nil {
		t.Error("a management interface")
	}
	_, metrics := store.GetSystemMetrics(ctx)
	_, page := store.ListInstancePage(ctx, provider.PageQuery{})
	for _, err := range []error{metrics, page} {
		if !errors.Is(err, errors.ErrUnsupported) || provider.IsRetryable(err) {
			t.Errorf("error %v", err)
		}
	}
	held, err := store.ListHeldInstances(ctx)
	letters, lettersErr := store.CountDeadLetters(ctx)
	unknown, unknownErr := store.UnknownCode(ctx, time.Second)
	lost, lostErr := store.LostWorkItems(ctx, []string{"x"})
	if len(held) != 0 || letters != 0 || len(unknown) != 0 || len(lost) != 0 || errors.Join(err, lettersErr, unknownErr, lostErr) != nil {
		t.Errorf("%v, %d, %v, %v, %v", held, letters, unknown, lost, errors.Join(err, lettersErr, unknownErr, lostErr))
	}
	changed, stop := store.InstanceChanged("i")
	stop()
	ended, end, stop := store.InstanceEnd("i")
	stop()
	if changed != nil || ended != nil || end() != nil {
		t.Error("a plain store tells of changes")
	}
}
