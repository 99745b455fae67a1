package sqlite

import (
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// Who waits for an end is told what the instance has ended with, which nobody has to ask for
// (provider.Store.InstanceEnd). Ends that nobody waits for are not read.
func TestEndsAreToldWithTheirOutcome(t *testing.T) { //nolint:paralleltest // all statements are counted
	s := openCounted(t)
	worker := counting{t: t, s: s, known: provider.Know(provider.CodeName{Name: "Order", Version: "1.0.0"})}
	finish := func(instance string) {
		t.Helper()
		ack := firstTurn(worker.start(instance))
		ack.WorkerItems, ack.Metadata.Status = nil, new(provider.StatusCompleted)
		must(t, s.AckOrchestrationItem(t.Context(), ack))
	}
	ended, end, stop := s.InstanceEnd("a")
	defer stop()
	statements.take()
	finish("a")
	soon(t, ended)
	if p := end(); p == nil || p.Use.Status != provider.StatusCompleted || len(p.History) == 0 {
		t.Errorf("told %+v; want a completed instance", p)
	}
	finish("b")
	if counts, _ := statements.take(); counts["ReadProgress"] != 1 {
		t.Errorf("%d outcomes were read of one that is waited for", counts["ReadProgress"])
	}
}

// TestInstanceChanged: the channel closes when a turn of that instance was
// committed or the instance deleted, and for nothing else (provider.Store.InstanceChanged).
func TestInstanceChanged(t *testing.T) {
	t.Parallel()
	store, err := OpenMemory(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	commit := func(instance string) {
		t.Helper()
		start := provider.StartOrchestrationItem{Instance: instance, Orchestration: "O", ExecutionID: 1}
		if err := store.EnqueueForOrchestrator(t.Context(), start, 0); err != nil {
			t.Fatal(err)
		}
		got, err := store.FetchOrchestrationItem(t.Context(), provider.FetchOrchestrationParams{LockTimeout: time.Minute})
		if err != nil || got == nil {
			t.Fatalf("nothing fetched: %v", err)
		}
		if err := store.AckOrchestrationItem(t.Context(), provider.AckOrchestrationParams{
			LockToken: got.LockToken, ExecutionID: 1,
			Metadata: provider.ExecutionMetadata{OrchestrationName: new("O"), OrchestrationVersion: new("1.0.0")},
		}); err != nil {
			t.Fatal(err)
		}
	}
	first, stopFirst := store.InstanceChanged("a")
	second, stopSecond := store.InstanceChanged("a")
	defer stopSecond()
	stopFirst()
	stopFirst() // once or more
	commit("b")
	select {
	case <-second:
		t.Fatal("another instance's turn closed the channel")
	default:
	}
	commit("a")
	for name, changed := range map[string]<-chan struct{}{"stopped": first, "waiting": second} {
		select {
		case <-changed:
		case <-time.After(10 * time.Second):
			t.Fatalf("the %s channel was not closed by the turn's commit", name)
		}
	}
	deleted, stop := store.InstanceChanged("a")
	defer stop()
	if _, err := store.Admin().DeleteInstance(t.Context(), "a", true); err != nil {
		t.Fatal(err)
	}
	select {
	case <-deleted:
	case <-time.After(10 * time.Second):
		t.Fatal("the channel was not closed by the deletion")
	}
	stop()
	if left := store.changes.Awaited(); left != 0 {
		t.Fatalf("%d channels are left behind", left)
	}
}
