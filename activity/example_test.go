package activity_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/duroxide/duroxide-go/activity"
)

// An activity is an ordinary function with a context: it may do what it likes, and
// may be run again, so what it does should bear that.
func ExampleNew() {
	payments := map[string]int{} // an outside system that knows idempotency keys

	charge := func(ctx context.Context, cents int) (string, error) {
		info, ok := activity.InfoFrom(ctx)
		if !ok {
			return "", errors.New("not in an activity")
		}
		// The same on every attempt, and nowhere else.
		key := fmt.Sprintf("%s/%d/%d", info.Instance, info.ExecutionID, info.ActivityID)
		payments[key] = cents
		activity.Logger(ctx).InfoContext(ctx, "charged", "attempt", info.Attempt)
		return "receipt " + key, nil
	}
	definition := activity.New("Charge", charge) // for worker.Register and orchestration.Activity
	fmt.Println(definition.Name())

	// A test calls the function itself.
	for attempt := range uint32(2) {
		ctx := activity.NewContext(context.Background(), activity.Environment{
			Info: activity.Info{Instance: "order-1", ExecutionID: 1, ActivityID: 2, Attempt: attempt + 1},
		})
		fmt.Println(charge(ctx, 4_900))
	}
	fmt.Println(payments)
	// Output:
	// Charge
	// receipt order-1/1/2 <nil>
	// receipt order-1/1/2 <nil>
	// map[order-1/1/2:4900]
}

// A long activity watches its context, which ends when the result is no longer wanted,
// when the lease is lost to another worker, or when the worker has to stop.
func ExampleDefinition() {
	poll := activity.New("WaitForPayment", func(ctx context.Context, _ string) (bool, error) {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return false, context.Cause(ctx)
			case <-tick.C:
				// Ask the payment system about the order.
			}
		}
	})
	fmt.Println(poll.Name())
	// Output: WaitForPayment
}

// An activity that another program runs is called by its name and types.
func ExampleNamed() {
	charge := activity.Named[int, string]("Charge") // for orchestration.Activity
	fmt.Println(charge.Name())
	// Output: Charge
}

// An activity may ask which orchestration has called it. Outside a worker nobody knows.
func ExampleCaller() {
	ctx := activity.NewContext(context.Background(), activity.Environment{})
	name, version := activity.Caller(ctx)
	fmt.Println(name, version)
	// Output: unknown unknown
}

// A long activity says how far it is, so that the attempt after it goes on there.
func ExampleHeartbeat() {
	importRows := func(ctx context.Context, rows int) (string, error) {
		next, _ := activity.LastHeartbeat[int](ctx) // 0 on the first attempt
		for ; next < rows; next++ {
			fmt.Println("row", next)
			if err := activity.Heartbeat(ctx, next+1); err != nil {
				return "", err // the result is not wanted any more, or the worker stops
			}
		}
		return fmt.Sprintf("%d rows", next), nil
	}
	definition := activity.New("Import", importRows) // for worker.Register and orchestration.Activity
	fmt.Println(definition.Name())

	// A test calls the function itself, as the attempt after one that came to row 3.
	ctx := activity.NewContext(context.Background(), activity.Environment{LastHeartbeat: "3"})
	fmt.Println(importRows(ctx, 5))
	// Output:
	// Import
	// row 3
	// row 4
	// 5 rows <nil>
}
