package orchestration_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
)

// GUID and time are recorded, so every replay sees the same.
func TestRecordedGUIDAndTime(t *testing.T) {
	t.Parallel()
	var seen atomic.Pointer[string]
	replays := atomic.Int32{}
	def := orchestration.New("Stable", func(ctx *orchestration.Context, _ string) (string, error) {
		id, err := ctx.NewGUID()
		if err != nil {
			return "", err
		}
		now, err := ctx.UTCNow()
		if err != nil {
			return "", err
		}
		both := id + " " + now.Format(time.RFC3339Nano)
		if before := seen.Swap(&both); before != nil && *before != both {
			return "", fmt.Errorf("first %s, then %s", *before, both)
		}
		replays.Add(1)
		for range 3 {
			ctx.Sleep(0)
		}
		return both, nil
	})
	e := newEngine(t, def)
	before := time.Now().Truncate(time.Millisecond)
	got := result(t, start(e, def, ""))
	id, at, _ := strings.Cut(got, " ")
	if len(id) != 36 || id[14] != '4' {
		t.Errorf("GUID %q is no UUID of version 4", id)
	}
	now, err := time.Parse(time.RFC3339Nano, at)
	if err != nil || now.Before(before) || now.After(time.Now()) {
		t.Errorf("time %q, %v", at, err)
	}
	if replays.Load() < 4 {
		t.Errorf("the function ran %d times, want one replay for each sleep", replays.Load())
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	answer := func(text string) func(ctx *orchestration.Context, _ string) (string, error) {
		return func(ctx *orchestration.Context, next string) (string, error) {
			switch next {
			case "":
				return text + " " + ctx.Info().Version, nil
			case "latest":
				return orchestration.Declare[string, string](ctx.Info().Name).ContinueAsNew(ctx, "")
			}
			return orchestration.Declare[string, string](ctx.Info().Name).AtVersion(next).ContinueAsNew(ctx, "")
		}
	}
	one := orchestration.New("Versioned", answer("one"))
	two := orchestration.New("Versioned", answer("two")).WithVersion("2.0.0")
	if one.Name() != "Versioned" || one.Version() != "1.0.0" || two.Version() != "2.0.0" {
		t.Errorf("%s %s, %s %s", one.Name(), one.Version(), two.Name(), two.Version())
	}
	e := newEngine(t, one, two)
	for _, test := range []struct {
		id, input, version string
		want               string
	}{
		{"latest", "", "", "two 2.0.0"},
		{"exact", "", "1.0.0", "one 1.0.0"},
		{"moves on", "latest", "1.0.0", "two 2.0.0"},
		{"moves back", "1.0.0", "", "one 1.0.0"},
	} {
		run, err := client.Start(t.Context(), e.client, one.AtVersion(test.version), test.id, test.input)
		if err != nil {
			t.Fatal(err)
		}
		if got := result(t, run); got != test.want {
			t.Errorf("%s: %q, want %q", test.id, got, test.want)
		}
	}
}

// Code that no longer fits what was recorded fails with what was expected and what
// came.
func TestChangedCode(t *testing.T) {
	t.Parallel()
	before := orchestration.New("Changed", func(ctx *orchestration.Context, _ string) (string, error) {
		greeting, err := orchestration.Activity(ctx, greet, "Oslo").Await()
		ctx.SetCustomStatus("greeted")
		_, _ = orchestration.NewEvent[string]("go").Wait(ctx).Await()
		return greeting, err
	})
	after := orchestration.New("Changed", func(ctx *orchestration.Context, _ string) (string, error) {
		return orchestration.Activity(ctx, greet, "Lima").Await()
	})
	e := newEngine(t)
	stop := e.work(before, greet)
	run := start(e, before, "")
	e.status(run.Instance(), "greeted")
	stop()
	e.work(after, greet)
	if err := client.RaiseEvent(t.Context(), e.client, orchestration.NewEvent[string]("go"), run.Instance(), ""); err != nil {
		t.Fatal(err)
	}
	want := `nondeterministic: history has event 2, activity "Greet" with 4 bytes, ` +
		`where the code asks for activity "Greet" with 4 bytes; the payloads differ from byte 0 on`
	if got := failureText(t, run); got != want {
		t.Errorf("failure\n got %s\nwant %s", got, want)
	}
}

// A repeated start of a used id is told so and changes nothing.
func TestRepeatedStart(t *testing.T) {
	t.Parallel()
	other := orchestration.New("Other", func(*orchestration.Context, string) (string, error) { return "other", nil })
	def := orchestration.New("First", func(ctx *orchestration.Context, input string) (string, error) {
		ctx.SetCustomStatus("up")
		event, err := orchestration.NewEvent[string]("go").Wait(ctx).Await()
		return input + event, err
	})
	e := newEngine(t, def, other)
	run := start(e, def, "first ")
	e.status(run.Instance(), "up")
	again := func() {
		_, err := client.Start(t.Context(), e.client, other, run.Instance(), "second")
		if !errors.Is(err, client.ErrAlreadyExists) {
			t.Errorf("a start of a used id: %v", err)
		}
	}
	again()
	if err := client.RaiseEvent(t.Context(), e.client, orchestration.NewEvent[string]("go"), run.Instance(), "event"); err != nil {
		t.Fatal(err)
	}
	if got := result(t, run); got != "first event" {
		t.Errorf("output = %q", got)
	}
	again()
	if got := result(t, run); got != "first event" {
		t.Errorf("output after another start = %q", got)
	}
}
