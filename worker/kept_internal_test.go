package worker

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker/internal/leases"
)

var errBusy = provider.Retryable("ack", "busy", nil)

// What is kept is for the same activity, fetched once more, and the oldest goes first.
func TestKeptResults(t *testing.T) {
	t.Parallel()
	fetched := func(id uint64, input string, attempt uint32) *call {
		return &call{
			item:    provider.ActivityExecuteItem{Instance: "i", ExecutionID: 1, ID: id, Name: "A", Input: input},
			fetched: &provider.FetchedWorkItem{AttemptCount: attempt},
		}
	}
	k := keptResults{limit: 2, results: map[provider.ActivityRef]keptResult{}}
	done := provider.ActivityCompletedItem{Instance: "i", ExecutionID: 1}
	for id := range uint64(3) {
		k.keep(fetched(id, "in", 1).item, 1, done)
		k.keep(fetched(id, "in", 2).item, 2, done)
	}
	for _, test := range []struct {
		name string
		call *call
		want bool
	}{
		{"evicted", fetched(0, "in", 3), false},
		{"its instance was started anew", fetched(1, "in", 1), false},
		{"forgotten with that", fetched(1, "in", 3), false},
		{"come back", fetched(2, "in", 3), true},
		{"taken", fetched(2, "in", 4), false},
	} {
		if _, ok := k.take(test.call); ok != test.want {
			t.Errorf("%s: %t", test.name, ok)
		}
	}
	if len(k.results) != 0 || len(k.order) != 0 {
		t.Errorf("%d results and %d places are left", len(k.results), len(k.order))
	}
}

// An activity that is fetched while a turn cancels it is not told by the turn. It renews its
// lease at once, which tells it.
func TestCallsOfJustCancelledActivitiesRenewAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		renewed := map[uint64]time.Duration{}
		r := newRunningCalls()
		for id := range uint64(2*maxRecent + 1) {
			r.cancel([]provider.ActivityRef{{Instance: "i", ExecutionID: 1, ActivityID: id}})
		}
		for _, id := range []uint64{0, 2*maxRecent + 1, 2 * maxRecent} { // long ago, never, just now
			c := &call{item: provider.ActivityExecuteItem{Instance: "i", ExecutionID: 1, ID: id}}
			c.lease = leases.Hold(t.Context(), 30*time.Second, 5*time.Second, func(context.Context) error {
				renewed[id] = time.Since(began)
				return provider.ErrInvalidLockToken
			}, func(error) {}, slog.New(slog.DiscardHandler))
			t.Cleanup(c.lease.Stop)
			t.Cleanup(r.enter(c))
		}
		synctest.Wait()
		if len(renewed) != 1 || renewed[2*maxRecent] != 0 {
			t.Errorf("renewed %v", renewed)
		}
	})
}
