package orchestration_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/retry"
)

// The result of an activity that takes too long is not waited for.
func ExampleWithTimeout() {
	slow := activity.New("Slow", func(ctx context.Context, _ string) (string, error) {
		<-ctx.Done() // it is told to stop
		return "", context.Cause(ctx)
	})
	impatient := orchestration.New("Impatient", func(ctx *orchestration.Context, _ string) (bool, error) {
		_, err := orchestration.Activity(ctx, slow, "", orchestration.WithTimeout(10*time.Millisecond)).Await()
		return errors.Is(err, orchestration.ErrTimeout), nil
	})

	fmt.Println(resultOf(impatient, "", slow))
	// Output: true <nil>
}

// Pauses are functions of the attempt, so a policy may have its own.
func ExampleBackoff() {
	for attempt := range 3 {
		fmt.Println(
			retry.Constant(time.Second)(attempt+1),
			retry.Linear(time.Second, time.Minute)(attempt+1),
			retry.Exponential(time.Second, 2, time.Minute)(attempt+1),
		)
	}
	own := retry.Policy{Backoff: func(attempt int) time.Duration {
		return []time.Duration{time.Second, time.Minute, time.Hour}[min(attempt, 3)-1]
	}}
	fmt.Println(own.Backoff(2), own.Validate())
	// Output:
	// 1s 1s 1s
	// 1s 2s 2s
	// 1s 3s 4s
	// 1m0s <nil>
}

// A timer is recorded, so a pause of a month needs no process that lives for a month.
func ExampleContext_Sleep() {
	reminder := orchestration.New("Reminder", func(ctx *orchestration.Context, city string) (string, error) {
		if err := ctx.Sleep(10 * time.Millisecond); err != nil { // or 30*24*time.Hour
			return "", err
		}
		return orchestration.Activity(ctx, Greet, city).Await()
	})

	fmt.Println(resultOf(reminder, "Oslo", Greet))
	// Output: Hello, Oslo! <nil>
}

// A timer is a future too: here it bounds how long an order waits for its event.
func ExampleContext_Timer() {
	order := orchestration.New("Order", func(ctx *orchestration.Context, _ string) (string, error) {
		paid, late := Paid.Wait(ctx), ctx.Timer(10*time.Millisecond)
		if orchestration.SelectAndDrop(paid, late) == 1 {
			return "not paid in time", nil
		}
		return paid.Await()
	})

	fmt.Println(resultOf(order, ""))
	// Output: not paid in time <nil>
}

// WaitAny waits for the first of several futures, and leaves the others as they are.
func ExampleWaitAny() {
	order := orchestration.New("Order", func(ctx *orchestration.Context, item string) (string, error) {
		reserved := orchestration.Activity(ctx, Reserve, item)
		patience := ctx.Timer(time.Hour)
		orchestration.WaitAny(reserved, patience)
		return fmt.Sprint(reserved.Ready(), " ", patience.Ready()), nil
	})

	fmt.Println(resultOf(order, "chair", Reserve))
	// Output: true false <nil>
}

// All blocks of a wait group have ended when Wait returns.
func ExampleWaitGroup() {
	greetings := orchestration.New("Greetings", func(ctx *orchestration.Context, cities []string) (int, error) {
		var group orchestration.WaitGroup
		greeted := 0 // blocks take turns, so they may share a variable
		for _, city := range cities {
			group.Go(ctx, func(ctx *orchestration.Context) error {
				_, err := orchestration.Activity(ctx, Greet, city).Await()
				greeted++
				return err
			})
		}
		return greeted, group.Wait()
	})

	fmt.Println(resultOf(greetings, []string{"Oslo", "Lima"}, Greet))
	// Output: 2 <nil>
}

// Activities of one session run on one worker, which may keep a file between them.
func ExampleInSession() {
	files := map[string]string{} // on the worker's disk
	download := activity.New("Download", func(_ context.Context, name string) (string, error) {
		files[name] = "a cat"
		return name, nil
	})
	look := activity.New("Look", func(_ context.Context, name string) (string, error) { return files[name], nil })
	see := orchestration.New("See", func(ctx *orchestration.Context, name string) (string, error) {
		session := orchestration.InSession(ctx.Info().Instance)
		if _, err := orchestration.Activity(ctx, download, name, session).Await(); err != nil {
			return "", err
		}
		return orchestration.Activity(ctx, look, name, session).Await()
	})

	fmt.Println(resultOf(see, "cat.png", download, look))
	// Output: a cat <nil>
}

// An activity with a tag runs on workers that ask for the tag. Here there are none, so the call
// ends by its timeout.
func ExampleWithTag() {
	render := orchestration.New("Render", func(ctx *orchestration.Context, scene string) (string, error) {
		return orchestration.Activity(ctx, Reserve, scene, orchestration.WithTag("gpu"),
			orchestration.WithTimeout(10*time.Millisecond)).Await()
	})

	_, err := resultOf(render, "a forest", Reserve)
	fmt.Println(errors.Is(err, orchestration.ErrTimeout))
	// Output: true
}

