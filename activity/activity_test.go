package activity_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/retry"
	"github.com/duroxide/duroxide-go/tsql/leaktest"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/internal/registry"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

type parcel struct {
	Weight int `json:"weight"`
}

// handler is the activity as a worker would run it, on texts.
func handler[I, O any](t *testing.T, def activity.Definition[I, O]) registry.ActivityFunc {
	t.Helper()
	r := registry.New()
	if err := r.Add(def); err != nil {
		t.Fatal(err)
	}
	fn, ok := r.Activity(def.Name())
	if !ok {
		t.Fatalf("%s is not registered", def.Name())
	}
	return fn
}

func TestPayloads(t *testing.T) {
	t.Parallel()
	weigh := handler(t, activity.New("Weigh", func(_ context.Context, p parcel) (parcel, error) {
		if p.Weight < 0 {
			return parcel{Weight: 99}, errors.New("too light")
		}
		return parcel{Weight: p.Weight + 1}, nil
	}))
	for _, test := range []struct{ input, output, err string }{
		{`{"weight":1}`, `{"weight":2}`, ""},
		{`{"weight":-1}`, "", "too light"},
		{`secret`, "", `input of activity "Weigh": cannot decode 6 bytes into activity_test.parcel: invalid JSON at byte 1`},
	} {
		output, err := weigh(t.Context(), test.input)
		if output != test.output || (err == nil) != (test.err == "") || (err != nil && err.Error() != test.err) {
			t.Errorf("%s: %s, %v", test.input, output, err)
		}
	}
	unfit := handler(t, activity.New("Unfit", func(context.Context, string) (float64, error) { return math.NaN(), nil }))
	if output, err := unfit(t.Context(), ""); output != "" || err == nil || err.Error() != `output of activity "Unfit": json: unsupported value: NaN` {
		t.Errorf("%s, %v", output, err)
	}
}

func TestDeclaredCannotBeRegistered(t *testing.T) {
	t.Parallel()
	if err := registry.New().Add(activity.Declare[string, string]("Elsewhere")); !errors.Is(err, registry.ErrInvalid) {
		t.Errorf("%v", err)
	}
}

// A policy at what Implement returns leaves the declaration without one (Definition.WithRetry).
func TestPolicyStandsInOneDefinition(t *testing.T) {
	t.Parallel()
	declared := activity.Declare[string, string]("Charge")
	implemented := declared.Implement(func(context.Context, string) (string, error) { return "", nil }).WithRetry(retry.Policy{MaxAttempts: 5})
	if policy, ok := implemented.Retry(); !ok || policy.MaxAttempts != 5 {
		t.Errorf("the implementation has %+v, %t", policy, ok)
	}
	if policy, ok := declared.Retry(); ok {
		t.Errorf("the declaration has %+v", policy)
	}
	defer func() {
		if got := fmt.Sprint(recover()); got != `activity "Charge": retry.Policy: MaxAttempts is -1; it must be at least 1, or 0 for the default, 3` {
			t.Errorf("an invalid policy panics with %s", got)
		}
	}()
	declared.WithRetry(retry.Policy{MaxAttempts: -1})
}

func TestZeroDefinitionCannotBeRegistered(t *testing.T) {
	t.Parallel()
	err := registry.New().Add(activity.Definition[string, string]{})
	if !errors.Is(err, registry.ErrInvalid) || !strings.Contains(err.Error(), "make it with New") {
		t.Errorf("%v", err)
	}
}

func TestContext(t *testing.T) {
	t.Parallel()
	if info, ok := activity.InfoFrom(t.Context()); ok || info != (activity.Info{}) {
		t.Errorf("info outside an activity: %+v", info)
	}
	if name, version := activity.Caller(t.Context()); name != "unknown" || version != "unknown" {
		t.Errorf("caller outside an activity: %s %s", name, version)
	}
	activity.Logger(t.Context()).Error("goes nowhere")

	var log bytes.Buffer
	want := activity.Info{Instance: "i", ExecutionID: 2, ActivityID: 7, Name: "Weigh", Attempt: 3, WorkerID: "w", SessionID: "s", Tag: "t"}
	ctx := activity.NewContext(t.Context(), activity.Environment{
		Info: want, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		Caller: func(context.Context) (name, version string) { return "Ship", "1.2.0" },
	})
	got, ok := activity.InfoFrom(ctx)
	if diff := cmp.Diff(want, got); diff != "" || !ok {
		t.Errorf("info (-want +got):\n%s", diff)
	}
	if name, version := activity.Caller(ctx); name != "Ship" || version != "1.2.0" {
		t.Errorf("caller: %s %s", name, version)
	}
	activity.Logger(ctx).Info("weighing")
	if !strings.Contains(log.String(), "weighing") {
		t.Errorf("log %q", log.String())
	}
	// What a test leaves out is there all the same.
	ctx = activity.NewContext(t.Context(), activity.Environment{})
	activity.Logger(ctx).Info("goes nowhere")
	if name, _ := activity.Caller(ctx); name != "unknown" {
		t.Errorf("caller: %s", name)
	}
}
