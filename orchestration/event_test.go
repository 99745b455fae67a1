package orchestration_test

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
)

// The timer that fires first wins, whichever was asked for first.
func TestTimersFireInTheirOrder(t *testing.T) {
	t.Parallel()
	s := scripted(t, orchestration.New("Timers", func(ctx *orchestration.Context, _ string) ([]int, error) {
		timers := []orchestration.Awaitable{
			ctx.Timer(40 * time.Millisecond),
			ctx.Timer(time.Hour),
			ctx.Timer(0),
		}
		ctx.Sleep(-time.Second) // due at once
		first := orchestration.WaitAny(timers...)
		return []int{first, orchestration.SelectAndDrop(timers[:2]...)}, nil
	}), "")
	for _, step := range []string{"4 fires", "5 fires", "2 fires"} {
		s.happen(step)
	}
	want := []string{
		"2 timer 40ms", "3 timer 1h0m0s", "4 timer 0s", "5 timer 0s", "6 4 fired", "7 5 fired", "8 2 fired", "9 completed: [2,0]",
	}
	if diff := cmp.Diff(want, s.lines()); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
}

// A timer may be late but never early.
func TestTimersAreNotEarly(t *testing.T) {
	t.Parallel()
	def := orchestration.New("Sleeper", func(ctx *orchestration.Context, _ string) (string, error) {
		ctx.Sleep(40 * time.Millisecond)
		return "", nil
	})
	e := newEngine(t, def)
	began := time.Now()
	result(t, start(e, def, ""))
	if took := time.Since(began); took < 40*time.Millisecond {
		t.Errorf("took %v", took)
	}
}

// Every duration is waited for, up to the longest there is. Once, rounding that one up
// overflowed, and the orchestration failed over a time that no store can hold.
func TestTimersOfAnyLength(t *testing.T) {
	t.Parallel()
	lengths := []time.Duration{math.MaxInt64, math.MaxInt64 - time.Millisecond, time.Millisecond + 1, time.Millisecond, 1, 0, math.MinInt64}
	want := []uint64{9_223_372_036_855, 9_223_372_036_854, 2, 1, 1, 0, 0}
	def := orchestration.New("Timers", func(ctx *orchestration.Context, _ string) (int, error) {
		var timers []orchestration.Awaitable
		for _, d := range lengths {
			timers = append(timers, ctx.Timer(d))
		}
		return orchestration.WaitAny(timers...), nil
	})
	e := newEngine(t, def)
	before := uint64(time.Now().UnixMilli())
	run := start(e, def, "")
	if first := result(t, run); first < 2 {
		t.Errorf("the timer of %v fired", lengths[first])
	}
	after := uint64(time.Now().UnixMilli())
	history, err := e.store.Read(t.Context(), run.Instance())
	if err != nil {
		t.Fatal(err)
	}
	for _, event := range history {
		timer, ok := event.Kind.(provider.TimerCreated)
		if !ok {
			continue
		}
		if timer.FireAtMs < before+want[0] || timer.FireAtMs > after+want[0] {
			t.Errorf("the timer of %v is due at %d, want %d to %d", lengths[0], timer.FireAtMs, before+want[0], after+want[0])
		}
		lengths, want = lengths[1:], want[1:]
	}
	if len(lengths) > 0 {
		t.Errorf("no timer for %v", lengths)
	}
}

func TestSelectCancelsItsLosers(t *testing.T) {
	t.Parallel()
	def := orchestration.New("Timeout", func(ctx *orchestration.Context, _ string) (string, error) {
		work := orchestration.Activity(ctx, hang, "")
		event := orchestration.NewEvent[string]("e").Wait(ctx)
		queue := orchestration.NewQueue[string]("q").Dequeue(ctx)
		child := orchestration.SubOrchestration(ctx, orchestration.Declare[string, string]("Forever"), "")
		winner := orchestration.SelectAndDrop(work, event, queue, child, ctx.Timer(0))
		_, workErr := work.Await()
		_, eventErr := event.Await()
		_, queueErr := queue.Await()
		_, childErr := child.Await()
		for _, err := range []error{workErr, eventErr, queueErr, childErr} {
			if !errors.Is(err, orchestration.ErrDropped) {
				return "", err
			}
		}
		return fmt.Sprint(winner, ": ", workErr), nil
	})
	forever := orchestration.New("Forever", func(ctx *orchestration.Context, _ string) (string, error) {
		return orchestration.NewEvent[string]("never").Wait(ctx).Await()
	})
	e := newEngine(t, def, forever, hang)
	run := start(e, def, "")
	if got, want := result(t, run), `4: activity "Hang": the future was dropped by a select`; got != want {
		t.Errorf("output = %s, want %s", got, want)
	}
	// The child's row is made by its first turn, which may still be under way: what the
	// parent has scheduled is known from its history.
	history, err := e.store.Read(t.Context(), run.Instance())
	if err != nil {
		t.Fatal(err)
	}
	var child string
	for _, event := range history {
		if scheduled, ok := event.Kind.(provider.SubOrchestrationScheduled); ok {
			child = run.Instance() + "::" + scheduled.Instance
		}
	}
	if got := failureText(t, client.Attach[string](e.client, child)); got != "canceled: parent dropped sub-orchestration future" {
		t.Errorf("child: %s", got)
	}
}

func TestExternalEvents(t *testing.T) {
	t.Parallel()
	def := orchestration.New("Approval", func(ctx *orchestration.Context, _ string) ([]order, error) {
		first := orchestration.NewEvent[order]("approve").Wait(ctx)
		second := orchestration.NewEvent[order]("approve").Wait(ctx)
		ctx.SetCustomStatus("waiting")
		b, err := second.Await()
		if err != nil {
			return nil, err
		}
		a, err := first.Await()
		return []order{a, b}, err
	})
	e := newEngine(t, def)
	run := start(e, def, "")
	e.status(run.Instance(), "waiting")
	for i := range 2 {
		if err := client.RaiseEvent(t.Context(), e.client, orchestration.NewEvent[order]("approve"), run.Instance(), order{SKU: i + 1}); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]order{{SKU: 1}, {SKU: 2}}, result(t, run)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// Queue messages wait for their reader, also from before the instance's first turn,
// and go along when it continues as new.
func TestQueueAcrossContinueAsNew(t *testing.T) {
	t.Parallel()
	type state struct {
		Left int
		Read []string
	}
	def := orchestration.New("Mailbox", func(ctx *orchestration.Context, s state) ([]string, error) {
		if s.Left == 0 {
			return s.Read, nil
		}
		message, err := orchestration.NewQueue[string]("inbox").Dequeue(ctx).Await()
		if err != nil {
			return nil, err
		}
		return orchestration.Declare[state, []string]("Mailbox").ContinueAsNew(ctx, state{Left: s.Left - 1, Read: append(s.Read, message)})
	})
	e := newEngine(t)
	run := start(e, def, state{Left: 6})
	var want []string
	for i := range 6 {
		want = append(want, fmt.Sprint("m", i))
		if err := client.Enqueue(t.Context(), e.client, orchestration.NewQueue[string]("inbox"), run.Instance(), want[i]); err != nil {
			t.Fatal(err)
		}
	}
	e.work(def)
	if diff := cmp.Diff(want, result(t, run)); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	executions, err := e.store.Admin().ListExecutions(t.Context(), run.Instance())
	if err != nil || len(executions) != 7 {
		t.Errorf("executions %v, %v", executions, err)
	}
}
