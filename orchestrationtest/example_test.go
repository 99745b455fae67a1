package orchestrationtest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/orchestrationtest"
)

var (
	Approve = orchestration.NewEvent[string]("approve")
	Charge  = activity.Named[int, string]("Charge")

	Order = orchestration.New("Order", func(ctx *orchestration.Context, cents int) (string, error) {
		if _, err := Approve.Wait(ctx).Await(); err != nil {
			return "", err
		}
		return orchestration.Activity(ctx, Charge, cents, orchestration.WithRetry(orchestration.RetryPolicy{})).Await()
	})
)

// A test of an order that is approved after three days, and whose card is charged at the third
// attempt.
func Example() { //nolint:testableexamples // a test has its t from go test
	_ = func(t *testing.T) { // TestOrder
		env := orchestrationtest.New(t)
		orchestrationtest.Mock(env, Charge, func(context.Context, int) (string, error) { return "receipt", nil }).
			Fails(2, errors.New("no answer"))
		orchestrationtest.Raise(env.After(72*time.Hour), Approve, "Ada")

		receipt, err := orchestrationtest.Run(env, Order, 49_00)
		if err != nil || receipt != "receipt" {
			t.Errorf("%q, %v", receipt, err)
		}
		env.WantCalls("Charge @72h", "Charge @72h0m0.1s", "Charge @72h0m0.3s")
	}
}

// Histories of running instances are replayed before a change is deployed.
func ExampleReplayDir() { //nolint:testableexamples // a test has its t from go test
	_ = func(t *testing.T) { // TestRunningOrdersGoOn
		orchestrationtest.ReplayDir(t, "testdata/histories", Order)
	}
}

// A table of cases, which run in parallel: each has a world of its own.
func ExampleEnv_After() { //nolint:testableexamples // a test has its t from go test
	_ = func(t *testing.T) { // TestOrders
		for name, c := range map[string]struct {
			decide func(m orchestrationtest.Moment)
			err    error
		}{
			"approved":  {func(m orchestrationtest.Moment) { orchestrationtest.Raise(m, Approve, "Ada") }, nil},
			"cancelled": {func(m orchestrationtest.Moment) { m.Cancel("too expensive") }, orchestration.ErrCancelled},
			"nobody":    {func(orchestrationtest.Moment) {}, orchestrationtest.ErrStuck},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				env := orchestrationtest.New(t)
				orchestrationtest.Mock(env, Charge, func(context.Context, int) (string, error) { return "receipt", nil })
				c.decide(env.After(time.Hour))
				if _, err := orchestrationtest.Run(env, Order, 49_00); !errors.Is(err, c.err) {
					t.Errorf("%v, want %v", err, c.err)
				}
			})
		}
	}
}

// TestExamples runs what the first example shows.
func TestExamples(t *testing.T) {
	t.Parallel()
	env := orchestrationtest.New(t)
	orchestrationtest.Mock(env, Charge, func(context.Context, int) (string, error) { return "receipt", nil }).
		Fails(2, errors.New("no answer"))
	orchestrationtest.Raise(env.After(72*time.Hour), Approve, "Ada")
	if receipt, err := orchestrationtest.Run(env, Order, 49_00); err != nil || receipt != "receipt" {
		t.Errorf("%q, %v", receipt, err)
	}
	env.WantCalls("Charge @72h", "Charge @72h0m0.1s", "Charge @72h0m0.3s")
}
