package samples

import (
	"time"

	"github.com/duroxide/duroxide-go/orchestration"
)

// An instance for each resource gives it to one holder after the other. After Temporal's mutex sample.

type request struct {
	Holder string
	Lease  time.Duration
}

type lockState struct {
	Waiting []request
	Served  int
}

var (
	requests = orchestration.NewQueue[request]("requests")
	released = orchestration.NewQueue[string]("released")
	grant    = act[string, struct{}]("Grant")
)

var Lock = orchestration.New("Lock", func(ctx *orchestration.Context, s lockState) (int, error) {
	for range 100 {
		next, err := requests.Dequeue(ctx).Await()
		if err != nil {
			return s.Served, err
		}
		if next.Holder == "" {
			return s.Served, nil
		}
		if err := hold(ctx, next); err != nil {
			return s.Served, err
		}
		s.Served++
	}
	return orchestration.Declare[lockState, int]("Lock").ContinueAsNew(ctx, s)
})

func hold(ctx *orchestration.Context, r request) error {
	if _, err := orchestration.Activity(ctx, grant, r.Holder).Await(); err != nil {
		return err
	}
	expired := ctx.Timer(max(r.Lease, time.Second))
	for {
		back := released.Dequeue(ctx)
		if orchestration.WaitAny(back, expired) == 1 {
			return nil
		}
		if holder, err := back.Await(); err != nil || holder == r.Holder {
			return err
		}
	}
}
