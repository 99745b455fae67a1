package orchestration_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/failure"
	"github.com/duroxide/duroxide-go/internal/history"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/retry"
)

var (
	charge = activity.Declare[string, string]("Charge")
	ship   = orchestration.Declare[string, string]("Ship")
)

// charging calls an activity once.
func charging(options ...orchestration.ActivityOption) orchestration.Definition[string, string] {
	return calling(charge, options...)
}

func calling(def activity.Definition[string, string], options ...orchestration.ActivityOption) orchestration.Definition[string, string] {
	return orchestration.New("Charging", func(ctx *orchestration.Context, input string) (string, error) {
		return orchestration.Activity(ctx, def, input, options...).Await()
	})
}

// shipping calls a sub-orchestration once.
func shipping(options ...orchestration.SubOption) orchestration.Definition[string, string] {
	return orchestration.New("Shipping", func(ctx *orchestration.Context, input string) (string, error) {
		return orchestration.SubOrchestration(ctx, ship, input, options...).Await()
	})
}

func retrying(policy retry.Policy) orchestration.CallOption {
	return orchestration.WithRetry(policy)
}

// Every case of retries and timeouts has this history, event by event.
func TestHistoriesOfRetries(t *testing.T) {
	t.Parallel()
	fixed := retry.Constant(time.Second)
	for _, test := range []struct {
		name  string
		def   orchestration.Definition[string, string]
		steps []string
		want  []string
	}{
		{"no policy", charging(), []string{"2 fails no"}, []string{"2 activity Charge", "3 2 failed", "4 failed: no"}},
		{
			"the first attempt succeeds",
			charging(retrying(retry.Policy{})),
			[]string{"2 returns ok"},
			[]string{"2 activity Charge", "3 2 returned", "4 completed: ok"},
		},
		{
			"the zero policy tries three times",
			charging(retrying(retry.Policy{})),
			[]string{"2 fails first", "4 fires", "6 fails second", "8 fires", "10 fails third"},
			[]string{
				"2 activity Charge", "3 2 failed", "4 timer 100ms", "5 4 fired", "6 activity Charge", "7 6 failed",
				"8 timer 200ms", "9 8 fired", "10 activity Charge", "11 10 failed", "12 failed: third",
			},
		},
		{
			"the second attempt succeeds",
			charging(retrying(retry.Policy{Backoff: fixed})),
			[]string{"2 fails first", "4 fires", "6 returns ok"},
			[]string{"2 activity Charge", "3 2 failed", "4 timer 1s", "5 4 fired", "6 activity Charge", "7 6 returned", "8 completed: ok"},
		},
		{
			"without a delay there is no timer",
			charging(retrying(retry.Policy{MaxAttempts: 2, Backoff: retry.Constant(0)})),
			[]string{"2 fails first", "4 fails second"},
			[]string{"2 activity Charge", "3 2 failed", "4 activity Charge", "5 4 failed", "6 failed: second"},
		},
		{
			"an attempt in time has its timer behind it",
			charging(orchestration.WithTimeout(5 * time.Second)),
			[]string{"2 returns ok"},
			[]string{"2 activity Charge", "3 timer 5s", "4 2 returned", "5 completed: ok"},
		},
		{
			"a timeout ends the call",
			charging(retrying(retry.Policy{Timeout: 5 * time.Second})),
			[]string{"3 fires"},
			[]string{"2 activity Charge", "3 timer 5s", "4 3 fired", "5 2 cancelled", "6 failed: timeout: activity timed out"},
		},
		{
			"a timeout behind a failure ends the call with the same words",
			charging(orchestration.WithTimeout(5*time.Second), retrying(retry.Policy{Backoff: fixed})),
			[]string{"2 fails first", "5 fires", "8 fires"},
			[]string{
				"2 activity Charge", "3 timer 5s", "4 2 failed", "5 timer 1s", "6 5 fired", "7 activity Charge", "8 timer 5s",
				"9 8 fired", "10 7 cancelled", "11 failed: timeout: activity timed out",
			},
		},
		{
			"a failure is not retried without a policy",
			charging(orchestration.WithTimeout(5 * time.Second)),
			[]string{"2 fails first"},
			[]string{"2 activity Charge", "3 timer 5s", "4 2 failed", "5 failed: first"},
		},
		{
			"timeouts are retried on request",
			charging(retrying(retry.Policy{Backoff: fixed, RetryTimeouts: true}), orchestration.WithTimeout(5*time.Second)),
			[]string{"3 fires", "5 fires", "8 returns ok"},
			[]string{
				"2 activity Charge", "3 timer 5s", "4 3 fired", "5 timer 1s", "6 2 cancelled", "7 5 fired", "8 activity Charge",
				"9 timer 5s", "10 8 returned", "11 completed: ok",
			},
		},
		{
			"all attempts together time out in one of them",
			charging(retrying(retry.Policy{Backoff: fixed, TotalTimeout: time.Minute})),
			[]string{"2 fails first", "5 fires", "3 fires"},
			[]string{
				"2 activity Charge", "3 timer 1m0s", "4 2 failed", "5 timer 1s", "6 5 fired", "7 activity Charge", "8 3 fired",
				"9 7 cancelled", "10 failed: timeout: activity timed out; the last attempt failed: first",
			},
		},
		{
			"all attempts together time out in the first",
			charging(retrying(retry.Policy{Timeout: 2 * time.Minute, TotalTimeout: time.Minute, RetryTimeouts: true})),
			[]string{"4 fires"},
			[]string{"2 activity Charge", "3 timer 2m0s", "4 timer 1m0s", "5 4 fired", "6 2 cancelled", "7 failed: timeout: activity timed out"},
		},
		{
			"all attempts together time out between two",
			charging(retrying(retry.Policy{Backoff: retry.Constant(time.Hour), TotalTimeout: time.Minute})),
			[]string{"2 fails first", "3 fires"},
			[]string{
				"2 activity Charge", "3 timer 1m0s", "4 2 failed", "5 timer 1h0m0s", "6 3 fired",
				"7 failed: timeout: activity timed out; the last attempt failed: first",
			},
		},
		{
			"an error that a retry does not help",
			charging(retrying(retry.Policy{
				Backoff:   fixed,
				Retryable: func(err error) bool { return !strings.Contains(err.Error(), "declined") },
			})),
			[]string{"2 fails busy", "4 fires", "6 fails declined"},
			[]string{"2 activity Charge", "3 2 failed", "4 timer 1s", "5 4 fired", "6 activity Charge", "7 6 failed", "8 failed: declined"},
		},
		{
			"a result that does not fit is not asked for again",
			orchestration.New("Charging", func(ctx *orchestration.Context, input string) (string, error) {
				_, err := orchestration.Activity(ctx, activity.Declare[string, int]("Charge"), input, retrying(retry.Policy{})).Await()
				if err == nil {
					return "no error", nil
				}
				return "refused", nil
			}),
			[]string{"2 returns ok"},
			[]string{"2 activity Charge", "3 2 returned", "4 completed: refused"},
		},
		{
			"each attempt of a sub-orchestration is an instance",
			shipping(retrying(retry.Policy{Backoff: fixed})),
			[]string{"2 fails first", "4 fires", "6 returns ok"},
			[]string{`2 sub Ship "sub::2"`, "3 2 failed", "4 timer 1s", "5 4 fired", `6 sub Ship "sub::6"`, "7 6 returned", "8 completed: ok"},
		},
		{
			"with an id of its own",
			shipping(orchestration.WithInstanceID("ship-7"), retrying(retry.Policy{Backoff: fixed})),
			[]string{"2 fails first", "4 fires", "6 returns ok"},
			[]string{
				`2 sub Ship "ship-7"`, "3 2 failed", "4 timer 1s", "5 4 fired", `6 sub Ship "ship-7::attempt::2"`, "7 6 returned",
				"8 completed: ok",
			},
		},
		{
			"a sub-orchestration that takes too long is cancelled",
			shipping(orchestration.WithTimeout(time.Minute)),
			[]string{"3 fires"},
			[]string{`2 sub Ship "sub::2"`, "3 timer 1m0s", "4 3 fired", "5 2 cancelled", "6 failed: timeout: sub-orchestration timed out"},
		},
		{
			"an id that is taken is not retried",
			shipping(orchestration.WithInstanceID("ship-7"), retrying(retry.Policy{Retryable: func(error) bool { return true }})),
			[]string{"2 fails " + history.TakenText("ship-7")},
			[]string{`2 sub Ship "ship-7"`, "3 2 failed", "4 failed: " + history.TakenText("ship-7")},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := scripted(t, test.def, "in")
			for _, step := range test.steps {
				s.happen(step)
			}
			if diff := cmp.Diff(test.want, s.lines()); diff != "" {
				t.Errorf("history (-want +got):\n%s", diff)
			}
		})
	}
}

