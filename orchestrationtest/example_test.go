package orchestrationtest_test

import (
	"context"
	"errors"
	"flag"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/codec"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/orchestrationtest"
	"github.com/duroxide/duroxide-go/retry"
)

var (
	Approve = orchestration.NewEvent[string]("approve")
	Charge  = activity.Declare[int, string]("Charge")

	Order = orchestration.New("Order", func(ctx *orchestration.Context, cents int) (string, error) {
		if _, err := Approve.Wait(ctx).Await(); err != nil {
			return "", err
		}
		return orchestration.Activity(ctx, Charge, cents, orchestration.WithRetry(retry.Policy{})).Await()
	})
)

// A test of an order that is approved after three days, and whose card is charged at the third
// attempt.
func Example() { //nolint:testableexamples // a test has its t from go test
	tests["TestOrder"] = func(t *testing.T) {
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
	tests["TestRunningOrdersGoOn"] = func(t *testing.T) {
		orchestrationtest.ReplayDir(t, "testdata/histories", Order)
	}
}

// A table of cases, which run in parallel: each has a world of its own.
func ExampleEnv_After() { //nolint:testableexamples // a test has its t from go test
	tests["TestOrders"] = func(t *testing.T) {
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

// Histories of a store with a codec are as encoded as the store has them.
func ExampleCodec() { //nolint:testableexamples // a test has its t from go test
	_ = func(t *testing.T, keys *codec.Keyring) { // TestRunningOrdersGoOn
		c, err := codec.New(codec.Encrypt(keys))
		if err != nil {
			t.Fatal(err)
		}
		orchestrationtest.ReplayDir(t, "testdata/histories", Order, orchestrationtest.Codec(c))
	}
}

// What an activity was called with is asked by its definition, and so has its type.
func ExampleInputs() { //nolint:testableexamples // a test has its t from go test
	tests["TestChargesWhatWasOrdered"] = func(t *testing.T) {
		env := orchestrationtest.New(t)
		orchestrationtest.Mock(env, Charge, func(context.Context, int) (string, error) { return "receipt", nil }).
			Takes(time.Minute)
		orchestrationtest.Raise(env.After(time.Hour), Approve, "Ada")
		if _, err := orchestrationtest.Run(env, Order, 49_00); err != nil {
			t.Error(err)
		}
		if cents := orchestrationtest.Inputs(env, Charge); len(cents) != 1 || cents[0] != 49_00 {
			t.Errorf("charged %v", cents)
		}
	}
}

// All workers are busy for two hours.
func ExampleMocked_Waits() { //nolint:testableexamples // a test has its t from go test
	tests["TestChargesLate"] = func(t *testing.T) {
		env := orchestrationtest.New(t)
		orchestrationtest.Mock(env, Charge, func(context.Context, int) (string, error) { return "receipt", nil }).
			Waits(2 * time.Hour)
		orchestrationtest.Raise(env.After(time.Hour), Approve, "Ada")
		if _, err := orchestrationtest.Run(env, Order, 49_00); err != nil {
			t.Error(err)
		}
		env.WantCalls("Charge @3h")
	}
}

// The history of a test's own run is kept for the code to come, which has to fit it.
func ExampleEnv_Save() { //nolint:testableexamples // a test has its t from go test
	tests["TestHistoryOfAnOrder"] = func(t *testing.T) {
		env := orchestrationtest.New(t)
		orchestrationtest.Mock(env, Charge, func(context.Context, int) (string, error) { return "receipt", nil })
		orchestrationtest.Raise(env.After(time.Hour), Approve, "Ada")
		if _, err := orchestrationtest.Run(env, Order, 49_00); err != nil {
			t.Error(err)
		}
		if *update {
			env.Save("testdata/histories", env.Instances()[0])
		}
	}
}

// Letters come to an orchestration by a queue, here in the midst of its life.
var Letters = orchestration.NewQueue[string]("letters")

// A script may look at the world on its way, and send messages to any instance.
func ExampleMoment_Do() { //nolint:testableexamples // a test has its t from go test
	reader := orchestration.New("Reader", func(ctx *orchestration.Context, _ string) (string, error) {
		ctx.SetCustomStatus("waits for a letter")
		return Letters.Dequeue(ctx).Await()
	})
	tests["TestReader"] = func(t *testing.T) {
		env := orchestrationtest.New(t, reader, orchestrationtest.ActivityRetry(retry.Policy{MaxAttempts: 3}))
		began := env.Now()
		noon := env.After(12 * time.Hour).Do(func() {
			if status := env.CustomStatus(); *status != "waits for a letter" {
				t.Error(*status)
			}
		})
		orchestrationtest.Enqueue(noon, Letters, "from Ada")
		orchestrationtest.Enqueue(noon.To("another"), orchestration.NewQueue[string]("letters"), "for somebody else")
		if letter, err := orchestrationtest.Run(env, reader, ""); err != nil || letter != "from Ada" {
			t.Errorf("%q, %v", letter, err)
		}
		env.Advance(time.Hour) // for what goes on without it
		if took := env.Now().Sub(began); took != 13*time.Hour {
			t.Errorf("it took %v", took)
		}
		for _, call := range env.Calls() { // none
			t.Error(call)
		}
		if events := env.History(env.Instances()[0]); len(events) != 5 {
			t.Errorf("%d events", len(events))
		}
	}
}

var update = flag.Bool("save-histories", false, "write the histories of this test's run")

// tests are those of the examples.
var tests = map[string]func(t *testing.T){}

// TestExamples runs the tests that the examples show, but for the one that needs histories.
func TestExamples(t *testing.T) {
	t.Parallel()
	for _, example := range []func(){Example, ExampleEnv_After, ExampleEnv_Save, ExampleInputs, ExampleMoment_Do} {
		example()
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
}
