package schedule_test

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/tsql/leaktest"

	"github.com/duroxide/duroxide-go/tsql/internal/server/schedule"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func TestOneSessionRunsAtATime(t *testing.T) {
	t.Parallel()
	s := schedule.NewReal()
	var inside atomic.Int32
	var wg sync.WaitGroup
	for id := range schedule.ID(8) {
		wg.Go(func() {
			for range 200 {
				s.Enter(id)
				if n := inside.Add(1); n != 1 {
					t.Errorf("%d sessions run", n)
				}
				inside.Add(-1)
				s.Yield(id, schedule.Point{Kind: "statement"})
				s.Unpark((id + 1) % 8)
				inside.Add(1)
				inside.Add(-1)
				s.Outside(id, func() {})
				s.Park(t.Context(), id, schedule.Point{Kind: "sleep"}, time.Microsecond)
				s.Leave(id)
			}
		})
	}
	wg.Wait()
}

func TestParkEnds(t *testing.T) {
	t.Parallel()
	cancelled := func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		return ctx, cancel
	}
	late := func(ctx context.Context) (context.Context, context.CancelFunc) {
		return context.WithTimeout(ctx, time.Millisecond)
	}
	tests := []struct {
		name    string
		make    func(context.Context) (context.Context, context.CancelFunc)
		timeout time.Duration
		woken   bool
		want    schedule.Outcome
	}{
		{"by an Unpark that came before", context.WithCancel, -1, true, schedule.Woken},
		{"by an Unpark though the context has ended", cancelled, -1, true, schedule.Woken},
		{"by a time-out of nothing", context.WithCancel, 0, false, schedule.TimedOut},
		{"by its time-out", context.WithCancel, time.Millisecond, false, schedule.TimedOut},
		{"by a context that has ended", cancelled, -1, false, schedule.Cancelled},
		{"by a context that ends", late, -1, false, schedule.Cancelled},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := tt.make(t.Context())
			defer cancel()
			s := schedule.NewReal()
			s.Enter(1)
			defer s.Leave(1)
			if tt.woken {
				s.Unpark(1)
			}
			if got := s.Park(ctx, 1, schedule.Point{Kind: "lock"}, tt.timeout); got != tt.want {
				t.Errorf("Park = %v, want %v", got, tt.want)
			}
			// The token is used up.
			if got := s.Park(t.Context(), 1, schedule.Point{Kind: "lock"}, 0); got != schedule.TimedOut {
				t.Errorf("second Park = %v, want TimedOut", got)
			}
		})
	}
}

// An Unpark that comes between the end of the context and the session's return counts: the session would otherwise
// find the token at its next Park, where it waits for something else.
func TestUnparkWhileTheLatchIsTaken(t *testing.T) {
	t.Parallel()
	s := schedule.NewReal()
	ctx, cancel := context.WithCancel(t.Context())
	outcome := make(chan schedule.Outcome, 2)
	go func() {
		s.Enter(3)
		defer s.Leave(3)
		outcome <- s.Park(ctx, 3, schedule.Point{}, -1)
		outcome <- s.Park(t.Context(), 3, schedule.Point{}, 0)
	}()
	wait(func() bool { return s.Parked(3) })
	s.Enter(1)
	cancel()
	wait(func() bool { return s.Queued() == 1 })
	s.Unpark(3)
	s.Leave(1)
	if got := <-outcome; got != schedule.Woken {
		t.Errorf("Park = %v, want Woken", got)
	}
	if got := <-outcome; got != schedule.TimedOut {
		t.Errorf("second Park = %v, want TimedOut", got)
	}
}

func TestFirstComeFirstServed(t *testing.T) {
	t.Parallel()
	s := schedule.NewReal()
	s.Enter(0)
	var order []schedule.ID
	var wg sync.WaitGroup
	for id := schedule.ID(1); id <= 200; id++ {
		wg.Go(func() {
			s.Enter(id)
			order = append(order, id)
			s.Leave(id)
		})
		wait(func() bool { return s.Queued() == int(id) })
	}
	s.Leave(0)
	wg.Wait()
	if len(order) != 200 || !slices.IsSorted(order) {
		t.Errorf("the sessions ran in the order %v", order)
	}
}

// A session that has had its slice lets the others go first; one that has not goes on.
func TestYield(t *testing.T) {
	t.Parallel()
	s := schedule.NewReal()
	s.Enter(1)
	ran := make(chan struct{})
	go func() {
		s.Enter(2)
		defer s.Leave(2)
		close(ran)
	}()
	wait(func() bool { return s.Queued() == 1 })
	for done := false; !done; {
		s.Yield(1, schedule.Point{Kind: "statement"})
		select {
		case <-ran:
			done = true
		default:
		}
	}
	s.Leave(1)
}

// wait polls for what gives no signal: that a goroutine has come to wait.
func wait(until func() bool) {
	for !until() {
		runtime.Gosched()
	}
}

func BenchmarkEnterLeave(b *testing.B) {
	s := schedule.NewReal()
	for b.Loop() {
		s.Enter(1)
		s.Yield(1, schedule.Point{})
		s.Leave(1)
	}
}

func BenchmarkHandOver(b *testing.B) {
	s := schedule.NewReal()
	var id atomic.Int32
	b.RunParallel(func(pb *testing.PB) {
		me := schedule.ID(id.Add(1))
		for pb.Next() {
			s.Enter(me)
			s.Leave(me)
		}
	})
}
