package clock

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"
)

func TestSleepTakesItsTime(t *testing.T) {
	t.Parallel()
	for _, d := range []time.Duration{math.MinInt64, -time.Second, 0, 1, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			if err := Sleep(t.Context(), d); err != nil || time.Since(begin) != max(d, 0) {
				t.Errorf("Sleep(%v) took %v, error %v", d, time.Since(begin), err)
			}
		})
	}
}

func TestSleepEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := Sleep(ctx, math.MaxInt64); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != time.Minute {
			t.Errorf("error %v after %v; want %v after a minute", err, time.Since(begin), context.DeadlineExceeded)
		}
		for _, d := range []time.Duration{-1, 0, 1} {
			if err := Sleep(ctx, d); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Sleep(%v): error %v of a context that has ended; want %v", d, err, context.DeadlineExceeded)
			}
		}
		if time.Since(begin) != time.Minute {
			t.Errorf("a context that has ended was waited for until %v", time.Since(begin))
		}
	})
}
