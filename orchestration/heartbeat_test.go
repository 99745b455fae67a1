package orchestration_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/retry"
)

// Heartbeats, StartTimeout and RunTimeout add no event: the history of each case, event by event, and what
// each attempt is asked with. Every turn replays the ones before it.
func TestHistoriesOfHeartbeats(t *testing.T) {
	t.Parallel()
	fixed := retry.Constant(time.Second)
	for _, test := range []struct {
		name               string
		policy             retry.Policy
		steps, want, asked []string
	}{
		{
			"a retry has the last details",
			retry.Policy{Backoff: fixed},
			[]string{"2 fails no at 7", "4 fires", "6 fails no at 9", "8 fires", "10 returns ok"},
			[]string{
				"2 activity Charge", "3 2 failed", "4 timer 1s", "5 4 fired", "6 activity Charge", "7 6 failed", "8 timer 1s",
				"9 8 fired", "10 activity Charge", "11 10 returned", "12 completed: ok",
			},
			[]string{"2 0ms", "6 0ms 7", "10 0ms 9"},
		},
		{
			"a failure of another runtime loses nothing",
			retry.Policy{Backoff: retry.Constant(0)},
			[]string{"2 fails no at 7", "4 fails no", "6 returns ok"},
			[]string{"2 activity Charge", "3 2 failed", "4 activity Charge", "5 4 failed", "6 activity Charge", "7 6 returned", "8 completed: ok"},
			[]string{"2 0ms", "4 0ms 7", "6 0ms 7"},
		},
		{
			"after a timeout the details are those of the attempt before",
			retry.Policy{Backoff: retry.Constant(0), Timeout: time.Minute, RetryTimeouts: true},
			[]string{"2 fails no at 7", "6 fires", "8 returns ok"},
			[]string{
				"2 activity Charge", "3 timer 1m0s", "4 2 failed", "5 activity Charge", "6 timer 1m0s", "7 6 fired",
				"8 activity Charge", "9 timer 1m0s", "10 5 cancelled", "11 8 returned", "12 completed: ok",
			},
			[]string{"2 0ms", "5 0ms 7", "8 0ms 7"},
		},
		{
			"what is begun too late ends the call",
			retry.Policy{StartTimeout: time.Minute},
			[]string{"2 late"},
			[]string{"2 activity Charge", "3 2 failed", "4 failed: timeout: activity waited 1h0m0s for a worker, and may wait 1m0s"},
			[]string{"2 60000ms"},
		},
		{
			"what is begun too late is tried again on request",
			retry.Policy{StartTimeout: time.Minute, RetryTimeouts: true, Backoff: fixed},
			[]string{"2 late", "4 fires", "6 returns ok"},
			[]string{"2 activity Charge", "3 2 failed", "4 timer 1s", "5 4 fired", "6 activity Charge", "7 6 returned", "8 completed: ok"},
			[]string{"2 60000ms", "6 60000ms"},
		},
		{
			"what runs for too long is tried again on request",
			retry.Policy{RunTimeout: time.Minute, RetryTimeouts: true, Backoff: fixed},
			[]string{"2 overrun", "4 fires", "6 returns ok"},
			[]string{"2 activity Charge", "3 2 failed", "4 timer 1s", "5 4 fired", "6 activity Charge", "7 6 returned", "8 completed: ok"},
			[]string{"2 0ms", "6 0ms"},
		},
		{
			"and ends the call otherwise",
			retry.Policy{RunTimeout: time.Minute},
			[]string{"2 overrun"},
			[]string{"2 activity Charge", "3 2 failed", "4 failed: timeout: activity ran for longer than 1m0s"},
			[]string{"2 0ms"},
		},
		{
			"a failure is retried as without it, and a part of a millisecond counts",
			retry.Policy{StartTimeout: time.Second + 1, Backoff: fixed},
			[]string{"2 fails no", "4 fires", "6 returns ok"},
			[]string{"2 activity Charge", "3 2 failed", "4 timer 1s", "5 4 fired", "6 activity Charge", "7 6 returned", "8 completed: ok"},
			[]string{"2 1001ms", "6 1001ms"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := scripted(t, charging(retrying(test.policy)), "in")
			for _, step := range test.steps {
				s.happen(step)
			}
			if diff := cmp.Diff(test.want, s.lines()); diff != "" {
				t.Errorf("history (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.asked, s.asked()); diff != "" {
				t.Errorf("activities (-want +got):\n%s", diff)
			}
		})
	}
}

// RunTimeout goes along with the activity: WithRetry leaves the worker's in force, and a
// sub-orchestration has none.
func TestRunTimeout(t *testing.T) {
	t.Parallel()
	s := unstarted(t, charging(retrying(retry.Policy{MaxAttempts: 2})), "in")
	s.activityRetry = &retry.Policy{RunTimeout: time.Second + 1}
	s.turn()
	if a, _ := s.sent[0].(provider.ActivityExecuteItem); a.RunTimeoutMs != 1001 {
		t.Errorf("the activity may run %d ms", a.RunTimeoutMs)
	}
	if sub := scripted(t, shipping(retrying(retry.Policy{RunTimeout: time.Second})), "in"); len(sub.asked()) != 0 {
		t.Errorf("asked for %v", sub.asked())
	}
	if err := (retry.Policy{RunTimeout: -1}).Validate(); err == nil {
		t.Error("a negative RunTimeout is valid")
	}
}

// An activity that was begun too late is ErrTimeout (retry.Policy.StartTimeout), WithRetry leaves
// the worker's StartTimeout in force, and a sub-orchestration has none.
func TestStartTimeout(t *testing.T) {
	t.Parallel()
	var got error
	def := orchestration.New("Failing", func(ctx *orchestration.Context, _ string) (string, error) {
		_, got = orchestration.Activity(ctx, charge, "", retrying(retry.Policy{MaxAttempts: 2})).Await()
		return "", got
	})
	s := unstarted(t, def, "in")
	s.activityRetry = &retry.Policy{StartTimeout: math.MaxInt64}
	s.turn()
	if diff := cmp.Diff([]string{"2 9223372036855ms"}, s.asked()); diff != "" {
		t.Errorf("activities (-want +got):\n%s", diff)
	}
	s.happen("2 late")
	if !errors.Is(got, orchestration.ErrTimeout) {
		t.Errorf("error %v", got)
	}
	if sub := scripted(t, shipping(retrying(retry.Policy{StartTimeout: time.Second})), "in"); len(sub.asked()) != 0 {
		t.Errorf("asked for %v", sub.asked())
	}
	if err := (retry.Policy{StartTimeout: -1}).Validate(); err == nil {
		t.Error("a negative StartTimeout is valid")
	}
}
