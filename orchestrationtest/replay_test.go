package orchestrationtest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/orchestrationtest"
)

// judged is a test that is expected to fail.
type judged struct {
	testing.TB

	messages []string
	failed   bool
	cleanup  []func()
}

func (j *judged) Helper()                   {}
func (j *judged) Failed() bool              { return j.failed }
func (j *judged) Cleanup(f func())          { j.cleanup = append(j.cleanup, f) }
func (j *judged) Log(args ...any)           { j.messages = append(j.messages, fmt.Sprint(args...)) }
func (j *judged) Errorf(f string, a ...any) { j.failed = true; j.Log(fmt.Sprintf(f, a...)) }

func (j *judged) Fatalf(format string, args ...any) {
	j.Errorf(format, args...)
	panic(j)
}

// judge returns what a test that fails says.
func judge(t *testing.T, test func(t testing.TB)) (messages string) {
	t.Helper()
	j := &judged{TB: t}
	defer func() {
		if value := recover(); value != nil && value != any(j) {
			panic(value)
		}
		for _, f := range j.cleanup {
			f()
		}
		messages = strings.Join(j.messages, "\n")
		if !j.failed {
			t.Errorf("the test does not fail: %s", messages)
		}
	}()
	test(j)
	return ""
}

// TestCodeThatDoesNotRepeatItself fails a test with the event and the lines.
func TestCodeThatDoesNotRepeatItself(t *testing.T) {
	t.Parallel()
	runs := 0
	for name, c := range map[string]struct {
		fn   func(ctx *orchestration.Context, n int) (int, error)
		want []string
	}{
		"another call": {
			func(ctx *orchestration.Context, n int) (int, error) {
				runs++
				if runs == 1 {
					return orchestration.Activity(ctx, tally, n).Await()
				}
				_, err := orchestration.Activity(ctx, greet, "").Await()
				return 0, err
			},
			[]string{
				`"test" does not repeat itself: event 2 was activity "Tally" with 1 byte at orchestrationtest/replay_test.go:65, a replay asks for activity "Greet" with 0 bytes at orchestrationtest/replay_test.go:67`,
				"what happened:", "0s  test    1  Chance 1.0.0 starts with 7",
			},
		},
		"another result": {
			func(*orchestration.Context, int) (int, error) {
				runs++
				return runs, nil
			},
			[]string{`"test" does not repeat itself: it returned 1, and a replay returned 2`},
		},
		"an order of chance": {
			func(ctx *orchestration.Context, _ int) (int, error) {
				var futures []*orchestration.Future[int]
				for n := range map[int]bool{1: true, 2: true, 3: true, 4: true, 5: true, 6: true, 7: true, 8: true} {
					futures = append(futures, orchestration.Activity(ctx, tally, n))
				}
				_, err := orchestration.Join(futures...)
				return 0, err
			},
			[]string{"does not repeat itself", "the payloads differ from byte 0 on", "a replay asks for activity \"Tally\" with 1 byte at orchestrationtest/replay_test.go:"},
		},
	} {
		runs = 0
		messages := judge(t, func(t testing.TB) {
			t.Helper()
			env := orchestrationtest.New(t)
			orchestrationtest.Mock(env, tally, double)
			_, _ = orchestrationtest.Run(env, orchestration.New("Chance", c.fn), 7)
		})
		for _, want := range c.want {
			if !strings.Contains(messages, want) {
				t.Errorf("%s: no %q in\n%s", name, want, messages)
			}
		}
	}
}

// TestWhatEndsATest has mistakes of a test, each with what it is told.
func TestWhatEndsATest(t *testing.T) {
	t.Parallel()
	end := make(chan struct{})
	defer close(end)
	for _, c := range []struct {
		test func(env *orchestrationtest.Env)
		want string
	}{
		{func(env *orchestrationtest.Env) { _, _ = orchestrationtest.Run(env, daily, "Ada") }, `activity "Greet" of "test" is neither given to New nor mocked`},
		{
			func(env *orchestrationtest.Env) {
				_, _ = orchestrationtest.Run(env, orchestration.Declare[int, int]("Elsewhere"), 1)
			},
			`orchestration "Elsewhere" has no function`,
		},
		{
			func(env *orchestrationtest.Env) {
				orchestrationtest.Mock(env, tally, double).Fails(1, errors.New("no"))
				_, _ = orchestrationtest.Run(env, retried, 1)
				env.WantCalls("Tally @0s", "Tally @2m", "Reserve")
			},
			strings.Join([]string{
				"the calls differ from those wanted:",
				"     want        got",
				"     Tally @0s   Tally @0s",
				"->   Tally @2m   Tally @1m0s",
				"->   Reserve     nothing",
			}, "\n"),
		},
		{
			func(env *orchestrationtest.Env) {
				_, _ = orchestrationtest.Run(env, orchestration.New("Hangs", func(*orchestration.Context, int) (int, error) {
					<-end
					return 0, nil
				}), 1)
			},
			`the orchestration function blocked for 1s on "chan receive" at orchestrationtest/replay_test.go:`,
		},
	} {
		messages := judge(t, func(t testing.TB) {
			t.Helper()
			c.test(orchestrationtest.New(t))
		})
		if !strings.Contains(messages, c.want) {
			t.Errorf("no\n%s\nin\n%s", c.want, messages)
		}
	}
}
