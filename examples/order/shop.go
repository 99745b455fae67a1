package main

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/worker"
)

// shop is what the activities need, such as clients of other services.
type shop struct {
	charge func(ctx context.Context, b bill) (answer, error)
}

// activities are the functions behind the names that orchestrations call. Each may run
// more than once for one call, so each has to be fine with that.
func (s shop) activities() []worker.Registrable {
	return []worker.Registrable{
		charge.Implement(s.charge),
		reserve.Implement(func(ctx context.Context, item string) (string, error) {
			activity.Logger(ctx).InfoContext(ctx, "reserved")
			return item, nil
		}),
		release.Implement(func(ctx context.Context, item string) (string, error) {
			activity.Logger(ctx).InfoContext(ctx, "released")
			return item, nil
		}),
		ship.Implement(func(ctx context.Context, item string) (string, error) {
			activity.Logger(ctx).InfoContext(ctx, "shipped")
			return item + " shipped", nil
		}),
	}
}

// sandbox stands for the client of a provider of payments, on a day when every third
// call gets no answer.
func sandbox(_ context.Context, b bill) (answer, error) {
	if rand.IntN(3) == 0 { //nolint:gosec // nothing to guess
		return answer{}, errors.New("the provider of payments does not answer")
	}
	return answer{Receipt: "receipt of " + b.Key}, nil
}
