package orchestrationtest_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/orchestrationtest"
	"github.com/duroxide/duroxide-go/retry"
)

// asks is a program of which several versions are deployed under the same number.
func asks(fn func(ctx *orchestration.Context) error) orchestration.Definition[int, int] {
	return orchestration.New("Asks", func(ctx *orchestration.Context, n int) (int, error) { return n, fn(ctx) })
}

func call(ctx *orchestration.Context, n int) error {
	_, err := orchestration.Activity(ctx, tally, n).Await()
	return err
}

// before is what runs when the code is changed.
func before(ctx *orchestration.Context) error {
	ctx.SetCustomStatus("begins")
	err := call(ctx, 1)
	ctx.Sleep(time.Hour)
	late := ctx.Timer(time.Hour)
	orchestration.SelectAndDrop(late, orchestration.NewEvent[int]("go").Wait(ctx))
	_ = orchestration.Activity(ctx, tally, 2) // nobody waits for it
	ctx.SetCustomStatus("ends")
	return err
}

// TestReplayDir changes code that has run, and asks whether it still fits.
func TestReplayDir(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	env := orchestrationtest.New(t)
	orchestrationtest.Mock(env, tally, double)
	if _, err := orchestrationtest.Run(env, asks(before), 7); err != nil {
		t.Fatal(err)
	}
	env.Save(dir, "test")
	env.After(time.Minute).Cancel("enough")
	if _, err := orchestrationtest.Run(env, asks(before), 7); !errors.Is(err, orchestration.ErrCancelled) {
		t.Fatal(err)
	}
	env.Save(dir, "test-2")
	orchestrationtest.ReplayDir(t, dir, asks(before))
	orchestrationtest.ReplayDir(t, dir, asks(func(ctx *orchestration.Context) error {
		return errors.Join(before(ctx), call(ctx, 3)) // at the end everything is free
	}))
	for _, c := range []struct {
		fn   func(ctx *orchestration.Context) error
		want string
	}{
		{func(ctx *orchestration.Context) error { return call(ctx, 1) }, `event 2 was a custom status, the code now asks for activity "Tally" with 1 byte at orchestrationtest/replaydir_test.go:22`},
		{func(*orchestration.Context) error { return nil }, "the function returned, but history goes on with event 2, a custom status"},
		{func(ctx *orchestration.Context) error {
			ctx.SetCustomStatus("begins")
			return call(ctx, 2)
		}, `event 3 was activity "Tally" with 1 byte, the code now asks for activity "Tally" with 1 byte at orchestrationtest/replaydir_test.go:22; the payloads differ from byte 0 on`},
		{func(ctx *orchestration.Context) error {
			_, err := orchestration.Activity(ctx, tally, 1, orchestration.WithRetry(retry.Policy{MaxAttempts: 2})).Await()
			return err
		}, `the code now asks for activity "Tally" with 1 byte at orchestrationtest/replaydir_test.go:68`},
		{func(ctx *orchestration.Context) error {
			ctx.SetCustomStatus("begins")
			_ = call(ctx, 1)
			ctx.Sleep(time.Hour)
			ctx.Sleep(time.Hour)
			return call(ctx, 2)
		}, `event 8 was a wait for event "go", the code now asks for nothing`},
		{func(ctx *orchestration.Context) error {
			err := before(ctx)
			return errors.Join(err, nil)
		}, ""},
		{func(*orchestration.Context) error { panic("a payload") }, `"test", execution 1: the function panics at orchestrationtest/replaydir_test.go:82`},
	} {
		err := orchestrationtest.ReplayFile(t.Context(), dir+"/test.json", asks(c.fn))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	err := orchestrationtest.ReplayFile(t.Context(), dir+"/test.json", asks(before).WithVersion("2.0.0"))
	if err == nil || !strings.Contains(err.Error(), `"test", execution 1: orchestration "Asks" version 1.0.0 is not registered (versions that are: [2.0.0])`) {
		t.Error(err)
	}
}

// TestNoHistories asks for a folder without histories, which is more likely a mistake in its name than a pass.
func TestNoHistories(t *testing.T) {
	t.Parallel()
	const want = "there is no *.json in testdata/missing; `duroxide history --into testdata/missing` writes histories into it"
	if files, err := orchestrationtest.Histories("testdata/missing"); err == nil || err.Error() != want {
		t.Errorf("%q, %v", files, err)
	}
}

// TestPatchedCodeFitsBothHistories changes code in place: what had gone past the change goes on as
// it was, and what has not is changed, also when it is replayed.
func TestPatchedCodeFitsBothHistories(t *testing.T) {
	t.Parallel()
	old := func(ctx *orchestration.Context) error {
		err := call(ctx, 1)
		ctx.Sleep(time.Hour)
		return errors.Join(err, call(ctx, 3))
	}
	patched := func(ctx *orchestration.Context) error {
		var err error
		if ctx.Patched("two") {
			err = call(ctx, 0)
		}
		err = errors.Join(err, call(ctx, 1))
		ctx.Sleep(time.Hour)
		if ctx.Patched("two") {
			err = errors.Join(err, call(ctx, 2))
		}
		if ctx.Patched("another") {
			err = errors.Join(err, call(ctx, 22))
		}
		return errors.Join(err, call(ctx, 3))
	}
	dir := t.TempDir()
	for name, c := range map[string]struct {
		fn     func(ctx *orchestration.Context) error
		inputs []int
	}{"old": {old, []int{1, 3}}, "new": {patched, []int{0, 1, 2, 22, 3}}} {
		env := orchestrationtest.New(t)
		orchestrationtest.Mock(env, tally, double)
		if _, err := orchestrationtest.Run(env, asks(c.fn), 7); err != nil {
			t.Fatal(err)
		}
		if got := orchestrationtest.Inputs(env, tally); !slices.Equal(got, c.inputs) {
			t.Errorf("%s: %v", name, got)
		}
		env.Save(filepath.Join(dir, name), "test")
	}
	orchestrationtest.ReplayDir(t, filepath.Join(dir, "old"), asks(patched))
	orchestrationtest.ReplayDir(t, filepath.Join(dir, "new"), asks(patched))
	err := orchestrationtest.ReplayFile(t.Context(), filepath.Join(dir, "new", "test.json"), asks(old))
	if err == nil || !strings.Contains(err.Error(), `event 2 was a wait for event "duroxide:patched:two", the code now asks for activity "Tally"`) {
		t.Error(err)
	}
}

// TestActivityRetry is a worker's policy, in a run and in the replay of its history.
func TestActivityRetry(t *testing.T) {
	t.Parallel()
	once := asks(func(ctx *orchestration.Context) error { return call(ctx, 1) })
	policy := orchestrationtest.ActivityRetry(retry.Policy{Backoff: retry.Constant(time.Hour)})
	env := orchestrationtest.New(t, policy)
	orchestrationtest.Mock(env, tally, double).Fails(2, errors.New("no"))
	if _, err := orchestrationtest.Run(env, once, 7); err != nil {
		t.Error(err)
	}
	env.WantCalls("Tally @0s", "Tally @1h", "Tally @2h")
	dir := t.TempDir()
	env.Save(dir, "test")
	if err := orchestrationtest.ReplayFile(t.Context(), filepath.Join(dir, "test.json"), once, policy); err != nil {
		t.Error(err)
	}
	if err := orchestrationtest.ReplayFile(t.Context(), filepath.Join(dir, "test.json"), once); err == nil {
		t.Error("fits without the policy")
	}
}

// A policy that a worker refuses is refused by a test, too.
func TestActivityRetryThatAWorkerRefuses(t *testing.T) {
	t.Parallel()
	policy := retry.Policy{MaxAttempts: -1}
	messages := judge(t, func(t testing.TB) {
		t.Helper()
		orchestrationtest.New(t, orchestrationtest.ActivityRetry(policy))
	})
	if !strings.Contains(messages, "ActivityRetry: retry.Policy: MaxAttempts is -1") {
		t.Errorf("the test says %q", messages)
	}
}
