package samples

import (
	"time"

	"github.com/duroxide/duroxide-go/orchestration"
)

// A subscription has a trial, is billed each month until it is cancelled, and lives in short histories. After Temporal's
// subscription sample.

type plan struct {
	Customer string
	Cents    int
	Trial    time.Duration
	Months   int
}

var (
	bill      = act[plan, string]("Bill")
	mail      = act[string, struct{}]("Mail")
	cancelled = orchestration.NewEvent[string]("cancelled")
)

var Subscription = orchestration.New("Subscription", func(ctx *orchestration.Context, p plan) (int, error) {
	period := 30 * 24 * time.Hour
	if p.Months == 0 && p.Trial > 0 {
		period = p.Trial
		if err := notify(ctx, "welcome "+p.Customer); err != nil {
			return 0, err
		}
	}
	if orchestration.SelectAndDrop(cancelled.Wait(ctx), ctx.Timer(period)) == 0 {
		return p.Months, notify(ctx, "goodbye "+p.Customer)
	}
	if _, err := orchestration.Activity(ctx, bill, p, patient).Await(); err != nil {
		return p.Months, err
	}
	p.Months++
	return orchestration.Declare[plan, int]("Subscription").ContinueAsNew(ctx, p)
})

func notify(ctx *orchestration.Context, text string) error {
	_, err := orchestration.Activity(ctx, mail, text).Await()
	return err
}
