package sqlite

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// Several handles on one file, as processes have them, with several workers each:
// every instance and every activity is given to exactly one.
func TestHandlesNeverShareWork(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	const n, handles, workers = 120, 3, 4
	first := openFile(t, path, Options{})
	for i := range n {
		must(t, first.EnqueueForOrchestrator(t.Context(), start(fmt.Sprint("i", i)), 0))
		must(t, first.EnqueueForWorker(t.Context(), provider.ActivityExecuteItem{Instance: "i", ExecutionID: 1, ID: uint64(i) + 1}))
	}
	var mu sync.Mutex
	turns, activities, tokens := map[string]int{}, map[uint64]int{}, map[string]bool{}
	count := func(note func(), token string) {
		mu.Lock()
		defer mu.Unlock()
		note()
		if tokens[token] {
			t.Errorf("token %s was given twice", token)
		}
		tokens[token] = true
	}
	var group sync.WaitGroup
	for range handles {
		s := openFile(t, path, Options{BusyTimeout: 30 * second})
		for range workers {
			group.Go(func() {
				for {
					turn, err := s.FetchOrchestrationItem(t.Context(), provider.FetchOrchestrationParams{LockTimeout: time.Hour})
					must(t, err)
					if turn == nil {
						return
					}
					count(func() { turns[turn.Item.Instance]++ }, turn.LockToken)
				}
			})
			group.Go(func() {
				for {
					work, err := s.FetchWorkItem(t.Context(), provider.FetchWorkParams{LockTimeout: time.Hour})
					must(t, err)
					if work == nil {
						return
					}
					activity, _ := work.Item.(provider.ActivityExecuteItem)
					count(func() { activities[activity.ID]++ }, work.LockToken)
				}
			})
		}
	}
	group.Wait()
	if len(turns) != n || len(activities) != n || len(tokens) != 2*n {
		t.Errorf("fetched %d instances and %d activities with %d tokens; want %d, %d, %d",
			len(turns), len(activities), len(tokens), n, n, 2*n)
	}
}

// A token belongs to the data, not to the handle that fetched it.
func TestTokenOfAnotherHandle(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	a, b := openFile(t, path, Options{}), openFile(t, path, Options{})
	must(t, a.EnqueueForOrchestrator(t.Context(), start("i"), 0))
	turn := fetch(t, a)
	must(t, b.AckOrchestrationItem(t.Context(), provider.AckOrchestrationParams{LockToken: turn.LockToken, ExecutionID: 1}))
	if n := depth(t, a); n != 0 {
		t.Errorf("%d messages are left", n)
	}
}

// A handle that writes without a pause starves no other: between two of its
// transactions there is a gap, and begin finds it long before the patience ends.
func TestBusyHandleStarvesNobody(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	hog := openFile(t, path, Options{})
	quit := make(chan struct{})
	var hogs sync.WaitGroup
	for i := range 8 {
		hogs.Go(func() {
			for {
				select {
				case <-quit:
					return
				default:
					must(t, hog.EnqueueForOrchestrator(t.Context(), start(fmt.Sprint("hog", i)), 0))
				}
			}
		})
	}
	// Also when what follows fails: the store closes next.
	defer func() {
		close(quit)
		hogs.Wait()
	}()
	meek := openFile(t, path, Options{BusyTimeout: 60 * second})
	for i := range 50 {
		must(t, meek.EnqueueForOrchestrator(t.Context(), start(fmt.Sprint("meek", i)), 0))
	}
}
