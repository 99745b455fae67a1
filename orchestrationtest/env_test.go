package orchestrationtest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/orchestrationtest"
	"github.com/duroxide/duroxide-go/retry"
	"github.com/duroxide/duroxide-go/tsql/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

var (
	greet = activity.Declare[string, string]("Greet")
	tally = activity.Declare[int, int]("Tally")
)

// daily greets once a day for 30 days.
var daily = orchestration.New("Daily", func(ctx *orchestration.Context, name string) (int, error) {
	for day := range 30 {
		if _, err := orchestration.Activity(ctx, greet, name).Await(); err != nil {
			return day, err
		}
		ctx.Sleep(24 * time.Hour)
	}
	return 30, nil
})

func echo(_ context.Context, text string) (string, error) { return text, nil }

func double(_ context.Context, n int) (int, error) { return 2 * n, nil }

func TestThirtyDays(t *testing.T) {
	t.Parallel()
	env := orchestrationtest.New(t)
	orchestrationtest.Mock(env, greet, echo)
	days, err := orchestrationtest.Run(env, daily, "Ada")
	if err != nil || days != 30 || env.Now().Sub(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)) != 30*24*time.Hour {
		t.Errorf("%d days, %v, now %v", days, err, env.Now())
	}
	if calls := env.Calls(); len(calls) != 30 || calls[29].At != 29*24*time.Hour {
		t.Errorf("%v", calls)
	}
}

var retried = orchestration.New("Retried", func(ctx *orchestration.Context, n int) (int, error) {
	return orchestration.Activity(ctx, tally, n, orchestration.WithRetry(retry.Policy{
		MaxAttempts: 3, Backoff: retry.Linear(time.Minute, time.Hour), Timeout: time.Hour, RetryTimeouts: true,
	})).Await()
})

// TestMocks has activities that fail, that are slow, and that panic.
func TestMocks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mock  func(m *orchestrationtest.Mocked)
		calls []string
		err   string
	}{
		"fine":         {func(*orchestrationtest.Mocked) {}, []string{"Tally @0s"}, ""},
		"fails twice":  {func(m *orchestrationtest.Mocked) { m.Fails(2, errors.New("no")) }, []string{"Tally", "Tally @1m", "Tally @3m"}, ""},
		"fails always": {func(m *orchestrationtest.Mocked) { m.Fails(9, errors.New("no")) }, []string{"Tally", "Tally", "Tally"}, "no"},
		"slow":         {func(m *orchestrationtest.Mocked) { m.Takes(time.Hour - time.Millisecond) }, []string{"Tally"}, ""},
		"too slow":     {func(m *orchestrationtest.Mocked) { m.Takes(2 * time.Hour) }, []string{"Tally", "Tally @1h1m", "Tally @2h3m"}, "timeout: activity timed out"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := orchestrationtest.New(t)
			c.mock(orchestrationtest.Mock(env, tally, double))
			got, err := orchestrationtest.Run(env, retried, 21)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if text != c.err || err == nil && got != 42 {
				t.Errorf("%d, %v", got, err)
			}
			env.WantCalls(c.calls...)
		})
	}
}

// An attempt of a mock that takes longer than RunTimeout fails when that has passed.
func TestRunTimeout(t *testing.T) {
	t.Parallel()
	policy := retry.Policy{MaxAttempts: 2, Backoff: retry.Constant(time.Minute), RunTimeout: time.Hour, RetryTimeouts: true}
	counting := orchestration.New("Counting", func(ctx *orchestration.Context, n int) (int, error) {
		return orchestration.Activity(ctx, tally, n, orchestration.WithRetry(policy)).Await()
	})
	same := func(_ context.Context, n int) (int, error) { return n, nil }
	env := orchestrationtest.New(t)
	orchestrationtest.Mock(env, tally, same).Takes(time.Hour + 1)
	if _, err := orchestrationtest.Run(env, counting, 1); !errors.Is(err, orchestration.ErrTimeout) {
		t.Errorf("error %v", err)
	}
	env.WantCalls("Tally @0s", "Tally @1h1m")
	env = orchestrationtest.New(t)
	orchestrationtest.Mock(env, tally, same).Takes(time.Hour)
	if got, err := orchestrationtest.Run(env, counting, 1); got != 1 || err != nil {
		t.Errorf("in time: %d, %v", got, err)
	}
}

// TestHeartbeats has attempts that hand on how far they came, the last by a mock that begins late
// (Mocked.Waits): within StartTimeout it runs, beyond it does not.
func TestHeartbeats(t *testing.T) {
	t.Parallel()
	policy := retry.Policy{
		MaxAttempts: 3, Backoff: retry.Constant(time.Minute), StartTimeout: time.Hour, TotalTimeout: 24 * time.Hour, RetryTimeouts: true,
	}
	counting := orchestration.New("Counting", func(ctx *orchestration.Context, n int) (int, error) {
		return orchestration.Activity(ctx, tally, n, orchestration.WithRetry(policy)).Await()
	})
	count := func(ctx context.Context, n int) (int, error) {
		last, _ := activity.LastHeartbeat[int](ctx)
		if err := activity.Heartbeat(ctx, last+n); err != nil || last < 2*n {
			return 0, fmt.Errorf("only %d, %w", last, err)
		}
		return last, nil
	}
	for name, c := range map[string]struct {
		waits time.Duration
		calls []string
		err   string
	}{
		"at once": {0, []string{"Tally @0s", "Tally @1m", "Tally @2m"}, ""},
		"in time": {time.Hour, []string{"Tally @1h", "Tally @2h1m", "Tally @3h2m"}, ""},
		"late":    {2 * time.Hour, nil, "timeout: activity waited 2h0m0s for a worker, and may wait 1h0m0s"},
		"never":   {25 * time.Hour, nil, "timeout: activity timed out"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := orchestrationtest.New(t)
			orchestrationtest.Mock(env, tally, count).Waits(c.waits)
			got, err := orchestrationtest.Run(env, counting, 21)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if text != c.err || err == nil && got != 42 {
				t.Errorf("%d, %v", got, err)
			}
			env.WantCalls(c.calls...)
		})
	}
}

