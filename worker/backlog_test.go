package worker_test

import (
	"testing"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker"
)

// sum adds up what came out of a queue of numbers from 0 on, and where the order was broken.
type sum struct{ Next, Broken int }

// take reads one number.
func (s *sum) take(ctx *orchestration.Context) error {
	n, err := orchestration.Dequeue[int](ctx, "numbers").Await()
	if err != nil {
		return err
	}
	if n != s.Next {
		s.Broken++
	}
	s.Next++
	return nil
}

// reader reads a queue of so many numbers in a loop. It continues as new after every each of them
// if each is not 0.
func reader(total, each int) orchestration.Definition[sum, sum] {
	named := orchestration.Named[sum, sum]("Reader")
	return orchestration.New("Reader", func(ctx *orchestration.Context, s sum) (sum, error) {
		for s.Next < total {
			if err := s.take(ctx); err != nil {
				return s, err
			}
			if each > 0 && s.Next%each == 0 && s.Next < total {
				return named.ContinueAsNew(ctx, s)
			}
		}
		return s, nil
	})
}

// A loop reads what has come while no worker ran, however much that is, with and without
// continue-as-new: each message once and in order.
func TestBacklogsAreReadInOrder(t *testing.T) {
	t.Parallel()
	const many = 550
	for name, each := range map[string]int{"in one execution": 0, "continuing as new": 50, "continuing as new after each": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onBothStores(t, func(t *testing.T, store provider.Provider) {
				def := reader(many, each)
				run := start(t, store, def, sum{})
				c := client.New(store)
				for n := range many {
					if err := c.Enqueue(t.Context(), run.Instance(), "numbers", n); err != nil {
						t.Fatal(err)
					}
				}
				runWorker(t, store, worker.Options{}, def)
				if got := result(t, run); got != (sum{Next: many}) {
					t.Errorf("read %+v", got)
				}
			})
		})
	}
}
