package orchestrationtest_test

import (
	"errors"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/orchestrationtest"
)

// An orchestration that is cancelled after three days cleans up as on a store, and one whose
// clean-up takes too long fails.
func TestCleanup(t *testing.T) {
	t.Parallel()
	saved := orchestration.New("Saved", func(ctx *orchestration.Context, n int) (int, error) {
		var saga orchestration.Saga
		_, err := orchestration.Step(ctx, &saga, func(ctx *orchestration.Context) (int, error) {
			return orchestration.Activity(ctx, tally, n).Await()
		}, func(ctx *orchestration.Context, _ int) error {
			_, err := orchestration.Activity(ctx, greet, "sorry").Await()
			return err
		})
		return n, saga.Undo(ctx, errors.Join(err, ctx.Sleep(30*24*time.Hour)))
	}).WithCleanup(time.Hour)
	for takes, want := range map[time.Duration]error{time.Minute: orchestration.ErrCancelled, 2 * time.Hour: orchestration.ErrTimeout} {
		env := orchestrationtest.New(t)
		orchestrationtest.Mock(env, tally, double)
		orchestrationtest.Mock(env, greet, echo).Takes(takes)
		env.After(3 * 24 * time.Hour).Cancel("why")
		if _, err := orchestrationtest.Run(env, saved, 1); !errors.Is(err, want) {
			t.Errorf("a clean-up of %v: %v, want %v", takes, err, want)
		}
		env.WantCalls("Tally @0s", "Greet @72h")
	}
}