var (
	approve = orchestration.NewEvent[string]("approve")
	notes   = orchestration.NewQueue[string]("notes")
)

var approval = orchestration.New("Approval", func(ctx *orchestration.Context, days int) (string, error) {
	approved := approve.Wait(ctx)
	ctx.SetCustomStatus("waits")
	if orchestration.SelectAndDrop(approved, ctx.Timer(time.Duration(days)*24*time.Hour)) == 1 {
		return "", errors.New("too late")
	}
	by, err := approved.Await()
	if err != nil {
		return "", err
	}
	message, err := notes.Dequeue(ctx).Await()
	return by + ": " + message, err
})

func TestScript(t *testing.T) {
	t.Parallel()
	env := orchestrationtest.New(t, approval)
	status := ""
	env.After(0).Do(func() { status = *env.CustomStatus() })
	orchestrationtest.Enqueue(orchestrationtest.Raise(env.After(72*time.Hour), approve, "Ada"), notes, "fine")
	if got, err := orchestrationtest.Run(env, approval, 4); err != nil || got != "Ada: fine" || status != "waits" {
		t.Errorf("%q, %v, status %q", got, err, status)
	}
	if _, err := orchestrationtest.Run(env, approval, 2); err == nil || err.Error() != "too late" {
		t.Errorf("%v", err)
	}
	env.After(time.Hour).Cancel("enough")
	_, err := orchestrationtest.Run(env, approval, 2)
	if failed, ok := errors.AsType[*client.FailedError](err); !ok || !failed.Cancelled() || !errors.Is(err, orchestration.ErrCancelled) {
		t.Errorf("%v", err)
	}
	orchestrationtest.Raise(env.After(time.Hour), orchestration.NewEvent[string]("approve"), "Bob")
	if _, err := orchestrationtest.Run(env, approval, 2); !errors.Is(err, orchestrationtest.ErrStuck) {
		t.Errorf("%v", err)
	} else {
		t.Log(err)
	}
}

// BenchmarkThirtyDays has 30 activities and timers of a day, replayed at each of their prefixes.
func BenchmarkThirtyDays(b *testing.B) {
	for b.Loop() {
		env := orchestrationtest.New(b)
		orchestrationtest.Mock(env, greet, echo)
		if days, err := orchestrationtest.Run(env, daily, "Ada"); err != nil || days != 30 {
			b.Fatal(days, err)
		}
	}
}

// BenchmarkTimers has 10,000 timers in one orchestration.
func BenchmarkTimers(b *testing.B) {
	sleepy := orchestration.New("Sleepy", func(ctx *orchestration.Context, n int) (int, error) {
		for range n {
			ctx.Sleep(time.Hour)
		}
		return n, nil
	})
	for b.Loop() {
		env := orchestrationtest.New(b)
		if n, err := orchestrationtest.Run(env, sleepy, 10_000); err != nil || n != 10_000 {
			b.Fatal(n, err)
		}
	}
}

// TestScriptSendsWhatAClientSends: the text of a message goes by the type of its declaration, and one that no receiver
// could read is not sent.
func TestScriptSendsWhatAClientSends(t *testing.T) {
	t.Parallel()
	answered, answers := orchestration.NewEvent[any]("answered"), orchestration.NewQueue[any]("answers")
	reads := orchestration.New("Reads", func(ctx *orchestration.Context, _ string) (string, error) {
		event, err := answered.Wait(ctx).Await()
		if err != nil {
			return "", err
		}
		message, err := answers.Dequeue(ctx).Await()
		return fmt.Sprintf("%T %v, %T %v", event, event, message, message), err
	})
	env := orchestrationtest.New(t, reads)
	orchestrationtest.Enqueue(orchestrationtest.Raise(env.After(time.Hour), answered, any("12")), answers, any("null"))
	if got, err := orchestrationtest.Run(env, reads, ""); err != nil || got != "string 12, string null" {
		t.Errorf("%s, %v", got, err)
	}
	const want = "orchestrationtest: cannot decode 2 bytes into error: "
	for name, send := range map[string]func(m orchestrationtest.Moment){
		"event": func(m orchestrationtest.Moment) {
			orchestrationtest.Raise(m, orchestration.NewEvent[error]("e"), errors.New("no"))
		},
		"message": func(m orchestrationtest.Moment) {
			orchestrationtest.Enqueue(m, orchestration.NewQueue[error]("q"), errors.New("no"))
		},
	} {
		said := judge(t, func(t testing.TB) {
			t.Helper()
			send(orchestrationtest.New(t).After(0))
		})
		if !strings.Contains(said, want) {
			t.Errorf("%s: %s", name, said)
		}
	}
}

// TestNilDefinition is refused by name, as a worker does.
func TestNilDefinition(t *testing.T) {
	t.Parallel()
	said := judge(t, func(t testing.TB) {
		t.Helper()
		orchestrationtest.New(t, approval, nil)
	})
	if want := "orchestrationtest.New: definition 2 of 2 is nil: invalid registration"; said != want {
		t.Errorf("%q, want %q", said, want)
	}
}
