package orchestration_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
)

type order struct {
	SKU   int      `json:"sku"`
	Notes []string `json:"notes"`
}

var (
	greet = activity.New("Greet", func(_ context.Context, name string) (string, error) {
		return "Hello, " + name + "!", nil
	})
	double = activity.New("Double", func(_ context.Context, n int) (int, error) { return 2 * n, nil })
	refuse = activity.New("Refuse", func(_ context.Context, reason string) (string, error) {
		return "", errors.New(reason)
	})
	hang = activity.New("Hang", func(ctx context.Context, _ string) (string, error) {
		<-ctx.Done()
		return "", context.Cause(ctx)
	})
)

func TestActivitiesOneAfterTheOther(t *testing.T) {
	t.Parallel()
	hello := orchestration.New("HelloCities", func(ctx *orchestration.Context, cities []string) (string, error) {
		var greetings []string
		for _, city := range cities {
			greeting, err := orchestration.Activity(ctx, greet, city).Await()
			if err != nil {
				return "", err
			}
			greetings = append(greetings, greeting)
		}
		return strings.Join(greetings, " "), nil
	})
	e := newEngine(t, hello, greet)
	if got, want := result(t, start(e, hello, []string{"Oslo", "Lima"})), "Hello, Oslo! Hello, Lima!"; got != want {
		t.Errorf("output = %q, want %q", got, want)
	}
}

func TestTypedPayloads(t *testing.T) {
	t.Parallel()
	annotate := activity.New("Annotate", func(_ context.Context, o order) (*order, error) {
		o.Notes = append(o.Notes, `"quoted"`, "null")
		return &o, nil
	})
	def := orchestration.New("Typed", func(ctx *orchestration.Context, o order) (order, error) {
		annotated, err := orchestration.Activity(ctx, annotate, o).Await()
		return *annotated, err
	})
	e := newEngine(t, def, annotate)
	want := order{SKU: 7, Notes: []string{"a", `"quoted"`, "null"}}
	if diff := cmp.Diff(want, result(t, start(e, def, order{SKU: 7, Notes: []string{"a"}}))); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
}

// Strings that look like JSON stay what they are on the whole way.
func TestAnyPayloads(t *testing.T) {
	t.Parallel()
	echo := activity.New("Echo", func(_ context.Context, v any) (any, error) { return v, nil })
	def := orchestration.New("Any", func(ctx *orchestration.Context, v any) (any, error) {
		return orchestration.Activity(ctx, echo, v).Await()
	})
	e := newEngine(t, def, echo)
	for i, want := range []any{nil, "", "42", 42.0, "null", `"x"`, `{"a":1}`, map[string]any{"a": "1"}} {
		run, err := client.Start(t.Context(), e.client, def, fmt.Sprint(i), want)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, result(t, run)); diff != "" {
			t.Errorf("output (-want +got):\n%s", diff)
		}
	}
}

func TestJoin(t *testing.T) {
	t.Parallel()
	fan := orchestration.New("Fan", func(ctx *orchestration.Context, n int) ([]int, error) {
		var futures []*orchestration.Future[int]
		for i := range n {
			futures = append(futures, orchestration.Activity(ctx, double, i))
		}
		return orchestration.Join(futures...)
	})
	e := newEngine(t, fan, double)
	if diff := cmp.Diff([]int{0, 2, 4, 6, 8, 10, 12}, result(t, start(e, fan, 7))); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
}

// A join waits for all, and the first failure in the order of its arguments counts.
func TestJoinWithFailures(t *testing.T) {
	t.Parallel()
	def := orchestration.New("JoinFails", func(ctx *orchestration.Context, _ string) (string, error) {
		results, err := orchestration.Join(
			orchestration.Activity(ctx, greet, "Oslo"),
			orchestration.Activity(ctx, refuse, "one"),
			orchestration.Activity(ctx, refuse, "two"),
			orchestration.Activity(ctx, greet, "Lima"),
		)
		return fmt.Sprintf("%q %v", results, err), nil
	})
	e := newEngine(t, def, greet, refuse)
	if got, want := result(t, start(e, def, "")), `["Hello, Oslo!" "" "" "Hello, Lima!"] one`; got != want {
		t.Errorf("output = %s, want %s", got, want)
	}
}

