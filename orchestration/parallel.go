package orchestration

import "github.com/duroxide/duroxide-go/internal/replay"

// Go runs a block of the orchestration beside the rest, such as an item's activities with
// their timers and events. It returns when the block first waits; from there on the block goes
// on whenever its result is there and the rest waits, so that only one of them runs at a
// time, in an order that a replay repeats. A variable that both use needs no lock.
//
// The future has what fn returns. A block that loses a [Select] ends where it waits: its
// deferred calls run, and what it had asked for is dropped, with the blocks it started. When
// the orchestration's function returns, blocks that still run are left: await them. A panic in
// a block fails the orchestration. fn must use the context that it is given.
func Go[T any](ctx *Context, fn func(ctx *Context) (T, error)) *Future[T] {
	var value T
	var err error
	branch := ctx.env.Go(func() { value, err = fn(ctx) })
	return branched(ctx, "block", branch, func() (T, error) { return value, err })
}

func branched[T any](ctx *Context, source string, branch *replay.Branch, value func() (T, error)) *Future[T] {
	return &Future[T]{ctx: ctx, source: source, place: running{branch}, value: value}
}

// Map calls fn for each item, at most limit at a time; 0 is all at once. It waits for all and
// returns the results in the order of the items. When some fail, the others still run, and
// the first error in that order is returned. Each call is a block as [Go] runs it.
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

// WaitGroup waits for blocks that have no result. The zero value has none.
type WaitGroup struct{ blocks []*Future[struct{}] }

// Go runs a block as the function [Go] does.
func (w *WaitGroup) Go(ctx *Context, fn func(ctx *Context) error) {
	w.blocks = append(w.blocks, Go(ctx, func(ctx *Context) (struct{}, error) { return struct{}{}, fn(ctx) }))
}

// Wait waits for all blocks, also those that start meanwhile, and returns the first error in
// the order of their starts.
func (w *WaitGroup) Wait() error {
	var first error
	for i := 0; i < len(w.blocks); i++ { //nolint:intrange // it grows
		if _, err := w.blocks[i].Await(); err != nil && first == nil {
			first = err
		}
	}
	return first
}
