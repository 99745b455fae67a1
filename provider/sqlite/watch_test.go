package sqlite

import (
	"math"
	"testing"
	"time"
)

// However far away the next time is, the watch sleeps, and no longer than its bound. It
// would spin if a distance overflowed.
func TestNapUntil(t *testing.T) {
	t.Parallel()
	const now = 1_760_000_000_000
	for wakeAt, want := range map[int64]time.Duration{
		now + 1:                           millisecond,
		now + 999:                         999 * millisecond,
		now + 1001:                        maxNap,
		now + math.MaxInt64/1_000_000 + 1: maxNap, // 292 years, the most that a Duration can say
		now + math.MaxInt64/1_000_000*2:   maxNap,
		math.MaxInt64:                     maxNap,
		now + (math.MaxInt64/1_000_000+1)*2 + 1000: maxNap,
	} {
		if got := napUntil(now, wakeAt); got != want {
			t.Errorf("a nap of %v towards %d, which is %d ms away; want %v", got, wakeAt, wakeAt-now, want)
		}
	}
}