// What a caller can ask an error of a call with a policy.
func TestErrorsOfRetries(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name       string
		policy     retry.Policy
		steps      []string
		is         []error
		not        []error
		last, text string
	}{
		{
			"the last failure",
			retry.Policy{MaxAttempts: 1},
			[]string{"2 fails no"},
			nil,
			[]error{orchestration.ErrTimeout},
			"", "no",
		},
		{
			"a timeout",
			retry.Policy{Timeout: time.Second},
			[]string{"3 fires"},
			[]error{orchestration.ErrTimeout},
			[]error{orchestration.ErrAlreadyExists},
			"", "timeout: activity timed out",
		},
		{
			"a total timeout",
			retry.Policy{TotalTimeout: time.Minute, Backoff: retry.Constant(time.Hour)},
			[]string{"2 fails no", "3 fires"},
			[]error{orchestration.ErrTimeout},
			nil, "no", "timeout: activity timed out; the last attempt failed: no",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var got error
			s := scripted(t, orchestration.New("Failing", func(ctx *orchestration.Context, _ string) (string, error) {
				_, got = orchestration.Activity(ctx, charge, "", orchestration.WithRetry(test.policy)).Await()
				return "", got
			}), "in")
			for _, step := range test.steps {
				s.happen(step)
			}
			call, ok := errors.AsType[*orchestration.CallError](got)
			if !ok || call.Message != test.text || call.Source != `activity "Charge"` {
				t.Fatalf("error %#v", got)
			}
			for _, target := range test.is {
				if !errors.Is(got, target) {
					t.Errorf("%v does not match %v", got, target)
				}
			}
			for _, target := range test.not {
				if errors.Is(got, target) {
					t.Errorf("%v matches %v", got, target)
				}
			}
			last := ""
			if causes := call.Unwrap(); len(causes) == 2 {
				last = causes[1].Error()
			}
			if last != test.last {
				t.Errorf("the last attempt's failure is %q, want %q", last, test.last)
			}
		})
	}
}

