package replay_test

import (
	"context"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/internal/replay"
	"github.com/duroxide/duroxide-go/provider"
)

// foreignUses are all that a function can do with its Env and its handles.
var foreignUses = map[string]func(f flow, h *replay.Handle){
	"Info":         func(f flow, _ *replay.Handle) { f.Info() },
	"Replaying":    func(f flow, _ *replay.Handle) { f.Replaying() },
	"Emit":         func(f flow, _ *replay.Handle) { f.Emit(replay.WaitEvent{Name: "e"}) },
	"WaitUntil":    func(f flow, _ *replay.Handle) { f.WaitUntil(func() bool { return true }) },
	"Halt":         func(f flow, _ *replay.Handle) { f.Halt() },
	"Drop":         func(f flow, h *replay.Handle) { f.Drop(h) },
	"CustomStatus": func(f flow, _ *replay.Handle) { f.CustomStatus() },
	"KV":           func(f flow, _ *replay.Handle) { f.KV("k") },
	"KVAll":        func(f flow, _ *replay.Handle) { f.KVAll() },
	"Ready":        func(_ flow, h *replay.Handle) { h.Ready() },
	"Result":       func(_ flow, h *replay.Handle) { h.Result() },
	"Dropped":      func(_ flow, h *replay.Handle) { h.Dropped() },
}

// wantMisuse checks that a turn failed because of a use in this file.
func wantMisuse(t *testing.T, result *replay.Result) {
	t.Helper()
	wantOutcome(t, result, replay.Failed)
	details, ok := result.Details.(provider.ApplicationFailure)
	if !ok || !regexp.MustCompile(`used from another goroutine at replay/foreign_test\.go:\d+;`).MatchString(details.Message) {
		t.Errorf("details %+v", result.Details)
	}
}

// A context used by another goroutine fails the turn with the line, whatever the
// function does meanwhile, and ends nothing but that goroutine.
func TestForeignGoroutine(t *testing.T) {
	t.Parallel()
	for use, do := range foreignUses {
		for when, wait := range map[string]func(f flow, h *replay.Handle, used <-chan struct{}){
			"while the function waits for its context": func(f flow, h *replay.Handle, _ <-chan struct{}) { f.text(h) },
			"while the function waits for it":          func(_ flow, _ *replay.Handle, used <-chan struct{}) { <-used },
			"while the function waits for something else": func(flow, *replay.Handle, <-chan struct{}) {
				<-t.Context().Done()
			},
		} {
			t.Run(use+" "+when, func(t *testing.T) {
				t.Parallel()
				var wg sync.WaitGroup
				defer wg.Wait()
				turn := newTurn(func(env *replay.Env, _ string) (string, error) {
					f, used := flow{env}, make(chan struct{})
					h := f.activity("A", "")
					wg.Go(func() {
						defer close(used)
						do(f, h)
						t.Error("went on")
					})
					wait(f, h, used)
					return "", nil
				}, nil)
				result := runUntilUsed(t, turn)
				if result != nil {
					wantMisuse(t, result)
				}
			})
		}
	}
}

// runUntilUsed runs a turn in which another goroutine uses the context. The function may
// come to rest before that. Then the use was too late, it was told, and the result is nil.
func runUntilUsed(t *testing.T, turn replay.Turn) *replay.Result {
	t.Helper()
	late := make(chan string, 1)
	turn.UsedLate = func(at string) { late <- at }
	result := run(t, turn)
	if result.Outcome == replay.Failed {
		return result
	}
	if at := <-late; !strings.HasPrefix(at, "replay/foreign_test.go:") {
		t.Errorf("used at %q", at)
	}
	return nil
}

