package orchestration_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/retry"
)

// Twenty items, each with a retry, a timer and an event, run side by side. The blocks share a
// variable.
func TestBlocks(t *testing.T) {
	t.Parallel()
	const items = 20
	var tries [items]atomic.Int32
	prepare := activity.New("Prepare", func(_ context.Context, i int) (int, error) {
		if tries[i].Add(1) == 1 {
			return 0, errors.New("busy")
		}
		return 2 * i, nil
	})
	def := orchestration.New("Blocks", func(ctx *orchestration.Context, _ string) (string, error) {
		total := 0
		var blocks []*orchestration.Future[int]
		for i := range items {
			blocks = append(blocks, orchestration.Go(ctx, func(ctx *orchestration.Context) (int, error) {
				retried := orchestration.WithRetry(retry.Policy{Backoff: retry.Constant(time.Millisecond)})
				n, err := orchestration.Activity(ctx, prepare, i, retried).Await()
				if err != nil {
					return 0, err
				}
				ctx.Sleep(time.Millisecond)
				total += n
				ctx.SetCustomStatus(fmt.Sprint("prepared ", total))
				return orchestration.NewQueue[int]("approvals").Dequeue(ctx).Await()
			}))
		}
		sum := 0
		for _, block := range blocks {
			n, err := block.Await()
			if err != nil {
				return "", err
			}
			sum += n
		}
		return fmt.Sprint(total, " ", sum), nil
	})
	e := newEngine(t, def, prepare)
	run := start(e, def, "")
	e.status(t.Name(), "prepared 380")
	for range items {
		if err := client.Enqueue(t.Context(), e.client, orchestration.NewQueue[int]("approvals"), t.Name(), 1); err != nil {
			t.Fatal(err)
		}
	}
	if got := result(t, run); got != "380 20" {
		t.Errorf("output %q", got)
	}
}

// A block is a future: a select drops it with what it waits for, and an error comes out of
// Await as it is.
func TestBlocksAreFutures(t *testing.T) {
	t.Parallel()
	errBlock := errors.New("the block failed")
	ended := 0
	s := scripted(t, orchestration.New("Racing", func(ctx *orchestration.Context, _ string) (string, error) {
		block := orchestration.Go(ctx, func(ctx *orchestration.Context) (string, error) {
			defer func() { ended++ }()
			inner := orchestration.Go(ctx, func(ctx *orchestration.Context) (string, error) {
				return orchestration.Activity(ctx, charge, "").Await()
			})
			return inner.Await()
		})
		if winner := orchestration.SelectAndDrop(block, ctx.Timer(time.Second)); winner != 1 || block.Ready() {
			t.Errorf("winner %d", winner)
		}
		if _, err := block.Await(); !errors.Is(err, orchestration.ErrDropped) {
			t.Errorf("error %v", err)
		}
		failed := orchestration.Go(ctx, func(*orchestration.Context) (string, error) { return "", errBlock })
		_, err := failed.Await()
		if !failed.Ready() || err != errBlock { //nolint:errorlint // the very error
			t.Errorf("error %v", err)
		}
		return "", err
	}), "")
	s.happen("3 fires")
	want := []string{"2 activity Charge", "3 timer 1s", "4 3 fired", "5 2 cancelled", "6 failed: the block failed"}
	if diff := cmp.Diff(want, s.lines()); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	if ended != 2 { // one for each turn
		t.Errorf("the deferred call ran %d times, want 2", ended)
	}
}

// A function that returns leaves its blocks.
func TestBlocksThatNobodyAwaits(t *testing.T) {
	t.Parallel()
	s := scripted(t, orchestration.New("Leaving", func(ctx *orchestration.Context, _ string) (string, error) {
		orchestration.Go(ctx, func(ctx *orchestration.Context) (string, error) {
			_, _ = orchestration.Activity(ctx, charge, "").Await()
			t.Error("the block went on")
			return "", nil
		})
		return "out", nil
	}), "")
	want := []string{"2 activity Charge", "3 completed: out", "4 2 cancelled"}
	if diff := cmp.Diff(want, s.lines()); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
}

func TestBlockThatPanics(t *testing.T) {
	t.Parallel()
	s := scripted(t, orchestration.New("Panicking", func(ctx *orchestration.Context, _ string) (string, error) {
		return orchestration.Go(ctx, func(*orchestration.Context) (string, error) { panic("boom") }).Await()
	}), "")
	if lines := s.lines(); len(lines) != 1 || !strings.Contains(lines[0], "boom") {
		t.Errorf("history %q", lines)
	}
}

// Map keeps its limit, its order and the first error in it, and starts the next item when any
// has ended.
func TestMap(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int][]string{
		0: {"2 activity Charge", "3 activity Charge", "4 activity Charge", "5 3 failed", "6 4 returned", "7 2 returned", "8 completed: a  c: no b"},
		2: {"2 activity Charge", "3 activity Charge", "4 3 failed", "5 activity Charge", "6 5 returned", "7 2 returned", "8 completed: a  c: no b"},
	} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			t.Parallel()
			s := scripted(t, orchestration.New("Mapping", func(ctx *orchestration.Context, _ string) (string, error) {
				results, err := orchestration.Map(ctx, []string{"a", "b", "c"}, limit, func(ctx *orchestration.Context, item string) (string, error) {
					return orchestration.Activity(ctx, charge, item).Await()
				})
				return fmt.Sprintf("%s: %v", strings.Join(results, " "), err), nil
			}), "")
			last := 4
			if limit == 2 {
				last = 5
			}
			for _, step := range []string{"3 fails no b", fmt.Sprintf("%d returns c", last), "2 returns a"} {
				s.happen(step)
			}
			if diff := cmp.Diff(want, s.lines()); diff != "" {
				t.Errorf("history (-want +got):\n%s", diff)
			}
		})
	}
	s := scripted(t, orchestration.New("Empty", func(ctx *orchestration.Context, _ string) (int, error) {
		results, err := orchestration.Map(ctx, nil, 3, func(*orchestration.Context, string) (string, error) { return "", nil })
		return len(results), err
	}), "")
	if diff := cmp.Diff([]string{"2 completed: 0"}, s.lines()); diff != "" {
		t.Errorf("history of no items (-want +got):\n%s", diff)
	}
}