// Jitter shortens a delay by at most its share, differs between calls and attempts, and is
// the same in each replay.
func TestJitter(t *testing.T) {
	t.Parallel()
	def := orchestration.New("Jittery", func(ctx *orchestration.Context, _ string) (string, error) {
		policy := orchestration.WithRetry(retry.Policy{MaxAttempts: 20, Backoff: retry.Constant(time.Hour), Jitter: 0.5})
		a, b := orchestration.Activity(ctx, charge, "a", policy), orchestration.Activity(ctx, charge, "b", policy)
		_, err := orchestration.Join(a, b)
		return "", err
	})
	run := func() (delays []uint64) {
		s := scripted(t, def, "in")
		for i := 0; i < len(s.history); i++ { //nolint:intrange // it grows
			switch k := s.history[i].Kind.(type) {
			case provider.ActivityScheduled:
				s.happen(fmt.Sprintf("%d fails", i+1))
			case provider.TimerCreated:
				delays = append(delays, k.FireAtMs-s.history[i].TimestampMs)
				s.happen(fmt.Sprintf("%d fires", i+1))
			}
		}
		return delays
	}
	delays := run()
	if diff := cmp.Diff(delays, run()); diff != "" {
		t.Errorf("another run has other delays:\n%s", diff)
	}
	different, low, high := map[uint64]bool{}, uint64(math.MaxUint64), uint64(0)
	hour := uint64(time.Hour / time.Millisecond)
	for _, delay := range delays {
		different[delay] = true
		low, high = min(low, delay), max(high, delay)
	}
	if len(delays) != 38 || len(different) != len(delays) || low < hour/2 || low > hour*6/10 || high > hour || high < hour*9/10 {
		t.Errorf("%d delays of which %d differ, from %d to %d ms", len(delays), len(different), low, high)
	}
}

