package taking

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// await waits until it is time to look, or ctx ends, and reserves up to n slots.
func await(ctx context.Context, s *slots[int], n int) (reserved []int, seen uint64) {
	for ctx.Err() == nil {
		reserved, seen, pause := s.due(n)
		if len(reserved) > 0 {
			return reserved, seen
		}
		var alarm <-chan time.Time
		if pause > 0 {
			alarm = time.After(pause)
		}
		select {
		case <-ctx.Done():
		case <-s.ready:
			s.notice()
		case <-s.changed:
		case <-alarm:
		}
	}
	return nil, 0
}

// When a dispatcher looks: after a notice, and after a look that found all it asked for. The
// first such look leaves it to what was found to find more, for lookAgain at the most.
func TestWhenADispatcherLooks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ready := make(chan struct{}, 1)
		s := newSlots(ready, []int{1, 2, 3})
		due := func(step string, want time.Duration) (seen uint64) {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			began := time.Now()
			free, seen := await(ctx, s, 3)
			s.put(false, free...)
			if waited := time.Since(began); waited != want {
				t.Fatalf("%s: looked after %v, want %v", step, waited, want)
			}
			return seen
		}
		seen := due("at first", 0)
		s.looked(seen, 1, 0)
		due("nothing found", time.Hour)
		ready <- struct{}{}
		seen = due("a notice", 0)
		s.looked(seen, 1, 1)
		seen = due("something found", lookAgain)
		s.looked(seen, 1, 1)
		seen = due("more found", 0)
		ready <- struct{}{}
		_, later := s.reserve(0)
		s.looked(seen, 1, 0)
		due("a notice during a look in vain", 0)
		s.looked(later, 1, 0)
		due("that was the last", time.Hour)
		s.put(true)
		seen = due("a slot that has looked for nothing", 0)
		s.looked(seen, 1, 0)
		due("nor did it find anything", time.Hour)
	})
}

// A look for some slots does not tell what there is in the sessions of others: these are looked for as well.
func TestEverySlotLooksForItsSessions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		event func(t *testing.T, s *slots[int], ready chan<- struct{})
	}{
		{"a notice that an acknowledgement hears first", func(t *testing.T, s *slots[int], ready chan<- struct{}) {
			t.Helper()
			ready <- struct{}{}
			own, seen := s.reserve(1)
			s.looked(seen, 1, 0)
			s.put(false, own...)
		}},
		{"a slot that comes free during a look for others", func(t *testing.T, s *slots[int], _ chan<- struct{}) {
			t.Helper()
			busy, _ := s.reserve(1)
			others, seen := s.reserve(2)
			s.put(true, busy...)
			s.looked(seen, 2, 0)
			s.put(false, others...)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ready := make(chan struct{}, 1)
				s := newSlots(ready, []int{1, 2, 3})
				s.unspared = func() bool { return true }
				look := func() []int {
					ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
					defer cancel()
					free, seen := await(ctx, s, 3)
					s.looked(seen, len(free), 0)
					s.put(false, free...)
					return free
				}
				if n := len(look()); n != 3 {
					t.Fatalf("the first look is for %d slots, want 3", n)
				}
				if free := look(); free != nil {
					t.Fatalf("a second look for %v", free)
				}
				test.event(t, s, ready)
				if n := len(look()); n != 3 {
					t.Errorf("a look for %d slots, want one for all 3", n)
				}
				if free := look(); free != nil {
					t.Errorf("another look for %v", free)
				}
			})
		})
	}
}