func TestTimersFireInTheirOrder(t *testing.T) {
	t.Parallel()
	def := orchestration.New("Timers", func(ctx *orchestration.Context, _ string) ([]int, error) {
		timers := []orchestration.Awaitable{
			orchestration.Timer(ctx, 40*time.Millisecond),
			orchestration.Timer(ctx, time.Hour),
			orchestration.Timer(ctx, 0),
		}
		orchestration.Sleep(ctx, -time.Second) // due at once
		last := orchestration.Any(timers...)
		return []int{last, orchestration.Select(timers[:2]...)}, nil
	})
	e := newEngine(t, def)
	began := time.Now()
	if diff := cmp.Diff([]int{2, 0}, result(t, start(e, def, ""))); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if took := time.Since(began); took < 40*time.Millisecond {
		t.Errorf("took %v", took)
	}
}

func TestSelectCancelsItsLosers(t *testing.T) {
	t.Parallel()
	def := orchestration.New("Timeout", func(ctx *orchestration.Context, _ string) (string, error) {
		work := orchestration.Activity(ctx, hang, "")
		event := orchestration.WaitForEvent[string](ctx, "e")
		queue := orchestration.Dequeue[string](ctx, "q")
		child := orchestration.Sub(ctx, orchestration.Named[string, string]("Forever"), "")
		winner := orchestration.Select(work, event, queue, child, orchestration.Timer(ctx, 0))
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
		return orchestration.WaitForEvent[string](ctx, "never").Await()
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
	if got := failure(t, client.Attach[string](e.client, child)); got != "canceled: parent dropped sub-orchestration future" {
		t.Errorf("child: %s", got)
	}
}

func TestExternalEvents(t *testing.T) {
	t.Parallel()
	def := orchestration.New("Approval", func(ctx *orchestration.Context, _ string) ([]order, error) {
		first := orchestration.WaitForEvent[order](ctx, "approve")
		second := orchestration.WaitForEvent[order](ctx, "approve")
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
		if err := e.client.RaiseEvent(t.Context(), run.Instance(), "approve", order{SKU: i + 1}); err != nil {
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
		message, err := orchestration.Dequeue[string](ctx, "inbox").Await()
		if err != nil {
			return nil, err
		}
		return nil, orchestration.ContinueAsNew(ctx, state{Left: s.Left - 1, Read: append(s.Read, message)})
	})
	e := newEngine(t)
	run := start(e, def, state{Left: 6})
	var want []string
	for i := range 6 {
		want = append(want, fmt.Sprint("m", i))
		if err := e.client.Enqueue(t.Context(), run.Instance(), "inbox", want[i]); err != nil {
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

func TestContinueAsNewCarriesStatusAndKeys(t *testing.T) {
	t.Parallel()
	def := orchestration.New("Loop", func(ctx *orchestration.Context, n int) (string, error) {
		if n == 0 {
			ctx.SetCustomStatus("begun")
			orchestration.SetKV(ctx, "key", order{SKU: 7})
			orchestration.SetKV(ctx, "gone", 1)
			orchestration.ClearKV(ctx, "gone")
			return "", orchestration.ContinueAsNew(ctx, 1)
		}
		status := "none"
		if s := ctx.CustomStatus(); s != nil {
			status = *s
		}
		value, ok, err := orchestration.GetKV[order](ctx, "key")
		return fmt.Sprint(ctx.Info().ExecutionID, " ", status, " ", value.SKU, ok, err, orchestration.KVKeys(ctx)), nil
	})
	e := newEngine(t, def)
	run := start(e, def, 0)
	if got, want := result(t, run), "2 begun 7 true <nil> [key]"; got != want {
		t.Errorf("output = %q, want %q", got, want)
	}
	value, ok, err := client.KV[order](t.Context(), e.client, run.Instance(), "key")
	if diff := cmp.Diff(order{SKU: 7}, value); diff != "" || !ok || err != nil {
		t.Errorf("the client reads %+v, %t, %v", value, ok, err)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	def := orchestration.New("Keys", func(ctx *orchestration.Context, _ string) ([]string, error) {
		var seen []string
		look := func() {
			n, ok, err := orchestration.GetKV[int](ctx, "b")
			seen = append(seen, fmt.Sprint(orchestration.KVKeys(ctx), n, ok, err))
		}
		orchestration.SetKV(ctx, "b", 1)
		orchestration.SetKV(ctx, "a", "text")
		look()
		orchestration.SetKV(ctx, "b", "no number")
		look()
		orchestration.Sleep(ctx, 0)
		orchestration.ClearAllKV(ctx)
		look()
		return seen, nil
	})
	e := newEngine(t, def)
	want := []string{
		"[a b] 1 true <nil>",
		`[a b] 0 true value of key "b": payload of 11 bytes is no int: cannot read JSON string at byte 11`,
		"[] 0 false <nil>",
	}
	if diff := cmp.Diff(want, result(t, start(e, def, ""))); diff != "" {
		t.Errorf("seen (-want +got):\n%s", diff)
	}
}

func TestCustomStatus(t *testing.T) {
	t.Parallel()
	def := orchestration.New("Progress", func(ctx *orchestration.Context, _ string) (string, error) {
		ctx.SetCustomStatus("1 of 2")
		_, _ = orchestration.WaitForEvent[string](ctx, "go").Await()
		ctx.ResetCustomStatus()
		_, _ = orchestration.WaitForEvent[string](ctx, "go").Await()
		return fmt.Sprint(ctx.CustomStatus() == nil), nil
	})
	e := newEngine(t, def)
	run := start(e, def, "")
	e.status(run.Instance(), "1 of 2")
	raise := func() {
		if err := e.client.RaiseEvent(t.Context(), run.Instance(), "go", ""); err != nil {
			t.Fatal(err)
		}
	}
	raise()
	s, err := e.client.WaitForCustomStatus(deadline(t), run.Instance(), 1)
	if err != nil || s.CustomStatus != nil || s.CustomStatusVersion != 2 || s.State != client.Running {
		t.Errorf("after the reset: %+v, %v", s, err)
	}
	raise()
	if got := result(t, run); got != "true" {
		t.Errorf("output = %s", got)
	}
}

func TestSubOrchestrations(t *testing.T) {
	t.Parallel()
	child := orchestration.New("Child", func(ctx *orchestration.Context, n int) (string, error) {
		if n < 0 {
			return "", fmt.Errorf("%d is negative", n)
		}
		doubled, err := orchestration.Activity(ctx, double, n).Await()
		return fmt.Sprint(ctx.Info().Instance, " of ", ctx.Info().ParentInstance, ": ", doubled), err
	})
	parent := orchestration.New("Parent", func(ctx *orchestration.Context, id string) ([]string, error) {
		generated := orchestration.Sub(ctx, child, 1)
		explicit := orchestration.Sub(ctx, child, 2, orchestration.WithInstanceID(id))
		bad := orchestration.Sub(ctx, child, -1, orchestration.AtVersion("1.0.0"))
		results, err := orchestration.Join(generated, explicit, bad)
		if failed, ok := errors.AsType[*orchestration.CallError](err); ok {
			results[2] = failed.Source + ": " + failed.Message
		}
		return results, nil
	})
	e := newEngine(t, parent, child, double)
	run := start(e, parent, "child-of-mine")
	want := []string{
		run.Instance() + "::sub::2 of " + run.Instance() + ": 2",
		"child-of-mine of " + run.Instance() + ": 4",
		`sub-orchestration "Child": -1 is negative`,
	}
	if diff := cmp.Diff(want, result(t, run)); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

// A child that continues as new still reports to its parent (P41), and a parent that
// does starts new children each time (P42), whose results find it (P40).
func TestFamiliesAcrossContinueAsNew(t *testing.T) {
	t.Parallel()
	child := orchestration.New("Child", func(ctx *orchestration.Context, n int) (int, error) {
		if n < 10 {
			return 0, orchestration.ContinueAsNew(ctx, n+10)
		}
		return n, nil
	})
	type state struct{ Round, Sum int }
	parent := orchestration.New("Parent", func(ctx *orchestration.Context, s state) (int, error) {
		n, err := orchestration.Sub(ctx, child, s.Round).Await()
		if err != nil {
			return 0, err
		}
		s = state{Round: s.Round + 1, Sum: s.Sum + n}
		if s.Round == 3 {
			return s.Sum, nil
		}
		return 0, orchestration.ContinueAsNew(ctx, s)
	})
	e := newEngine(t, parent, child)
	run := start(e, parent, state{})
	if got := result(t, run); got != 33 {
		t.Errorf("sum = %d, want 33", got)
	}
	children, err := e.store.Admin().ListChildren(t.Context(), run.Instance())
	if err != nil {
		t.Fatal(err)
	}
	id := run.Instance()
	if diff := cmp.Diff([]string{id + "::sub::2", id + "::sub::e2::2", id + "::sub::e3::2"}, children); diff != "" {
		t.Errorf("children (-want +got):\n%s", diff)
	}
}

func TestDetachedOrchestrationsLiveOn(t *testing.T) {
	t.Parallel()
	audit := orchestration.New("Audit", func(ctx *orchestration.Context, _ string) (string, error) {
		return orchestration.WaitForEvent[string](ctx, "seal").Await()
	})
	def := orchestration.New("Order", func(ctx *orchestration.Context, id string) (string, error) {
		orchestration.Detach(ctx, audit, id, "ordered")
		return "ordered", nil
	})
	e := newEngine(t, def, audit)
	result(t, start(e, def, "audit-1"))
	run := client.Attach[string](e.client, "audit-1")
	waitUntilWaiting(t, e, "audit-1")
	if parent, err := e.store.Admin().GetParentID(t.Context(), "audit-1"); err != nil || parent != nil {
		t.Errorf("parent %v, %v", parent, err)
	}
	if err := e.client.RaiseEvent(t.Context(), "audit-1", "seal", "sealed"); err != nil {
		t.Fatal(err)
	}
	if got := result(t, run); got != "sealed" {
		t.Errorf("output = %q", got)
	}
}

// waitUntilWaiting waits until an instance's history ends with a subscription.
func waitUntilWaiting(t *testing.T, e *engine, instance string) {
	t.Helper()
	ctx := deadline(t)
	for {
		past, err := e.store.Read(ctx, instance)
		if err != nil {
			t.Fatal(err)
		}
		for _, event := range past {
			if _, ok := event.Kind.(provider.ExternalSubscribed); ok {
				return
			}
		}
		runtime.Gosched()
	}
}

func TestFailurePropagation(t *testing.T) {
	t.Parallel()
	child := orchestration.New("Child", func(ctx *orchestration.Context, _ string) (string, error) {
		return orchestration.Activity(ctx, refuse, "card declined").Await()
	})
	parent := orchestration.New("Parent", func(ctx *orchestration.Context, _ string) (string, error) {
		return orchestration.Sub(ctx, child, "").Await()
	})
	e := newEngine(t, parent, child, refuse)
	run := start(e, parent, "")
	_, err := run.Wait(deadline(t))
	failed, ok := errors.AsType[*client.FailedError](err)
	if !ok {
		t.Fatalf("error %v", err)
	}
	want := provider.Application{Kind: provider.AppOrchestrationFailed, Message: "card declined"}
	if diff := cmp.Diff(provider.ErrorDetails(want), failed.Details); diff != "" || failed.Cancelled() || failed.Instance != run.Instance() {
		t.Errorf("%+v (-want +got):\n%s", failed, diff)
	}
}

func TestCompensation(t *testing.T) {
	t.Parallel()
	def := orchestration.New("Saga", func(ctx *orchestration.Context, _ string) (string, error) {
		if _, err := orchestration.Activity(ctx, refuse, "no stock").Await(); err != nil {
			undone, undoErr := orchestration.Activity(ctx, greet, "refund").Await()
			return undone, errors.Join(err, undoErr)
		}
		return "", nil
	})
	e := newEngine(t, def, greet, refuse)
	if got := failure(t, start(e, def, "")); got != "no stock" {
		t.Errorf("failure = %q", got)
	}
}

func TestPanics(t *testing.T) {
	t.Parallel()
	explode := activity.New("Explode", func(_ context.Context, how string) (string, error) {
		if how == "exit" {
			runtime.Goexit()
		}
		panic(how)
	})
	def := orchestration.New("Panics", func(ctx *orchestration.Context, how string) (string, error) {
		if how == "self" {
			panic("boom")
		}
		if how == "encode" {
			orchestration.Activity(ctx, activity.Named[float64, string]("X"), math.NaN())
		}
		_, err := orchestration.Activity(ctx, explode, how).Await()
		return fmt.Sprint("caught ", err), nil
	})
	e := newEngine(t, def, explode)
	for how, want := range map[string]string{
		"self":   "orchestration panicked: boom",
		"encode": `orchestration panicked: input of activity "X": json: unsupported value: NaN`,
		"exit":   "caught the activity called runtime.Goexit",
		"bang":   "caught activity panicked: bang",
	} {
		run, err := client.Start(t.Context(), e.client, def, how, how)
		if err != nil {
			t.Fatal(err)
		}
		output, err := run.Wait(deadline(t))
		if got := output; got != want && (err == nil || err.Error() != want) {
			t.Errorf("%s: %q, %v; want %q", how, output, err, want)
		}
	}
}

// A text that is not what the receiver declared fails where it is received, and the
// error does not quote it.
func TestPayloadsThatDoNotFit(t *testing.T) {
	t.Parallel()
	takesNumber := orchestration.New("TakesNumber", func(ctx *orchestration.Context, _ int) (string, error) {
		return orchestration.WaitForEvent[string](ctx, "never").Await()
	})
	wantsNumber := orchestration.New("WantsNumber", func(ctx *orchestration.Context, from string) (string, error) {
		var err error
		switch from {
		case "activity's result":
			_, err = orchestration.Activity(ctx, activity.Named[string, int]("Greet"), "secret").Await()
		case "activity's input":
			_, err = orchestration.Activity(ctx, activity.Named[string, int]("Double"), "secret").Await()
		case "event":
			event := orchestration.WaitForEvent[int](ctx, "e")
			ctx.SetCustomStatus("waiting")
			_, err = event.Await()
		case "child's input":
			_, err = orchestration.Sub(ctx, orchestration.Named[string, string]("TakesNumber"), "secret").Await()
		case "child's result":
			_, err = orchestration.Sub(ctx, orchestration.Named[string, int]("Says"), "secret").Await()
		}
		return "", err
	})
	says := orchestration.New("Says", func(_ *orchestration.Context, text string) (string, error) { return text, nil })
	e := newEngine(t, takesNumber, wantsNumber, says, greet, double)
	for from, want := range map[string]string{
		"activity's result": `result of activity "Greet": payload of 14 bytes is no int: invalid JSON at byte 1`,
		"activity's input":  `input of activity "Double": payload of 6 bytes is no int: invalid JSON at byte 1`,
		"event":             `result of event "e": payload of 6 bytes is no int: invalid JSON at byte 1`,
		"child's input":     `input of orchestration "TakesNumber": payload of 6 bytes is no int: invalid JSON at byte 1`,
		"child's result":    `result of sub-orchestration "Says": payload of 6 bytes is no int: invalid JSON at byte 1`,
	} {
		run, err := client.Start(t.Context(), e.client, wantsNumber, from, from)
		if err != nil {
			t.Fatal(err)
		}
		if from == "event" {
			e.status(from, "waiting")
			if err := e.client.RaiseEvent(t.Context(), from, "e", "secret"); err != nil {
				t.Fatal(err)
			}
		}
		if got := failure(t, run); got != want {
			t.Errorf("%s\n got %s\nwant %s", from, got, want)
		}
	}
	// And the client's own view of a result.
	if err := e.client.StartNamed(t.Context(), "Says", "says", "secret"); err != nil {
		t.Fatal(err)
	}
	want := `result of "says": payload of 6 bytes is no int: invalid JSON at byte 1`
	if got := failure(t, client.Attach[int](e.client, "says")); got != want {
		t.Errorf("client\n got %s\nwant %s", got, want)
	}
}

func TestOversizedValue(t *testing.T) {
	t.Parallel()
	def := orchestration.New("Big", func(ctx *orchestration.Context, n int) (string, error) {
		orchestration.SetKV(ctx, "big", strings.Repeat("x", n))
		return "kept", nil
	})
	e := newEngine(t, def)
	small, err := client.Start(t.Context(), e.client, def, "small", 16<<10-2) // and its quotes
	if err != nil {
		t.Fatal(err)
	}
	if got := result(t, small); got != "kept" {
		t.Errorf("output = %q", got)
	}
	if got, want := failure(t, start(e, def, 16<<10-1)), `the value of key "big" has 16385 bytes, the limit is 16384`; got != want {
		t.Errorf("failure = %q, want %q", got, want)
	}
}

// GUID and time are recorded, so every replay sees the same.
func TestRecordedGUIDAndTime(t *testing.T) {
	t.Parallel()
	var seen atomic.Pointer[string]
	replays := atomic.Int32{}
	def := orchestration.New("Stable", func(ctx *orchestration.Context, _ string) (string, error) {
		id, err := orchestration.NewGUID(ctx)
		if err != nil {
			return "", err
		}
		now, err := orchestration.UTCNow(ctx)
		if err != nil {
			return "", err
		}
		both := id + " " + now.Format(time.RFC3339Nano)
		if before := seen.Swap(&both); before != nil && *before != both {
			return "", fmt.Errorf("first %s, then %s", *before, both)
		}
		replays.Add(1)
		for range 3 {
			orchestration.Sleep(ctx, 0)
		}
		return both, nil
	})
	e := newEngine(t, def)
	before := time.Now().Truncate(time.Millisecond)
	got := result(t, start(e, def, ""))
	id, at, _ := strings.Cut(got, " ")
	if len(id) != 36 || id[14] != '4' {
		t.Errorf("GUID %q is no UUID of version 4", id)
	}
	now, err := time.Parse(time.RFC3339Nano, at)
	if err != nil || now.Before(before) || now.After(time.Now()) {
		t.Errorf("time %q, %v", at, err)
	}
	if replays.Load() < 4 {
		t.Errorf("the function ran %d times, want one replay for each sleep", replays.Load())
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	answer := func(text string) func(ctx *orchestration.Context, _ string) (string, error) {
		return func(ctx *orchestration.Context, next string) (string, error) {
			switch next {
			case "":
				return text + " " + ctx.Info().Version, nil
			case "latest":
				return "", orchestration.ContinueAsNew(ctx, "")
			}
			return "", orchestration.ContinueAsNewVersion(ctx, next, "")
		}
	}
	one := orchestration.New("Versioned", answer("one"))
	two := orchestration.New("Versioned", answer("two")).WithVersion("2.0.0")
	if one.Name() != "Versioned" || one.Version() != "1.0.0" || two.Version() != "2.0.0" {
		t.Errorf("%s %s, %s %s", one.Name(), one.Version(), two.Name(), two.Version())
	}
	e := newEngine(t, one, two)
	for _, test := range []struct {
		id, input string
		options   []client.StartOption
		want      string
	}{
		{"latest", "", nil, "two 2.0.0"},
		{"exact", "", []client.StartOption{client.AtVersion("1.0.0")}, "one 1.0.0"},
		{"moves on", "latest", []client.StartOption{client.AtVersion("1.0.0")}, "two 2.0.0"},
		{"moves back", "1.0.0", nil, "one 1.0.0"},
	} {
		run, err := client.Start(t.Context(), e.client, one, test.id, test.input, test.options...)
		if err != nil {
			t.Fatal(err)
		}
		if got := result(t, run); got != test.want {
			t.Errorf("%s: %q, want %q", test.id, got, test.want)
		}
	}
}

// Cancelling ends an instance, its children and what they run.
func TestCancellation(t *testing.T) {
	t.Parallel()
	child := orchestration.New("Child", func(ctx *orchestration.Context, _ string) (string, error) {
		ctx.SetCustomStatus("up")
		return orchestration.WaitForEvent[string](ctx, "never").Await()
	})
	cleaned := atomic.Bool{}
	parent := orchestration.New("Parent", func(ctx *orchestration.Context, _ string) (string, error) {
		done := orchestration.Sub(ctx, child, "", orchestration.WithInstanceID("child"))
		grand := orchestration.Sub(ctx, orchestration.Named[string, string]("Parent2"), "", orchestration.WithInstanceID("middle"))
		_, err := orchestration.Join(done, grand)
		cleaned.Store(true)
		return "", err
	})
	middle := orchestration.New("Parent2", func(ctx *orchestration.Context, _ string) (string, error) {
		return orchestration.Sub(ctx, child, "", orchestration.WithInstanceID("grandchild")).Await()
	})
	e := newEngine(t, parent, middle, child)
	run := start(e, parent, "")
	e.status("child", "up")
	e.status("grandchild", "up")
	if err := e.client.Cancel(t.Context(), run.Instance(), "changed my mind"); err != nil {
		t.Fatal(err)
	}
	_, err := run.Wait(deadline(t))
	failed, ok := errors.AsType[*client.FailedError](err)
	if !ok || !failed.Cancelled() || err.Error() != "canceled: changed my mind" {
		t.Errorf("error %v", err)
	}
	for _, id := range []string{"child", "middle", "grandchild"} {
		if got := failure(t, client.Attach[string](e.client, id)); got != "canceled: parent canceled" {
			t.Errorf("%s: %s", id, got)
		}
	}
	if cleaned.Load() {
		t.Error("the orchestration went on after its cancellation")
	}
	// A finished instance stays as it is.
	if err := e.client.Cancel(t.Context(), run.Instance(), "again"); err != nil {
		t.Fatal(err)
	}
	if got := failure(t, run); got != "canceled: changed my mind" {
		t.Errorf("cancelled again: %s", got)
	}
}

// An instance that is cancelled before its first turn starts and ends in that turn.
func TestCancelledBeforeItsFirstTurn(t *testing.T) {
	t.Parallel()
	def := orchestration.New("Late", func(ctx *orchestration.Context, _ string) (string, error) {
		return orchestration.Activity(ctx, greet, "x").Await()
	})
	e := newEngine(t)
	run := start(e, def, "")
	if err := e.client.Cancel(t.Context(), run.Instance(), "too late"); err != nil {
		t.Fatal(err)
	}
	e.work(def, greet)
	if got := failure(t, run); got != "canceled: too late" {
		t.Errorf("failure = %s", got)
	}
}

// Code that no longer fits what was recorded fails with what was expected and what
// came.
func TestChangedCode(t *testing.T) {
	t.Parallel()
	before := orchestration.New("Changed", func(ctx *orchestration.Context, _ string) (string, error) {
		greeting, err := orchestration.Activity(ctx, greet, "Oslo").Await()
		ctx.SetCustomStatus("greeted")
		_, _ = orchestration.WaitForEvent[string](ctx, "go").Await()
		return greeting, err
	})
	after := orchestration.New("Changed", func(ctx *orchestration.Context, _ string) (string, error) {
		return orchestration.Activity(ctx, greet, "Lima").Await()
	})
	e := newEngine(t)
	stop := e.work(before, greet)
	run := start(e, before, "")
	e.status(run.Instance(), "greeted")
	stop()
	e.work(after, greet)
	if err := e.client.RaiseEvent(t.Context(), run.Instance(), "go", ""); err != nil {
		t.Fatal(err)
	}
	want := `nondeterministic: history has event 2, activity "Greet" with 4 bytes, ` +
		`where the code asks for activity "Greet" with 4 bytes; the payloads differ from byte 0 on`
	if got := failure(t, run); got != want {
		t.Errorf("failure\n got %s\nwant %s", got, want)
	}
}

// A repeated start of a used id changes nothing.
func TestRepeatedStart(t *testing.T) {
	t.Parallel()
	other := orchestration.New("Other", func(*orchestration.Context, string) (string, error) { return "other", nil })
	def := orchestration.New("First", func(ctx *orchestration.Context, input string) (string, error) {
		ctx.SetCustomStatus("up")
		event, err := orchestration.WaitForEvent[string](ctx, "go").Await()
		return input + event, err
	})
	e := newEngine(t, def, other)
	run := start(e, def, "first ")
	e.status(run.Instance(), "up")
	again := func() {
		if _, err := client.Start(t.Context(), e.client, other, run.Instance(), "second"); err != nil {
			t.Fatal(err)
		}
	}
	again()
	if err := e.client.RaiseEvent(t.Context(), run.Instance(), "go", "event"); err != nil {
		t.Fatal(err)
	}
	if got := result(t, run); got != "first event" {
		t.Errorf("output = %q", got)
	}
	again()
	if got := result(t, run); got != "first event" {
		t.Errorf("output after another start = %q", got)
	}
}
