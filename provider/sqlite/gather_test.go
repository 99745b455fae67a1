package sqlite

import (
	"testing"
	"testing/synctest"
	"time"
)

// The writer waits for those whom it has answered, but not for long, and soon not at all if
// they don't call.
func TestWriterGathers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &writer{wake: make(chan struct{}, 1)}
		waits := func(why string, answered int, want time.Duration) {
			t.Helper()
			began := time.Now()
			w.gather(answered)
			if waited := time.Since(began); waited != want {
				t.Errorf("%s: waited %v, want %v", why, waited, want)
			}
		}
		call := func() { w.push(&job{}) }
		calls := func(after time.Duration, n int) {
			for range n {
				time.AfterFunc(after, call)
			}
		}
		calls(10*time.Microsecond, 2)
		waits("all call again", 2, 10*time.Microsecond)
		waits("they are there", 2, 0)
		calls(10*time.Microsecond, 1)
		waits("one of two more calls", 4, gatherFor)
		w.take()
		waits("nobody calls", 1, gatherFor)
		waits("after a wait in vain", 1, 0)
		waits("one transaction later", 1, gatherFor)
		for range 3 {
			waits("after two waits in vain", 1, 0)
		}
		calls(10*time.Microsecond, 1)
		waits("somebody calls at last", 1, 10*time.Microsecond)
		w.take()
		waits("and so it is worth it", 1, gatherFor)
		w.gathering = gathering{}
		time.AfterFunc(10*time.Microsecond, func() {
			w.mu.Lock()
			w.closed = true
			w.mu.Unlock()
			w.notify()
		})
		waits("it is closed", 1, 10*time.Microsecond)
	})
}
