// Package contexts uses contexts where they must not be used.
package contexts

import (
	"context"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/retry"
)

var release = activity.New("Release", func(_ context.Context, item string) (string, error) { return item, nil })

func bad(ctx *orchestration.Context, item string) (string, error) {
	defer orchestration.Activity(ctx, release, item).Await() // want `a deferred call asks for something, and deferred calls also run when the function is only put aside; do it before the function returns`
	defer ctx.SetCustomStatus("done")                        // want `a deferred call asks for something`
	defer func() {                                           // want `a deferred call asks for something`
		if item != "" {
			undo(ctx, item)
		}
	}()
	messages := orchestration.NewChannel[int](ctx, 1)
	var group orchestration.WaitGroup
	var saga orchestration.Saga
	defer messages.Send(1)    // want `a deferred call asks for something`
	defer group.Wait()        // want `a deferred call asks for something`
	defer saga.Undo(ctx, nil) // want `a deferred call asks for something`
	keys := ctx.KV()
	defer keys.Clear()                // want `a deferred call asks for something`
	defer ctx.KV().Prune(time.Time{}) // want `a deferred call asks for something`
	defer ctx.Sleep(time.Second)      // want `a deferred call asks for something`
	saga.Add(func(*orchestration.Context) error {
		undo(ctx, item) // want `ctx is the context outside this block`
		return nil
	})
	if ctx.Replaying() { // want `what is asked for depends on Context.Replaying, so that a replay asks for something else; use it for logging only`
		ctx.Sleep(time.Second)
	}
	if !ctx.Replaying() && item == "x" { // want `what is asked for depends on Context.Replaying`
		undo(ctx, item)
	}
	block := orchestration.Go(ctx, func(own *orchestration.Context) (string, error) {
		return orchestration.Activity(ctx, release, item).Await() // want `ctx is the context outside this block; use the context that the block is given`
	})
	_, _ = orchestration.Map(ctx, []string{item}, 0, func(_ *orchestration.Context, item string) (string, error) {
		undo(ctx, item) // want `ctx is the context outside this block`
		return item, nil
	})
	_ = activity.New("Late", func(_ context.Context, item string) (string, error) {
		undo(ctx, item) // want `the activity uses the orchestration's context; give the activity what it needs as input`
		return item, nil
	})
	_ = activity.Declare[string, string]("Later").Implement(func(_ context.Context, item string) (string, error) {
		undo(ctx, item) // want `the activity uses the orchestration's context`
		return item, nil
	})
	return block.Await()
}

func undo(ctx *orchestration.Context, item string) {
	_, _ = orchestration.Activity(ctx, release, item).Await()
}

func good(ctx *orchestration.Context, item string) (string, error) {
	open := true
	messages := orchestration.NewChannel[int](ctx, 1)
	defer messages.Close()
	defer func() {
		open = ctx.Err() != nil
		ctx.Logger(nil).Info("done", "instance", ctx.Info().Instance, "keys", ctx.KV().Keys())
	}()
	if !ctx.Replaying() {
		item += ""
	}
	if open {
		undo(ctx.Detached(), item)
	}
	block := orchestration.Go(ctx, func(ctx *orchestration.Context) (string, error) {
		undo(ctx, item)
		return item, nil
	})
	each := func(item string) { undo(ctx, item) }
	each(item)
	return block.Await()
}

var policy = retry.Policy{
	Backoff:   func(n int) time.Duration { return time.Until(time.Time{}) }, // want `time.Until reads the clock`
	Retryable: func(err error) bool { return err != context.Canceled },
}

var backoff = retry.Backoff(func(n int) time.Duration { return time.Since(time.Time{}) }) // want `time.Since reads the clock`
