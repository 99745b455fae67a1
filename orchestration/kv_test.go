package orchestration_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
)

func TestKeys(t *testing.T) {
	t.Parallel()
	def := orchestration.New("Keys", func(ctx *orchestration.Context, _ string) ([]string, error) {
		var seen []string
		look := func() {
			n, ok, err := orchestration.GetKV[int](ctx, "b")
			seen = append(seen, fmt.Sprint(orchestration.KVKeys(ctx), n, ok, err))
		}
		orchestration.SetKV(ctx, "b", 1)
		orchestration.SetKV(ctx, "a", "text")
		look()
		orchestration.SetKV(ctx, "b", "no number")
		look()
		orchestration.Sleep(ctx, 0)
		orchestration.ClearAllKV(ctx)
		look()
		return seen, nil
	})
	e := newEngine(t, def)
	want := []string{
		"[a b] 1 true <nil>",
		`[a b] 0 true value of key "b": cannot decode 11 bytes into int: cannot read JSON string at byte 11`,
		"[] 0 false <nil>",
	}
	if diff := cmp.Diff(want, result(t, start(e, def, ""))); diff != "" {
		t.Errorf("seen (-want +got):\n%s", diff)
	}
}

func TestOversizedValue(t *testing.T) {
	t.Parallel()
	def := orchestration.New("Big", func(ctx *orchestration.Context, n int) (string, error) {
		orchestration.SetKV(ctx, "big", strings.Repeat("x", n))
		return "kept", nil
	})
	e := newEngine(t, def)
	small, err := client.Start(t.Context(), e.client, def, "small", 64<<10-2) // and its quotes
	if err != nil {
		t.Fatal(err)
	}
	if got := result(t, small); got != "kept" {
		t.Errorf("output = %q", got)
	}
	if got, want := failureText(t, start(e, def, 64<<10-1)), `the value of key "big" has 65537 bytes, the limit is 65536`; got != want {
		t.Errorf("failure = %q, want %q", got, want)
	}
}

func TestContinueAsNewCarriesStatusAndKeys(t *testing.T) {
	t.Parallel()
	def := orchestration.New("Loop", func(ctx *orchestration.Context, n int) (string, error) {
		if n == 0 {
			ctx.SetCustomStatus("begun")
			orchestration.SetKV(ctx, "key", order{SKU: 7})
			orchestration.SetKV(ctx, "gone", 1)
			orchestration.ClearKV(ctx, "gone")
			return "", orchestration.ContinueAsNew(ctx, 1)
		}
		status := "none"
		if s := ctx.CustomStatus(); s != nil {
			status = *s
		}
		value, ok, err := orchestration.GetKV[order](ctx, "key")
		return fmt.Sprint(ctx.Info().ExecutionID, " ", status, " ", value.SKU, ok, err, orchestration.KVKeys(ctx)), nil
	})
	e := newEngine(t, def)
	run := start(e, def, 0)
	if got, want := result(t, run), "2 begun 7 true <nil> [key]"; got != want {
		t.Errorf("output = %q, want %q", got, want)
	}
	value, ok, err := client.KV[order](t.Context(), e.client, run.Instance(), "key")
	if diff := cmp.Diff(order{SKU: 7}, value); diff != "" || !ok || err != nil {
		t.Errorf("the client reads %+v, %t, %v", value, ok, err)
	}
}

func TestCustomStatus(t *testing.T) {
	t.Parallel()
	def := orchestration.New("Progress", func(ctx *orchestration.Context, _ string) (string, error) {
		ctx.SetCustomStatus("1 of 2")
		_, _ = orchestration.WaitForEvent[string](ctx, "go").Await()
		ctx.ResetCustomStatus()
		_, _ = orchestration.WaitForEvent[string](ctx, "go").Await()
		return fmt.Sprint(ctx.CustomStatus() == nil), nil
	})
	e := newEngine(t, def)
	run := start(e, def, "")
	e.status(run.Instance(), "1 of 2")
	raise := func() {
		if err := e.client.RaiseEvent(t.Context(), run.Instance(), "go", ""); err != nil {
			t.Fatal(err)
		}
	}
	raise()
	s, err := e.client.WaitForCustomStatus(deadline(t), run.Instance(), 1)
	if err != nil || s.CustomStatus != nil || s.CustomStatusVersion != 2 || s.State != client.Running {
		t.Errorf("after the reset: %+v, %v", s, err)
	}
	raise()
	if got := result(t, run); got != "true" {
		t.Errorf("output = %s", got)
	}
}
