package replay_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/internal/replay"
	"github.com/duroxide/duroxide-go/provider"
)

// wordless is an error whose text panics.
type wordless struct{}

func (wordless) Error() string { panic("no text") }

// exiting is an error whose Error ends its goroutine.
type exiting struct{}

func (exiting) Error() string { runtime.Goexit(); return "" }

// placeless is a failure without the line at the end of its text.
func placeless(details provider.ErrorDetails) provider.ErrorDetails {
	if d, ok := details.(provider.ApplicationFailure); ok {
		d.Message = regexp.MustCompile(` at replay/\w+_test\.go:\d+$`).ReplaceAllString(d.Message, "")
		return d
	}
	return details
}

func TestPanics(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		fn   func(f flow, input string) (string, error)
		want string
	}{
		{"text", func(flow, string) (string, error) { panic("boom") }, "boom"},
		{"error", func(flow, string) (string, error) { panic(errors.New("boom")) }, "boom"},
		{"nil", func(flow, string) (string, error) { panic(nil) }, "panic called with nil argument"}, //nolint:govet // on purpose
		{"runtime", func(_ flow, input string) (string, error) { return input[5:], nil }, "runtime error: slice bounds out of range [5:2]"},
		{"exit", func(flow, string) (string, error) { runtime.Goexit(); return "", nil }, "runtime.Goexit was called in an orchestration function"},
		{"error without a text", func(flow, string) (string, error) { return "", wordless{} }, "no text"},
		{"exit in the text of an error", func(flow, string) (string, error) { panic(exiting{}) }, ""},
		{"in a deferred call", func(flow, string) (string, error) { defer func() { panic("late") }(); return "", nil }, "late"},
		{"later", func(f flow, _ string) (string, error) {
			f.text(f.dequeue("q"))
			panic("boom")
		}, "boom"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			result := run(t, newTurn(do(test.fn), nil, queued("q", "")))
			wantOutcome(t, result, replay.Failed)
			want := provider.ApplicationFailure{Kind: provider.AppPanicked, Message: test.want}
			if diff := cmp.Diff(provider.ErrorDetails(want), placeless(result.Details)); diff != "" {
				t.Errorf("details (-want +got):\n%s", diff)
			}
			stack := string(result.PanicStack)
			if test.name == "exit" {
				return // nothing is left on the stack to tell
			}
			if !strings.Contains(stack, "coroutine_test.go") {
				t.Errorf("the stack does not lead to the function:\n%s", stack)
			}
		})
	}
}

// A function that recovers from panics must not take the end of its turn for one.
func TestRecoverDoesNotSeeTheEndOfATurn(t *testing.T) {
	t.Parallel()
	recovered, deferred := 0, 0
	fn := do(func(f flow, _ string) (output string, err error) {
		defer func() {
			deferred++
			if r := recover(); r != nil {
				recovered++
				err = fmt.Errorf("recovered: %v", r)
			}
		}()
		for {
			func() {
				defer func() {
					if recover() != nil {
						recovered++
					}
				}()
				f.text(f.activity("A", ""))
			}()
			f.text(f.event("e"))
		}
	})
	result := run(t, newTurn(fn, nil))
	wantOutcome(t, result, replay.Continue)
	run(t, newTurn(fn, after(nil, result), activityDone(2, "")))
	if recovered != 0 || deferred != 2 {
		t.Errorf("%d recovered, %d deferred calls, want 0 and 2", recovered, deferred)
	}
}

// Deferred calls run at the end of each turn. They cannot ask for anything then, and
// what they do otherwise has no effect on the turn.
func TestDeferredCallsAtTheEndOfATurn(t *testing.T) {
	t.Parallel()
	fn := do(func(f flow, _ string) (string, error) {
		defer func() { panic("too late to fail") }()
		defer func() {
			f.status("gone")
			t.Error("went on after its turn")
		}()
		f.text(f.activity("A", ""))
		return "", nil
	})
	result := run(t, newTurn(fn, nil))
	wantOutcome(t, result, replay.Continue)
	wantDelta(t, result, started, provider.ActivityScheduled{Name: "A"})
}

// A deferred call of a function that does return is part of it.
func TestDeferredCallsOfAFinishedFunction(t *testing.T) {
	t.Parallel()
	result := run(t, newTurn(do(func(f flow, _ string) (string, error) {
		defer f.status("done")
		return "out", nil
	}), nil))
	wantDelta(t, result, started, provider.CustomStatusUpdated{Status: new("done")}, provider.OrchestrationCompleted{Output: "out"})
}

// A function that blocks elsewhere costs its turn, not its worker; it ends when it
// next touches its context.
func TestBlockedFunction(t *testing.T) {
	t.Parallel()
	ctx, end := background(t)
	blocked, release, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		<-blocked
		end(errors.New("lease lost"))
	}()
	result, err := replay.Run(ctx, newTurn(do(func(f flow, _ string) (string, error) {
		defer close(ended)
		close(blocked)
		<-release
		f.activity("A", "")
		t.Error("went on after its turn")
		return "", nil
	}), nil))
	if result != nil || !errors.Is(err, replay.ErrBlocked) || !strings.Contains(err.Error(), "lease lost") {
		t.Errorf("result %+v, error %v", result, err)
	}
	close(release)
	<-ended
}

