package orchestration

import "github.com/duroxide/duroxide-go/internal/replay"

// Go runs fn as a block beside the rest of the orchestration, for example one item's activities with their timers and
// events. Go returns when the block first waits. Later the block continues when the result that it waits for is there
// and the other blocks wait. Only one block runs at a time, and a replay repeats their order. Variables that blocks
// share need no lock.
//
// The future returns the results of fn. A block that loses a [SelectAndDrop] ends where it waits: its deferred calls
// run, and its calls, waits and the blocks that it started are dropped. Blocks that still run when the orchestration's
// function returns are abandoned, so await them. A panic in a block fails the orchestration. fn must use the context
// that it is given.
func Go[T any](ctx *Context, fn func(ctx *Context) (T, error)) *Future[T] {
	var value T
	var err error
	branch := ctx.env.Go(func() { value, err = fn(ctx) })
	return branched(ctx, "block", branch, func() (T, error) { return value, err })
}

func branched[T any](ctx *Context, source string, branch *replay.Branch, value func() (T, error)) *Future[T] {
	return &Future[T]{ctx: ctx, source: source, place: running{branch}, value: value}
}

// Map calls fn for each item, at most limit at a time; limit 0 runs all at once. It waits for all calls and returns
// the results in the order of the items. If some fail, the others still run, and the first error in the order of the
// items is returned. Each call runs as a block of [Go].
func Map[I, O any](ctx *Context, items []I, limit int, fn func(ctx *Context, item I) (O, error)) ([]O, error) {
	running := 0
	futures := make([]*Future[O], len(items))
	for i, item := range items {
		ctx.env.WaitUntil(func() bool { return limit <= 0 || running < limit })
		running++
		futures[i] = Go(ctx, func(ctx *Context) (O, error) {
			defer func() { running-- }()
			return fn(ctx, item)
		})
	}
	return Join(futures...)
}

// WaitGroup waits for blocks that have no result. The zero value is ready to use.
type WaitGroup struct{ blocks []*Future[struct{}] }

// Go runs a block like the function [Go].
func (w *WaitGroup) Go(ctx *Context, fn func(ctx *Context) error) {
	w.blocks = append(w.blocks, Go(ctx, func(ctx *Context) (struct{}, error) { return struct{}{}, fn(ctx) }))
}

// Wait waits for all blocks, including those that start meanwhile, and returns the first error in the order in which
// the blocks were started.
func (w *WaitGroup) Wait() error {
	var first error
	for i := 0; i < len(w.blocks); i++ { //nolint:intrange // it grows
		if _, err := w.blocks[i].Await(); err != nil && first == nil {
			first = err
		}
	}
	return first
}
