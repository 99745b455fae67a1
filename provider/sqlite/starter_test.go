package sqlite

import (
	"path/filepath"
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
	config := &Config{PollInterval: -1, now: clock.Load}
	s := openFile(t, path, config)
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
	two := openFile(t, path, config) // which has no bounds to go by
	if diff := cmp.Diff([]string{"order"}, fetchInstances(t, two)); diff != "" {
		t.Errorf("fetched (-want +got):\n%s", diff)
	}
}
