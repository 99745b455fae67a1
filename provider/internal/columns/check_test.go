package columns

import (
	"math"
	"testing"
	"time"
)

func TestMilliseconds(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]int64{
		0: 0, 1: 1, time.Millisecond: 1, time.Millisecond + 1: 2, time.Second: 1000,
		math.MaxInt64: math.MaxInt64/1_000_000 + 1,
	} {
		if got := milliseconds(d); got != want {
			t.Errorf("milliseconds(%v) = %d, want %d", d, got, want)
		}
	}
}
