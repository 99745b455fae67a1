package orchestration_test

import (
	"fmt"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
)

// A changed path of code that instances already run. This one begins after the change and takes
// the new path; one that had gone past it would charge without a reservation, as it began.
func ExampleContext_Patched() {
	order := orchestration.New("Order", func(ctx *orchestration.Context, item string) (string, error) {
		if ctx.Patched("reserve-first") {
			if _, err := orchestration.Activity(ctx, Reserve, item).Await(); err != nil {
				return "", err
			}
		}
		return orchestration.Activity(ctx, Charge, 4900).Await()
	})
	ctx, c, stop := working(order, Reserve, Charge)
	defer stop()
	run, err := client.Start(ctx, c, order, "order-1", "chair")
	check(err)
	_, err = run.Wait(ctx)
	check(err)
	admin, err := c.Admin()
	check(err)
	events, err := admin.ReadHistory(ctx, run.Instance())
	check(err)
	for _, event := range events {
		switch k := event.Kind.(type) {
		case provider.ActivityScheduled:
			fmt.Println("activity", k.Name)
		case provider.ExternalSubscribed:
			fmt.Println("marker", k.Name)
		}
	}
	// Output:
	// marker duroxide:patched:reserve-first
	// activity Reserve
	// activity Charge
}