// A sub-orchestration may have an id of your choice. An id that is taken fails the call.
func ExampleWithInstanceID() {
	line := orchestration.New("OrderLine", func(_ *orchestration.Context, item string) (string, error) {
		return item + " packed", nil
	})
	order := orchestration.New("Order", func(ctx *orchestration.Context, item string) (string, error) {
		packed, err := orchestration.SubOrchestration(ctx, line.AtVersion("1.0.0"), item, orchestration.WithInstanceID("line-1")).Await()
		if err != nil {
			return "", err
		}
		_, err = orchestration.SubOrchestration(ctx, line, item, orchestration.WithInstanceID("line-1")).Await()
		return fmt.Sprint(packed, ", then ", errors.Is(err, orchestration.ErrAlreadyExists)), nil
	})

	fmt.Println(resultOf(order, "chair", line))
	// Output: chair packed, then true <nil>
}

// A detached orchestration outlives the one that started it.
func ExampleDetach() {
	audit := orchestration.New("Audit", func(_ *orchestration.Context, what string) (string, error) {
		return what + " noted", nil
	})
	order := orchestration.New("Order", func(ctx *orchestration.Context, item string) (string, error) {
		orchestration.Detach(ctx, audit, "audit-1", item)
		return item + " ordered", nil
	})

	ctx, c, stop := working(order, audit)
	defer stop()
	run, err := client.Start(ctx, c, order, "order-1", "chair")
	check(err)
	fmt.Println(run.Wait(ctx))
	fmt.Println(client.Attach[string](c, "audit-1").Wait(ctx))
	// Output:
	// chair ordered <nil>
	// chair noted <nil>
}

// A message is kept until it is read, here by its queue's name and type.
func ExampleQueue_Dequeue() {
	amounts := orchestration.NewQueue[int]("amounts")
	sum := orchestration.New("Sum", func(ctx *orchestration.Context, n int) (sum int, err error) {
		for range n {
			amount, err := amounts.Dequeue(ctx).Await()
			if err != nil {
				return 0, err
			}
			sum += amount
		}
		return sum, nil
	})

	ctx, c, stop := working(sum)
	defer stop()
	run, err := client.Start(ctx, c, sum, "sum-1", 3)
	check(err)
	for _, amount := range []int{1, 2, 3} {
		check(client.Enqueue(ctx, c, amounts, "sum-1", amount))
	}
	fmt.Println(run.Wait(ctx))
	// Output: 6 <nil>
}

// An orchestration that lives for ever moves to the new version of its code by itself.
func ExampleDefinition_AtVersion() {
	monitor := orchestration.Declare[int, string]("Monitor")
	first := monitor.Implement(func(ctx *orchestration.Context, n int) (string, error) {
		return monitor.AtVersion("2.0.0").ContinueAsNew(ctx, n+1)
	})
	second := monitor.Implement(func(ctx *orchestration.Context, n int) (string, error) {
		return fmt.Sprint("execution ", n, " has version ", ctx.Info().Version), nil
	}).WithVersion("2.0.0")

	ctx, c, stop := working(first, second)
	defer stop()
	run, err := client.Start(ctx, c, monitor.AtVersion("1.0.0"), "monitor-1", 1)
	check(err)
	fmt.Println(run.Wait(ctx))
	// Output: execution 2 has version 2.0.0 <nil>
}

// A value of a channel is a future, so that it can be waited for beside others.
func ExampleChannel_Receive() {
	kitchen := orchestration.New("Kitchen", func(ctx *orchestration.Context, dish string) (string, error) {
		dishes, patience := orchestration.NewChannel[string](ctx, 0), ctx.Timer(time.Hour)
		orchestration.Go(ctx, func(*orchestration.Context) (any, error) {
			return nil, dishes.Send(dish)
		})
		ready := dishes.Receive()
		if orchestration.SelectAndDrop(ready, patience) == 1 {
			return "", orchestration.ErrTimeout
		}
		return ready.Await()
	})

	fmt.Println(resultOf(kitchen, "soup"))
	// Output: soup <nil>
}

// What may have been done although it failed has an undo step of its own, added before.
func ExampleSaga_Add() {
	order := orchestration.New("Order", func(ctx *orchestration.Context, cents int) (string, error) {
		var saga orchestration.Saga
		saga.Add(func(ctx *orchestration.Context) error {
			_, err := orchestration.Activity(ctx, Release, "chair").Await()
			return err
		})
		receipt, err := orchestration.Activity(ctx, Charge, cents).Await()
		return receipt, saga.Undo(ctx, err)
	})

	fmt.Println(resultOf(order, 4_900, Charge, Release))
	_, err := resultOf(order, 490_000, Charge, Release)
	fmt.Println(err)
	// Output:
	// charged 4900 <nil>
	// card declined
}

// A loop without an end asks whether it is cancelled.
func ExampleContext_Err() {
	ticking := orchestration.New("Ticking", func(ctx *orchestration.Context, _ string) (int, error) {
		ticks := 0
		for ctx.Err() == nil {
			ticks++
			ctx.SetCustomStatus("ticking")
			_ = ctx.Sleep(time.Hour)
		}
		return ticks, ctx.Err()
	}).WithCleanup(time.Minute)

	ctx, c, stop := working(ticking)
	defer stop()
	run, err := client.Start(ctx, c, ticking, "ticking-1", "")
	check(err)
	_, err = c.WaitForCustomStatus(ctx, "ticking-1", 0)
	check(err)
	check(c.Cancel(ctx, "ticking-1", "enough"))
	_, err = run.Wait(ctx)
	fmt.Println(err)
	// Output: canceled: enough
}