// However attempts end and timers fire, there are never more attempts than the policy allows,
// one after the other, and the call ends.
func TestRetriesKeepToTheirPolicy(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		policy := retry.Policy{
			MaxAttempts: rapid.IntRange(1, 6).Draw(r, "attempts"), RetryTimeouts: rapid.Bool().Draw(r, "retry timeouts"),
			Backoff: retry.Exponential(time.Second, 2, time.Minute), Jitter: rapid.Float64Range(0, 1).Draw(r, "jitter"),
			Timeout:      time.Duration(rapid.IntRange(0, 3).Draw(r, "timeout")) * time.Second,
			TotalTimeout: time.Duration(rapid.IntRange(0, 20).Draw(r, "total timeout")) * time.Second,
		}
		s := scripted(t, charging(orchestration.WithRetry(policy)), "in")
		open := func() (activities, timers []int, attempts int, ended bool) {
			done := map[uint64]bool{}
			for _, event := range s.history {
				if event.SourceEventID != nil {
					done[*event.SourceEventID] = true
				}
				ended = ended || event.Terminal()
			}
			for i, event := range s.history {
				switch event.Kind.(type) {
				case provider.ActivityScheduled:
					attempts++
					if !done[event.EventID] {
						activities = append(activities, i)
					}
				case provider.TimerCreated:
					if !done[event.EventID] {
						timers = append(timers, i)
					}
				}
			}
			return activities, timers, attempts, ended
		}
		for {
			activities, timers, attempts, ended := open()
			if attempts > policy.MaxAttempts || len(activities) > 1 {
				r.Fatalf("%d attempts, %d at once, by %+v:\n%s", attempts, len(activities), policy, strings.Join(s.lines(), "\n"))
			}
			if ended {
				return
			}
			next := rapid.SampledFrom(append(activities, timers...)).Draw(r, "next")
			s.happen(fmt.Sprintf("%d %s", next+1, rapid.SampledFrom([]string{"fails no", "fails no", "returns ok"}).Draw(r, "result")))
		}
	})
}

// A policy that makes no sense fails the orchestration with the field and the value.
func TestPoliciesThatMakeNoSense(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		policy retry.Policy
		want   string
	}{
		{retry.Policy{MaxAttempts: -1}, "MaxAttempts is -1"},
		{retry.Policy{Jitter: 1.5}, "Jitter is 1.5"},
		{retry.Policy{Jitter: math.NaN()}, "Jitter is NaN"},
		{retry.Policy{Timeout: -1}, "Timeout is -1ns"},
		{retry.Policy{TotalTimeout: -1}, "TotalTimeout -1ns"},
	} {
		s := scripted(t, orchestration.New("Senseless", func(*orchestration.Context, string) (string, error) {
			orchestration.WithRetry(test.policy)
			return "", nil
		}), "in")
		if lines := s.lines(); len(lines) != 1 || !strings.Contains(lines[0], test.want) {
			t.Errorf("%+v: %q, want %q", test.policy, lines, test.want)
		}
	}
}

// Activities with policies run side by side, and a select drops their attempts and timers.
func TestRetriesAreFutures(t *testing.T) {
	t.Parallel()
	policy := orchestration.WithRetry(retry.Policy{Backoff: retry.Constant(time.Second)})
	s := scripted(t, orchestration.New("Racing", func(ctx *orchestration.Context, _ string) (string, error) {
		a, b := orchestration.Activity(ctx, charge, "a", policy), orchestration.Activity(ctx, charge, "b", policy)
		winner := orchestration.SelectAndDrop(a, b)
		if _, err := a.Await(); !errors.Is(err, orchestration.ErrDropped) {
			t.Errorf("the loser's error is %v", err)
		}
		ctx.Sleep(time.Minute)
		value, err := b.Await()
		return fmt.Sprint(winner, value), err
	}), "in")
	for _, step := range []string{"2 fails no", "3 fails no", "5 fires", "7 fires", "11 returns ok", "13 fires"} {
		s.happen(step)
	}
	want := []string{
		"2 activity Charge", "3 activity Charge", "4 2 failed", "5 timer 1s", "6 3 failed", "7 timer 1s", "8 5 fired", "9 activity Charge",
		"10 7 fired", "11 activity Charge", "12 11 returned", "13 timer 1m0s", "14 9 cancelled", "15 13 fired", "16 completed: 1ok",
	}
	if diff := cmp.Diff(want, s.lines()); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
}

// An activity that fails twice on a store and a worker.
func TestRetryOnAStore(t *testing.T) {
	t.Parallel()
	tries := 0 // one instance, one attempt at a time
	flaky := activity.New("Charge", func(context.Context, string) (string, error) {
		if tries++; tries < 3 {
			return "", errors.New("busy")
		}
		return "charged", nil
	})
	def := charging(orchestration.WithRetry(retry.Policy{Backoff: retry.Constant(time.Millisecond)}))
	e := newEngine(t, def, flaky)
	if got := result(t, start(e, def, "in")); got != "charged" || tries != 3 {
		t.Errorf("%q after %d attempts", got, tries)
	}
}

