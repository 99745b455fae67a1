package activity_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/retry"
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
		// The same on every delivery, and nowhere else.
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

// Charge stands beside the orchestrations that call it. Only the workers know payments.
var Charge = activity.Declare[int, string]("Charge")

type payments struct{ currency string }

func (p payments) charge(_ context.Context, amount int) (string, error) {
	return fmt.Sprint("receipt for ", amount, " ", p.currency), nil
}

// An activity that is declared in one place and implemented in another. With other types it does not compile.
func ExampleDefinition_Implement() {
	registered := Charge.Implement(payments{"euros"}.charge) // for the worker's Register
	fmt.Println(registered.Name())
	// Output: Charge
}

// A policy in the definition applies to every call.
func ExampleDefinition_WithRetry() {
	lookup := activity.Declare[string, int]("Lookup").WithRetry(retry.Policy{MaxAttempts: 5, Timeout: time.Minute})
	policy, _ := lookup.Retry()
	fmt.Println(policy.MaxAttempts, policy.Timeout)
	// Output: 5 1m0s
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
