package taking

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/provider"
)

// turnStore is a store with so many turns, which are given back.
type turnStore struct {
	provider.Store

	left atomic.Int32
}

func (s *turnStore) Claim(context.Context, provider.ClaimParams) (provider.Claimed, error) {
	if s.left.Add(-1) < 0 {
		return provider.Claimed{}, nil
	}
	return provider.Claimed{Turn: &provider.FetchedOrchestration{}}, nil
}

func (*turnStore) AbandonOrchestrationItem(context.Context, provider.AbandonParams) error { return nil }

// As long as looks find that there are more turns, more of them are made at a time.
func TestManyTurnsAreLookedForTogether(t *testing.T) {
	t.Parallel()
	store := new(turnStore)
	store.left.Store(30)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // so that turns are not run
	d := newTestDispatcher(ctx, store)
	l := newLooker(d)
	want := []int{1, 1, 1, 1, 2, 4, 8, 8, 8, 1}
	var got []int
	for range want {
		got = append(got, l.most)
		r := round{turns: true}
		for range l.most {
			r.looks = append(r.looks, look{seats: seats{turn: new(slot)}})
		}
		l.make(&r)
		l.over(r)
	}
	d.Loops.Wait()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("looks at a time (-want +got):\n%s", diff)
	}
}

// Work goes to a goroutine that has none, if there is one, and all end when they are told to.
func TestRunnersKeepTheirGoroutines(t *testing.T) {
	t.Parallel()
	var started sync.WaitGroup
	done := make(chan struct{})
	r := newRunners(&started, done)
	ended := make(chan struct{})
	r.Go(func() { close(ended) })
	<-ended
	again := make(chan struct{})
	r.next <- func() { close(again) } // which only a goroutine receives that is kept
	<-again
	close(done)
	started.Wait()
	r.Go(func() {})
	started.Wait()
}
