package orchestration_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/orchestrationtest"
)

func TestKeys(t *testing.T) {
	t.Parallel()
	def := orchestration.New("Keys", func(ctx *orchestration.Context, _ string) ([]string, error) {
		var seen []string
		look := func() {
			n, ok, err := orchestration.NewKey[int]("b").Get(ctx)
			seen = append(seen, fmt.Sprint(ctx.KV().Keys(), n, ok, err))
		}
		orchestration.NewKey[int]("b").Set(ctx, 1)
		orchestration.NewKey[string]("a").Set(ctx, "text")
		look()
		orchestration.NewKey[string]("b").Set(ctx, "no number")
		look()
		ctx.Sleep(0)
		ctx.KV().Clear()
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
		orchestration.NewKey[string]("big").Set(ctx, strings.Repeat("x", n))
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
			orchestration.NewKey[order]("key").Set(ctx, order{SKU: 7})
			orchestration.NewKey[int]("gone").Set(ctx, 1)
			orchestration.NewKey[any]("gone").Clear(ctx)
			return orchestration.Declare[int, string]("Loop").ContinueAsNew(ctx, 1)
		}
		status := "none"
		if s := ctx.CustomStatus(); s != nil {
			status = *s
		}
		value, ok, err := orchestration.NewKey[order]("key").Get(ctx)
		return fmt.Sprint(ctx.Info().ExecutionID, " ", status, " ", value.SKU, ok, err, ctx.KV().Keys()), nil
	})
	e := newEngine(t, def)
	run := start(e, def, 0)
	if got, want := result(t, run), "2 begun 7 true <nil> [key]"; got != want {
		t.Errorf("output = %q, want %q", got, want)
	}
	value, ok, err := client.Value(t.Context(), e.client, orchestration.NewKey[order]("key"), run.Instance())
	if diff := cmp.Diff(order{SKU: 7}, value); diff != "" || !ok || err != nil {
		t.Errorf("the client reads %+v, %t, %v", value, ok, err)
	}
}

func TestCustomStatus(t *testing.T) {
	t.Parallel()
	def := orchestration.New("Progress", func(ctx *orchestration.Context, _ string) (string, error) {
		ctx.SetCustomStatus("1 of 2")
		_, _ = orchestration.NewEvent[string]("go").Wait(ctx).Await()
		ctx.ResetCustomStatus()
		_, _ = orchestration.NewEvent[string]("go").Wait(ctx).Await()
		return fmt.Sprint(ctx.CustomStatus() == nil), nil
	})
	e := newEngine(t, def)
	run := start(e, def, "")
	e.status(run.Instance(), "1 of 2")
	raise := func() {
		if err := client.RaiseEvent(t.Context(), e.client, orchestration.NewEvent[string]("go"), run.Instance(), ""); err != nil {
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

// PruneKV goes by the times at which the function set the keys, also where a replay sets them again later: every run of
// orchestrationtest is replayed at each of its events.
func TestPruneKV(t *testing.T) {
	t.Parallel()
	def := orchestration.New("Prunes", func(ctx *orchestration.Context, _ string) ([]string, error) {
		var seen []string
		look := func(pruned int) { seen = append(seen, fmt.Sprint(pruned, ctx.KV().Keys())) }
		for _, key := range []string{"b", "a", "c"} {
			orchestration.NewKey[int](key).Set(ctx, 1)
		}
		began, err := ctx.UTCNow()
		ctx.Sleep(2 * time.Hour)
		orchestration.NewKey[int]("c").Set(ctx, 2)
		orchestration.NewKey[int]("d").Set(ctx, 1)
		look(ctx.KV().Prune(began))
		look(ctx.KV().Prune(began.Add(time.Hour)))
		look(ctx.KV().Prune(began.Add(2*time.Hour + time.Second))) // a replay sets them later than this
		ctx.Sleep(time.Hour)
		orchestration.NewKey[int]("e").Set(ctx, 1)
		look(ctx.KV().Prune(time.Time{}))
		return seen, err
	})
	env := orchestrationtest.New(t)
	got, err := orchestrationtest.Run(env, def, "")
	if diff := cmp.Diff([]string{"0 [a b c d]", "2 [c d]", "2 []", "0 [e]"}, got); diff != "" || err != nil {
		t.Errorf("seen (-want +got):\n%s\n%v", diff, err)
	}
}

// TestKeyOf reads keys of another instance: one that is set, one that is not, one of another type, and of nobody.
func TestKeyOf(t *testing.T) {
	t.Parallel()
	shelf := orchestration.NewKey[int]("shelf")
	keeps := orchestration.New("Keeps", func(ctx *orchestration.Context, n int) (int, error) {
		shelf.Set(ctx, n)
		orchestration.NewKey[string]("label").Set(ctx, "books")
		return n, nil
	})
	reads := orchestration.New("Reads", func(ctx *orchestration.Context, _ string) (seen []string, err error) {
		if _, err = orchestration.SubOrchestration(ctx, keeps, 12, orchestration.WithInstanceID("keeper")).Await(); err != nil {
			return nil, err
		}
		for _, of := range []struct{ instance, key string }{{"keeper", "shelf"}, {"keeper", "none"}, {"nobody", "shelf"}, {"keeper", "label"}} {
			n, ok, err := orchestration.NewKey[int](of.key).Of(ctx, of.instance)
			seen = append(seen, fmt.Sprint(n, ok, err))
		}
		n, ok, err := shelf.Of(ctx, "keeper")
		return append(seen, fmt.Sprint(n, ok)), err
	})
	want := []string{
		"12 true <nil>", "0 false <nil>", "0 false <nil>",
		`0 true value of key "label" of "keeper": cannot decode 7 bytes into int: cannot read JSON string at byte 7`, "12 true",
	}
	if diff := cmp.Diff(want, result(t, start(newEngine(t, keeps, reads), reads, ""))); diff != "" {
		t.Errorf("a worker: seen (-want +got):\n%s", diff)
	}
	got, err := orchestrationtest.Run(orchestrationtest.New(t, keeps), reads, "")
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("orchestrationtest: seen (-want +got):\n%s\n%v", diff, err)
	}
}
