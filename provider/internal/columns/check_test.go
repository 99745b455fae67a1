package columns

import (
	"math"
	"strings"
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

// Who holds an activity is told of an activity, whichever call has lost it.
func TestLostActivitiesAreCalledActivities(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{"ack_work_item", "renew_work_item_lock", "abandon_work_item", "keep_heartbeat"} {
		for _, text := range []string{InvalidTokenText(operation), LockExpiredText(operation)} {
			if !strings.Contains(text, "activity") || strings.Contains(text, "turn") {
				t.Errorf("%s: %s", operation, text)
			}
		}
	}
}
