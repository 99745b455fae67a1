package activity_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/activity"
)

// What one attempt says, the next one reads in the same type; what does not fit is no heartbeat.
func TestHeartbeat(t *testing.T) {
	t.Parallel()
	type progress struct{ Rows int }
	var last string
	ctx := activity.NewContext(t.Context(), activity.Environment{Heartbeat: func(details string) { last = details }})
	if _, ok := activity.LastHeartbeat[progress](ctx); ok {
		t.Error("the first attempt has details")
	}
	if err := activity.Heartbeat(ctx, progress{Rows: 7}); err != nil || last != `{"Rows":7}` {
		t.Errorf("%q, %v", last, err)
	}
	ctx = activity.NewContext(t.Context(), activity.Environment{LastHeartbeat: last})
	if got, ok := activity.LastHeartbeat[progress](ctx); !ok || got.Rows != 7 {
		t.Errorf("%v, %v", got, ok)
	}
	if got, ok := activity.LastHeartbeat[int](ctx); ok {
		t.Errorf("%v", got)
	}
}

// Heartbeat reports why the context has ended, and details that it cannot keep; it does nothing
// outside an activity.
func TestHeartbeatErrors(t *testing.T) {
	t.Parallel()
	told := 0
	ctx := activity.NewContext(t.Context(), activity.Environment{Heartbeat: func(string) { told++ }})
	if err := activity.Heartbeat(ctx, func() {}); err == nil {
		t.Error("a function is no detail")
	}
	if err := activity.Heartbeat(ctx, strings.Repeat("secret", 10_000)); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %.200v", err)
	}
	if told != 0 {
		t.Errorf("told %d times", told)
	}
	why := errors.New("not wanted any more")
	ended, cancel := context.WithCancelCause(ctx)
	cancel(why)
	if err := activity.Heartbeat(ended, 7); !errors.Is(err, why) || told != 1 {
		t.Errorf("%v, told %d times", err, told)
	}
	if err := activity.Heartbeat(t.Context(), 7); err != nil {
		t.Error(err)
	}
	if _, ok := activity.LastHeartbeat[int](t.Context()); ok {
		t.Error("details outside an activity")
	}
}