// A goroutine that a function leaves behind is noticed after the turn, too: it ends, and
// the line is told.
func TestForeignGoroutineAfterTheTurn(t *testing.T) {
	t.Parallel()
	turnOver, ended, late := make(chan struct{}), make(chan struct{}), make(chan string, 1)
	turn := newTurn(do(func(f flow, _ string) (string, error) {
		go func() {
			defer close(ended)
			<-turnOver
			f.Emit(replay.SetStatus{})
			t.Error("went on after its turn")
		}()
		return "out", nil
	}), nil)
	turn.UsedLate = func(at string) { late <- at }
	wantOutcome(t, run(t, turn), replay.Completed)
	close(turnOver)
	<-ended
	if at := <-late; !strings.HasPrefix(at, "replay/foreign_test.go:") {
		t.Errorf("used at %q", at)
	}
}

// A use between two turns fails the next one, and is told once.
func TestForeignGoroutineBetweenTurns(t *testing.T) {
	t.Parallel()
	turnOver, late := make(chan struct{}), make(chan string, 2)
	var left sync.WaitGroup
	turn := newTurn(do(func(f flow, _ string) (string, error) {
		for range 2 {
			left.Go(func() {
				<-turnOver
				f.Emit(replay.SetStatus{})
				t.Error("went on between the turns")
			})
		}
		return f.text(f.activity("A", "")), nil
	}), nil)
	turn.UsedLate = func(at string) { late <- at }
	result, past := keep(t, turn)
	close(turnOver)
	left.Wait()
	if at := <-late; !strings.HasPrefix(at, "replay/foreign_test.go:") || len(late) > 0 {
		t.Errorf("used at %q, and %d more", at, len(late))
	}
	result, _ = keep(t, resumed(t, turn, result, past, activityDone(2, "done")))
	wantMisuse(t, result)
}

// A function that uses the context of another one fails with the line, and so does the other one.
func TestForeignFunction(t *testing.T) {
	t.Parallel()
	var other flow
	turn := newTurn(do(func(f flow, _ string) (string, error) {
		other = f
		return f.text(f.activity("A", "")), nil
	}), nil)
	result, past := keep(t, turn)
	user := run(t, newTurn(do(func(flow, string) (string, error) {
		other.Info()
		return "went on", nil
	}), nil))
	want := provider.ApplicationFailure{Kind: provider.AppPanicked, Message: "the context of another orchestration was used"}
	if diff := cmp.Diff(provider.ErrorDetails(want), placeless(user.Details)); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
	result, _ = keep(t, resumed(t, turn, result, past, activityDone(2, "done")))
	wantMisuse(t, result)
}

// The function itself, left behind when it was blocked, just ends when it comes back.
func TestBlockedFunctionIsNotForeign(t *testing.T) {
	t.Parallel()
	ctx, end := context.WithCancelCause(t.Context())
	release, ended := make(chan struct{}), make(chan struct{})
	turn := newTurn(do(func(f flow, _ string) (string, error) {
		defer close(ended)
		end(context.Canceled)
		<-release
		f.status("too late")
		return "", nil
	}), nil)
	turn.UsedLate = func(at string) { t.Error("taken for another goroutine at", at) }
	if _, err := replay.Run(ctx, turn); err == nil {
		t.Error("no error")
	}
	close(release)
	<-ended
}

// The same when the turn was given up because the function blocked.
func TestForeignGoroutineAfterABlockedTurn(t *testing.T) {
	t.Parallel()
	turnOver, ended, late := make(chan struct{}), make(chan struct{}), make(chan string, 1)
	var left sync.WaitGroup
	left.Add(1)
	turn := newTurn(do(func(f flow, _ string) (string, error) {
		defer left.Done()
		go func() {
			defer close(ended)
			<-turnOver
			f.Emit(replay.SetStatus{})
			t.Error("went on after its turn")
		}()
		<-ended
		return "", nil
	}), nil)
	turn.BlockedAfter, turn.UsedLate = blockedAfter, func(at string) { late <- at }
	if _, err := replay.Run(t.Context(), turn); err == nil {
		t.Error("no error")
	}
	close(turnOver)
	left.Wait()
	if at := <-late; !strings.HasPrefix(at, "replay/foreign_test.go:") {
		t.Errorf("used at %q", at)
	}
}
