package secondopinion

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/providertest/linear"
	"github.com/duroxide/duroxide-go/provider/sqlite"
)

// forgetful is a store that loses some of the messages that it accepts, once it is told to.
type forgetful struct {
	provider.Provider

	calls atomic.Int64
	every int64
}

func (f *forgetful) EnqueueForOrchestrator(ctx context.Context, item provider.WorkItem, delay time.Duration) error {
	if f.every > 0 && f.calls.Add(1)%f.every == 0 {
		return nil
	}
	return f.Provider.EnqueueForOrchestrator(ctx, item, delay)
}

// Both find an order of the calls, or both find none: of a sound store's, and of one that loses messages.
func TestPorcupineAgrees(t *testing.T) {
	t.Parallel()
	for name, every := range map[string]int64{"sound": 0, "forgetful": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			anomalies := 0
			for n := range uint64(40) {
				found := compare(t, n, every)
				if found && every == 0 {
					t.Fatalf("history %d has no order", n)
				}
				if found {
					anomalies++
				}
			}
			if every > 0 && anomalies < 10 {
				t.Errorf("only %d histories of a store that loses messages have no order", anomalies)
			}
		})
	}
}

// compare makes a history and has both look for an order. It reports whether there is none.
func compare(t *testing.T, seed uint64, every int64) bool {
	t.Helper()
	store, err := sqlite.OpenMemory(t.Context(), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	r := &linear.Recorder{Clock: func() int64 { return time.Now().UnixMilli() }}
	w := linear.Workload{
		Name: fmt.Sprint("w", seed), Seed: seed, Clients: 3, Calls: 8, Instances: 2, Advance: func(d time.Duration) {
			if d > time.Second/2 { // at the end; the machine's clock takes its time
				time.Sleep(200 * time.Millisecond)
			}
		},
	}
	if err := w.Run(t.Context(), r, &forgetful{Provider: store, every: every}); err != nil {
		t.Fatal(err)
	}
	anomaly, err := linear.Check(r.Calls())
	if err != nil {
		t.Fatal(err)
	}
	sound := true
	for _, group := range linear.Groups(r.Calls()) {
		sound = porcupine.CheckOperations(model(), operations(group)) && sound
	}
	if sound != (anomaly == nil) {
		t.Fatalf("seed %d: Porcupine finds an order: %t; ours: %v", seed, sound, anomaly)
	}
	return !sound
}

// model is the contract's model for Porcupine.
func model() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return linear.Start() },
		Step: func(state, input, _ any) (bool, any) {
			next, ok := input.(*linear.Call).Apply(state.(*linear.State))
			return ok, next
		},
		Equal: func(a, b any) bool { return a.(*linear.State).String() == b.(*linear.State).String() },
	}
}

func operations(calls []*linear.Call) []porcupine.Operation {
	list := make([]porcupine.Operation, 0, len(calls))
	for _, c := range calls {
		end := int64(c.End)
		if end == 0 {
			end = math.MaxInt64
		}
		list = append(list, porcupine.Operation{Input: c, Call: int64(c.Begin), Return: end})
	}
	return list
}
