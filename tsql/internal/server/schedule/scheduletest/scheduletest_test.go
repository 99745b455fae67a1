package scheduletest_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/tsql/leaktest"

	"github.com/duroxide/duroxide-go/tsql/internal/server/schedule"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schedule/scheduletest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

var _ schedule.Scheduler = (*scheduletest.Controlled)(nil)

func TestStepsAreTheTests(t *testing.T) {
	t.Parallel()
	c := scheduletest.New()
	defer c.Close()
	var log []string
	say := func(s string) { log = append(log, s) }
	outcomes := map[schedule.Outcome]string{
		schedule.Woken: "woken", schedule.TimedOut: "timed out", schedule.Cancelled: "cancelled",
	}
	ctx, cancel := context.WithCancel(t.Context())
	c.Go(1, func() {
		c.Enter(1)
		defer c.Leave(1)
		say("1 begins")
		c.Yield(1, schedule.Point{Kind: "statement"})
		say("1 " + outcomes[c.Park(ctx, 1, schedule.Point{Kind: "lock"}, -1)])
		say("1 " + outcomes[c.Park(ctx, 1, schedule.Point{Kind: "lock"}, time.Second)])
		say("1 " + outcomes[c.Park(ctx, 1, schedule.Point{Kind: "lock"}, time.Second)])
	})
	c.Go(2, func() {
		say("2 begins")
		c.Outside(2, func() { say("2 outside") })
		c.Unpark(1)
		c.Yield(2, schedule.Point{Kind: "statement"})
		say("2 ends")
	})
	c.Step(1)
	c.Step(2)
	if got := c.Run(1); got != scheduletest.Parked {
		t.Errorf("session 1 is %v", got)
	}
	c.Step(1) // it waits: nothing happens
	c.Step(2)
	c.Step(1)
	c.Step(1)
	c.Expire(1)
	c.Step(1)
	cancel()
	c.Finish()
	want := []string{
		"1 begins", "2 begins", "2 outside", "1 woken", "1 timed out", "2 ends", "1 cancelled",
	}
	slices.Sort(log[5:]) // Finish chooses
	slices.Sort(want[5:])
	if !slices.Equal(log, want) {
		t.Errorf("got  %q\nwant %q", log, want)
	}
	if c.Now != time.Second {
		t.Errorf("it is %v", c.Now)
	}
}

func TestCloseEndsWhoWaits(t *testing.T) {
	t.Parallel()
	c := scheduletest.New()
	unwound := false
	c.Go(1, func() {
		defer func() { unwound = true }()
		c.Park(t.Context(), 1, schedule.Point{Kind: "lock"}, -1)
	})
	c.Step(1)
	c.Close()
	if !unwound {
		t.Error("the session was not ended")
	}
}

func TestEverybodyWaits(t *testing.T) {
	t.Parallel()
	c := scheduletest.New()
	defer c.Close()
	c.Go(1, func() { c.Park(t.Context(), 1, schedule.Point{Kind: "lock", What: "KEY"}, -1) })
	defer func() {
		if recover() == nil {
			t.Error("Finish returned though nobody can go on")
		}
	}()
	c.Finish()
}
