package worker_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/providerfault"
	"github.com/duroxide/duroxide-go/provider/sqlite"
	"github.com/duroxide/duroxide-go/worker"
)

// handedBack is a store that tells of activities that are given back, and for each of which the
// first call to do so fails.
type handedBack struct {
	*sqlite.Store

	all, counted atomic.Int32
	failed       sync.Map // by lock token
}

func (s *handedBack) AbandonWorkItem(ctx context.Context, params provider.AbandonParams) error {
	if _, again := s.failed.LoadOrStore(params.LockToken, true); !again {
		return providerfault.Unreachable()
	}
	s.all.Add(1)
	if !params.IgnoreAttempt {
		s.counted.Add(1)
	}
	return s.Store.AbandonWorkItem(ctx, params)
}

// A worker whose activities were short has more in hand than it runs. It never runs more than it
// may, and when they are long suddenly, others get what waits, as a first attempt, also when the
// store fails for a moment then.
func TestWorkIsTakenAheadAndHandedBack(t *testing.T) {
	t.Parallel()
	const wide = 40
	var running, most, attempts atomic.Int32
	long := make(chan struct{})
	started := make(chan struct{}, wide)
	work := activity.New("Work", func(ctx context.Context, in bool) (bool, error) {
		now := running.Add(1)
		defer running.Add(-1)
		if !in {
			most.Store(max(most.Load(), now))
		}
		info, _ := activity.InfoFrom(ctx)
		attempts.Add(int32(info.Attempt))
		if in {
			started <- struct{}{}
			<-long
		}
		return in, nil
	})
	fanOut := orchestration.New("FanOut", func(ctx *orchestration.Context, in fanned) (int, error) {
		calls := make([]*orchestration.Future[bool], in.Width)
		for i := range calls {
			calls[i] = orchestration.Activity(ctx, work, in.Long)
		}
		_, err := orchestration.Join(calls...)
		return in.Width, err
	})
	store := &handedBack{Store: openStore(t)}
	one := worker.Options{OrchestrationConcurrency: 1, ActivityConcurrency: 1, Leases: worker.Leases{Activity: 5 * time.Minute}}
	runWorker(t, store, one, fanOut, work)
	begin := func(in fanned) *client.Run[int] {
		run, err := client.Start(t.Context(), client.New(store.Store, client.Options{}), fanOut, fmt.Sprint(in), in)
		if err != nil {
			t.Fatal(err)
		}
		return run
	}
	if got := result(t, begin(fanned{Width: 100})); got != 100 {
		t.Fatalf("%d short activities have run", got)
	}
	if most.Load() != 1 {
		t.Errorf("%d activities ran at a time on one slot", most.Load())
	}
	run := begin(fanned{Width: wide, Long: true})
	receive(t, "the first long activity", started)
	others := one
	others.ActivityConcurrency = wide
	runWorker(t, store.Store, others, fanOut, work)
	for range wide - 1 {
		receive(t, "a long activity on the other worker", started)
	}
	close(long)
	if got := result(t, run); got != wide {
		t.Errorf("%d long activities have run", got)
	}
	t.Logf("%d activities waited for a place and were given back", store.all.Load())
	if attempts.Load() != 100+wide || store.counted.Load() != 0 {
		t.Errorf("%d attempts and %d given back as one, want %d and none", attempts.Load(), store.counted.Load(), 100+wide)
	}
}

// fanned is so many activities side by side.
type fanned struct {
	Width int
	Long  bool
}
