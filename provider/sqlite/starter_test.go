package sqlite

import (
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/provider"
)

// Of the messages of an id that never began the old ones are deleted. What is left is the head then, and
// holds up no other instance.
func TestDeletedOrphansHoldUpNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	var clock atomic.Int64
	clock.Store(1_000_000)
	options := Options{PollInterval: Never, now: clock.Load}
	s := openFile(t, path, options)
	orphan := provider.QueueMessageItem{Instance: "nobody", Name: "q"}
	must(t, s.EnqueueForOrchestrator(t.Context(), orphan, 0))
	clock.Add(time.Hour.Milliseconds())
	must(t, s.EnqueueForOrchestrator(t.Context(), orphan, 0))
	must(t, s.EnqueueForOrchestrator(t.Context(), start("order"), 0))
	deleted, err := s.DeleteOrphanMessages(t.Context(), time.Minute)
	must(t, err)
	if want := (provider.OrphanMessages{Instances: 1, Messages: 1}); deleted != want {
		t.Errorf("deleted %+v, want %+v", deleted, want)
	}
	two := openFile(t, path, options) // which has no bounds to go by
	if diff := cmp.Diff([]string{"order"}, fetchInstances(t, two)); diff != "" {
		t.Errorf("fetched (-want +got):\n%s", diff)
	}
}

// An id that has begun since it was found to have orphan messages keeps them.
func TestOrphansThatBeginAreKept(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(t *testing.T, s *Store){
		"a start":     func(t *testing.T, s *Store) { must(t, s.EnqueueForOrchestrator(t.Context(), start("i"), 0)) },
		"an instance": func(t *testing.T, s *Store) { beginInstance(t, s, "i") },
		"a history": func(t *testing.T, s *Store) {
			must(t, s.AppendWithExecution(t.Context(), "i", 1, []provider.Event{event("i", 1, provider.OrchestrationStarted{Name: "Order", Version: "1"})}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, clock := clockAt(t, 1_000_000)
			cancel := provider.CancelInstanceItem{Instance: "i"}
			must(t, s.EnqueueForOrchestrator(t.Context(), cancel, time.Second))
			begin(t, s)
			clock.Add(2000)
			n, err := s.deleteOrphansOf(t.Context(), "test", "i", clock.Load())
			must(t, err)
			if turn := fetchKnown(t, s, nil); n != 0 || turn == nil || !slices.ContainsFunc(turn.Item.Messages, func(m provider.WorkItem) bool { return m == cancel }) {
				t.Errorf("%d messages were deleted, fetched %+v; want the message to stay", n, turn)
			}
		})
	}
}

// A turn that sees a start sees the messages that were sent with it.
func TestStartBringsItsMessages(t *testing.T) {
	t.Parallel()
	s := openMemory(t, Options{})
	turns := fetched(t, s)
	message := provider.QueueMessageItem{Instance: "i", Name: "queue", Data: "1"}
	_, err := s.StartInstanceWith(t.Context(), start("i"), []provider.WorkItem{message}, false)
	must(t, err)
	if turn := soon(t, turns); turn == nil || len(turn.Item.Messages) != 2 {
		t.Errorf("fetched %+v; want a turn with the start and the message", turn)
	}
}