// The same in the midst of a turn, and with a function that ends without a further
// call.
func TestBlockedFunctionThatReturns(t *testing.T) {
	t.Parallel()
	ctx, end := background(t)
	release, ended := make(chan struct{}), make(chan struct{})
	_, err := replay.Run(ctx, newTurn(do(func(f flow, _ string) (string, error) {
		defer close(ended)
		f.text(f.activity("A", ""))
		end(errors.New("lease lost"))
		<-release
		return "late", nil
	}), pastOf(started, provider.ActivityScheduled{Name: "A"}), activityDone(2, "")))
	if !errors.Is(err, replay.ErrBlocked) {
		t.Errorf("error %v", err)
	}
	close(release)
	<-ended
}

// A function that only looks at its context ends with its turn, too, such as a loop that asks whether a result is
// there.
func TestBlockedFunctionThatLooks(t *testing.T) {
	t.Parallel()
	for name, look := range map[string]func(f flow, h *replay.Handle, b *replay.Branch){
		"ready":           func(_ flow, h *replay.Handle, _ *replay.Branch) { h.Ready() },
		"dropped":         func(_ flow, h *replay.Handle, _ *replay.Branch) { h.Dropped() },
		"ready branch":    func(_ flow, _ *replay.Handle, b *replay.Branch) { b.Ready() },
		"identity":        func(f flow, _ *replay.Handle, _ *replay.Branch) { f.Info() },
		"replaying":       func(f flow, _ *replay.Handle, _ *replay.Branch) { f.Replaying() },
		"cancelled":       func(f flow, _ *replay.Handle, _ *replay.Branch) { f.Cancelled() },
		"custom status":   func(f flow, _ *replay.Handle, _ *replay.Branch) { f.CustomStatus() },
		"key":             func(f flow, _ *replay.Handle, _ *replay.Branch) { f.KV("k") },
		"keys":            func(f flow, _ *replay.Handle, _ *replay.Branch) { f.KVAll() },
		"engine's clock":  func(f flow, _ *replay.Handle, _ *replay.Branch) { f.NowMs() },
		"engine's policy": func(f flow, _ *replay.Handle, _ *replay.Branch) { f.ActivityRetry() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, end := background(t)
			ended := make(chan struct{})
			var over atomic.Bool // the test failed, and the function has to end all the same
			defer over.Store(true)
			_, err := replay.Run(ctx, newTurn(do(func(f flow, _ string) (string, error) {
				defer close(ended)
				h, b := f.activity("A", ""), f.Go(func() { f.text(f.activity("B", "")) })
				end(errors.New("lease lost"))
				for !over.Load() {
					look(f, h, b)
					runtime.Gosched()
				}
				return "", nil
			}), nil))
			if !errors.Is(err, replay.ErrBlocked) {
				t.Errorf("error %v", err)
			}
			select {
			case <-ended:
			case <-time.After(10 * time.Second):
				t.Error("looks on after its turn")
			}
		})
	}
}

// Deferred calls that run at the end of a turn may look.
func TestDeferredCallThatLooks(t *testing.T) {
	t.Parallel()
	looked := ""
	run(t, newTurn(do(func(f flow, _ string) (string, error) {
		defer func() { looked = f.Info().Name }()
		return f.await(f.activity("A", ""))
	}), nil))
	if looked != started.Name {
		t.Errorf("looked at %q", looked)
	}
}

// A function whose deferred call blocks holds its turn up, but only as long as the
// turn's context lives. Its effects are decided by then.
func TestBlockedDeferredCall(t *testing.T) {
	t.Parallel()
	ctx, end := background(t)
	release, ended := make(chan struct{}), make(chan struct{})
	result, err := replay.Run(ctx, newTurn(do(func(f flow, _ string) (string, error) {
		defer func() {
			end(nil)
			<-release
			close(ended)
		}()
		return f.await(f.activity("A", ""))
	}), nil))
	if err != nil {
		t.Fatal(err)
	}
	wantDelta(t, result, started, provider.ActivityScheduled{Name: "A"})
	close(release)
	<-ended
}

// An endless loop around calls that do not wait ends with its turn.
func TestLoopWithoutWaiting(t *testing.T) {
	t.Parallel()
	ctx, end := background(t)
	ended := make(chan struct{})
	_, err := replay.Run(ctx, newTurn(do(func(f flow, _ string) (string, error) {
		defer close(ended)
		for i := 0; ; i++ {
			if i == 10 {
				end(nil)
			}
			if i < 10 {
				f.status("busy")
			} else {
				f.Drop(f.event("e"))
				runtime.Gosched()
			}
		}
	}), nil))
	if !errors.Is(err, replay.ErrBlocked) {
		t.Errorf("error %v", err)
	}
	<-ended
}

func TestRunWithAnEndedContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 50 {
		result, err := replay.Run(ctx, newTurn(charge, nil))
		if err != nil && !errors.Is(err, replay.ErrBlocked) || (err == nil) != (result != nil) {
			t.Fatalf("result %+v, error %v", result, err)
		}
	}
}
