package retry_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/retry"
)

func TestBackoffs(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for name, test := range map[string]struct {
		backoff retry.Backoff
		want    []time.Duration
	}{
		"constant":    {retry.Constant(5 * ms), []time.Duration{5 * ms, 5 * ms, 5 * ms}},
		"linear":      {retry.Linear(100*ms, 250*ms), []time.Duration{100 * ms, 200 * ms, 250 * ms, 250 * ms}},
		"exponential": {retry.Exponential(100*ms, 3, time.Second), []time.Duration{100 * ms, 300 * ms, 900 * ms, time.Second}},
	} {
		for i, want := range test.want {
			if got := test.backoff(i + 1); got != want {
				t.Errorf("%s after attempt %d: %v, want %v", name, i+1, got, want)
			}
		}
	}
	for _, backoff := range []retry.Backoff{
		retry.Linear(time.Hour, math.MaxInt64), retry.Exponential(time.Hour, 10, math.MaxInt64),
	} {
		if got := backoff(math.MaxInt); got != math.MaxInt64 {
			t.Errorf("the delay after very many attempts is %v", got)
		}
	}
}

// Validate names the first invalid field.
func TestValidate(t *testing.T) {
	t.Parallel()
	if err := (retry.Policy{}).Validate(); err != nil {
		t.Error(err)
	}
	for want, policy := range map[string]retry.Policy{
		"retry.Policy: MaxAttempts is -1":                 {MaxAttempts: -1, Jitter: 2},
		"retry.Policy: Jitter is 1.5; it must be between": {Jitter: 1.5},
		"Jitter is NaN":                {Jitter: math.NaN()},
		"Timeout is -1ns":              {Timeout: -1},
		"StartTimeout -1ns":            {StartTimeout: -1},
		"RunTimeout -1ns":              {RunTimeout: -1},
		"TotalTimeout -1ns; they must": {TotalTimeout: -1},
	} {
		if err := policy.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", policy, err, want)
		}
	}
}
