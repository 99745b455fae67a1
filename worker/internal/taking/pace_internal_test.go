package taking

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// What is taken ahead: one for each slot, or what the slots could run during a call; none if a call
// is short beside a run, and at most so much.
func TestHowMuchIsTakenAhead(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		run, call   time.Duration
		slots, want int
	}{
		{run: 10 * time.Millisecond, call: 199 * time.Microsecond, slots: 2, want: 0},
		{run: 10 * time.Millisecond, call: 200 * time.Microsecond, slots: 2, want: 2},
		{run: 10 * time.Millisecond, call: 20 * time.Millisecond, slots: 3, want: 6},
		{run: 10 * time.Millisecond, call: time.Millisecond, slots: 100, want: mostAhead},
		{run: 20 * time.Microsecond, call: 100 * time.Microsecond, slots: 2, want: 10},
		{run: 20 * time.Microsecond, call: time.Millisecond, slots: 2, want: mostAhead},
		{run: 0, call: time.Millisecond, slots: 2, want: mostAhead},
		{run: 20 * time.Microsecond, call: time.Millisecond, slots: 0, want: 0},
	} {
		if got := (&pace{run: test.run, call: test.call}).ahead(test.slots); got != test.want {
			t.Errorf("%d slots, %v a run and %v a call: %d ahead, want %d", test.slots, test.run, test.call, got, test.want)
		}
	}
	p := newPace()
	p.called(time.Millisecond)
	if p.ahead(2) != 0 {
		t.Error("something is taken ahead before anything has run")
	}
	const short = time.Microsecond
	for range 60 {
		p.ran(short)
	}
	if p.ahead(2) == 0 {
		t.Errorf("nothing is taken ahead after many short runs, which last %v", p.run)
	}
	p.ran(time.Hour)
	if p.ahead(2) != 0 {
		t.Errorf("something is taken ahead after a long run, the runs last %v", p.run)
	}
}

// hasty makes the work of the slots look short.
func hasty[S comparable](s *slots[S]) {
	s.pace = pace{run: time.Microsecond, call: time.Millisecond}
}

// Spare slots are taken when the others are in use and the work is short, and not while they are
// to stay free. A call for a spare slot is made for another that has become free.
func TestSpareSlots(t *testing.T) {
	t.Parallel()
	s := newSlots(nil, []int{1, 2}, 11, 12, 13)
	reserve := func(want []int, instead ...int) {
		t.Helper()
		got, _ := s.reserve(9, instead...)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("slots %v, want %v", got, want)
		}
	}
	reserve([]int{1, 2})
	reserve(nil)
	hasty(s)
	reserve([]int{11, 12, 13})
	s.put(false, 1)
	if got, _ := s.reserve(1, 11); !slices.Equal(got, []int{1}) {
		t.Fatalf("slots %v in place of a spare one, want the free one", got)
	}
	s.unspared = func() bool { return true }
	reserve(nil, 1, 12)
	s.put(false, 2, 13)
	if s.allFree() != true {
		t.Error("a slot is in use")
	}
	reserve([]int{1, 2})
}

// As much runs at a time as there are slots that are not spare. What waits for longer than the
// patience does not run, and nothing is taken ahead then.
func TestWorkWaitsForAPlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(nil, []int{1, 2}, 11, 12)
		hasty(s)
		taken, _ := s.reserve(4)
		began := time.Now()
		if len(taken) != 4 || !s.run(t.Context()) || !s.run(t.Context()) {
			t.Fatal("two do not run")
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if s.run(ctx) {
			t.Error("a third runs beside them after the end")
		}
		go func() {
			time.Sleep(aheadPatience / 2)
			s.ran(began)
		}()
		if !s.run(t.Context()) || time.Since(began) != aheadPatience/2 {
			t.Errorf("no third runs when one has ended, after %v", time.Since(began))
		}
		s.put(false, 2, 11, 12)
		began = time.Now()
		if s.run(t.Context()) || time.Since(began) != aheadPatience {
			t.Errorf("a fourth gave up after %v, want %v", time.Since(began), aheadPatience)
		}
		if got, _ := s.reserve(9); !slices.Equal(got, []int{2}) {
			t.Errorf("slots %v after work that has waited, want none that is spare", got)
		}
	})
}