// The worker's policy serves activities that have none of their own, and gives those its Timeout
// that leave it open. A definition's policy comes before the worker's, a call's before both (Definition.WithRetry).
// Sub-orchestrations and built-in activities have none (ActivityRetry).
func TestHistoriesOfTheWorkersPolicy(t *testing.T) {
	t.Parallel()
	policy := &retry.Policy{MaxAttempts: 2, Backoff: retry.Constant(time.Second), Timeout: time.Minute}
	for _, test := range []struct {
		name  string
		def   orchestration.Definition[string, string]
		steps []string
		want  []string
	}{
		{
			"it is used", charging(),
			[]string{"2 fails no", "5 fires", "7 fails neither"},
			[]string{
				"2 activity Charge", "3 timer 1m0s", "4 2 failed", "5 timer 1s", "6 5 fired", "7 activity Charge", "8 timer 1m0s",
				"9 7 failed", "10 failed: neither",
			},
		},
		{
			"another timeout", charging(orchestration.WithTimeout(time.Hour)),
			[]string{"3 fires"},
			[]string{"2 activity Charge", "3 timer 1h0m0s", "4 3 fired", "5 2 cancelled", "6 failed: timeout: activity timed out"},
		},
		{
			"another policy", charging(retrying(retry.Policy{MaxAttempts: 1})),
			[]string{"2 fails no"},
			[]string{"2 activity Charge", "3 timer 1m0s", "4 2 failed", "5 failed: no"},
		},
		{
			"the definition's policy", calling(charge.WithRetry(retry.Policy{Backoff: retry.Constant(time.Hour)})),
			[]string{"2 fails no", "5 fires", "7 returns ok"},
			[]string{
				"2 activity Charge", "3 timer 1m0s", "4 2 failed", "5 timer 1h0m0s", "6 5 fired", "7 activity Charge", "8 timer 1m0s",
				"9 7 returned", "10 completed: ok",
			},
		},
		{
			"the definition's timeout", calling(charge.WithRetry(retry.Policy{MaxAttempts: 1, Timeout: time.Second})),
			[]string{"3 fires"},
			[]string{"2 activity Charge", "3 timer 1s", "4 3 fired", "5 2 cancelled", "6 failed: timeout: activity timed out"},
		},
		{
			"a call's policy before the definition's",
			calling(charge.WithRetry(retry.Policy{MaxAttempts: 9, Timeout: time.Second}), retrying(retry.Policy{MaxAttempts: 1})),
			[]string{"2 fails no"},
			[]string{"2 activity Charge", "3 timer 1s", "4 2 failed", "5 failed: no"},
		},
		{
			"a sub-orchestration's definition",
			orchestration.New("Shipping", func(ctx *orchestration.Context, input string) (string, error) {
				return orchestration.SubOrchestration(ctx, ship.WithRetry(retry.Policy{Backoff: retry.Constant(time.Hour)}), input).Await()
			}),
			[]string{"2 fails no", "4 fires", "6 returns ok"},
			[]string{`2 sub Ship "sub::2"`, "3 2 failed", "4 timer 1h0m0s", "5 4 fired", `6 sub Ship "sub::6"`, "7 6 returned", "8 completed: ok"},
		},
		{"a sub-orchestration", shipping(), []string{"2 fails no"}, []string{`2 sub Ship "sub::2"`, "3 2 failed", "4 failed: no"}},
		{
			"a built-in activity",
			orchestration.New("Time", func(ctx *orchestration.Context, _ string) (string, error) { return ctx.NewGUID() }),
			[]string{"2 fails no"},
			[]string{"2 activity __duroxide_syscall:new_guid", "3 2 failed", "4 failed: no"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := unstarted(t, test.def, "in")
			s.activityRetry = policy
			s.turn()
			for _, step := range test.steps {
				s.happen(step)
			}
			if diff := cmp.Diff(test.want, s.lines()); diff != "" {
				t.Errorf("history (-want +got):\n%s", diff)
			}
		})
	}
}

// A call that is refused for its id ends at once, as the id stays the same (WithInstanceID).
func TestRefusedCallsAreNotRetried(t *testing.T) {
	t.Parallel()
	got := in(t, func(ctx *orchestration.Context) string {
		_, err := orchestration.SubOrchestration(ctx, orchestration.Declare[string, string]("Child"), "", orchestration.WithInstanceID("sub::1"),
			orchestration.WithRetry(retry.Policy{MaxAttempts: math.MaxInt})).Await()
		return fmt.Sprint(failure.IsFinal(err), " ", err)
	})
	if want := "true sub-orchestration id 'sub::1' begins with the reserved marker"; !strings.HasPrefix(got, want) {
		t.Errorf("%q, want %q…", got, want)
	}
}
