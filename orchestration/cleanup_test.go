package orchestration_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/failure"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/retry"
)

var refund = activity.Declare[string, string]("Refund")

// cleaning is an orchestration with a clean-up of a minute.
func cleaning(fn func(ctx *orchestration.Context, input string) (string, error)) orchestration.Definition[string, string] {
	return orchestration.New("Cleaning", fn).WithCleanup(time.Minute)
}

// Every case of a cancellation has this history, event by event. It ends as the last line says
// and, if cancelled, with a failure of that kind.
func TestHistoriesOfCancellations(t *testing.T) {
	t.Parallel()
	call := func(ctx *orchestration.Context, def activity.Definition[string, string]) (string, error) {
		return orchestration.Activity(ctx, def, "").Await()
	}
	for _, test := range []struct {
		name      string
		def       orchestration.Definition[string, string]
		steps     []string
		want      []string
		cancelled bool
	}{
		{
			"without the option it ends at once", charging(),
			[]string{"cancel why"},
			[]string{"2 activity Charge", "3 cancel: why", "4 failed: canceled: why", "5 2 cancelled"},
			true,
		},
		{
			"a wait is ErrCancelled, and what it waited for is cancelled",
			cleaning(func(ctx *orchestration.Context, _ string) (string, error) {
				_, err := call(ctx, charge)
				return err.Error(), nil
			}),
			[]string{"cancel why"},
			[]string{"2 activity Charge", "3 cancel: why", "4 timer 1m0s", "5 2 cancelled", `6 completed: activity "Charge": the orchestration was cancelled`},
			false,
		},
		{
			"a clean-up on a detached context, and nothing is asked for on the other",
			cleaning(func(ctx *orchestration.Context, _ string) (string, error) {
				_, err := call(ctx, charge)
				if _, again := call(ctx, charge); !errors.Is(again, orchestration.ErrCancelled) {
					return "", again
				}
				_, _ = call(ctx.Detached(), refund)
				return "", err
			}),
			[]string{"cancel why", "5 returns ok"},
			[]string{
				"2 activity Charge", "3 cancel: why", "4 timer 1m0s", "5 activity Refund", "6 2 cancelled", "7 5 returned",
				"8 failed: canceled: why",
			},
			true,
		},
		{
			"another error is a failure",
			cleaning(func(ctx *orchestration.Context, _ string) (string, error) {
				_, _ = call(ctx, charge)
				return "", errors.New("broken")
			}),
			[]string{"cancel why"},
			[]string{"2 activity Charge", "3 cancel: why", "4 timer 1m0s", "5 2 cancelled", "6 failed: broken"},
			false,
		},
		{
			"a clean-up that takes too long",
			cleaning(func(ctx *orchestration.Context, _ string) (string, error) {
				_, err := call(ctx, charge)
				_, _ = call(ctx.Detached(), refund)
				return "", err
			}),
			[]string{"cancel why", "4 fires"},
			[]string{
				"2 activity Charge", "3 cancel: why", "4 timer 1m0s", "5 activity Refund", "6 2 cancelled", "7 4 fired",
				"8 failed: canceled: why; the clean-up took longer than 1m0s", "9 5 cancelled",
			},
			false,
		},
		{
			"cancelled in its first turn",
			cleaning(func(ctx *orchestration.Context, _ string) (string, error) {
				if ctx.Err() != nil {
					return "", errors.New("too early")
				}
				_, err := call(ctx, charge)
				return "", errors.Join(err, ctx.Err())
			}),
			[]string{"cancel why"},
			[]string{"2 cancel: why", "3 activity Charge", "4 timer 1m0s", "5 3 cancelled", "6 failed: canceled: why"},
			true,
		},
		{
			"a result that came before it counts",
			cleaning(func(ctx *orchestration.Context, _ string) (string, error) {
				first, second := orchestration.Activity(ctx, charge, "1"), orchestration.Activity(ctx, charge, "2")
				winner := orchestration.WaitAny(second, orchestration.NewEvent[string]("e").Wait(ctx))
				_, err := orchestration.Join(first, second)
				return fmt.Sprint(winner), err
			}),
			[]string{"3 returns ok and cancel why"},
			[]string{
				"2 activity Charge", "3 activity Charge", "4 event e", "5 3 returned", "6 cancel: why", "7 timer 1m0s",
				"8 2 cancelled", "9 4 taken back", "10 failed: canceled: why",
			},
			true,
		},
		{
			"one that comes with the last result comes too late",
			cleaning(func(ctx *orchestration.Context, _ string) (string, error) { return call(ctx, charge) }),
			[]string{"2 returns ok and cancel why"},
			[]string{"2 activity Charge", "3 2 returned", "4 cancel: why", "5 completed: ok"},
			false,
		},
		{
			"every sort of wait, and a second cancellation changes nothing",
			cleaning(func(ctx *orchestration.Context, _ string) (string, error) {
				e, q := orchestration.NewEvent[string]("e").Wait(ctx), orchestration.NewQueue[string]("q").Dequeue(ctx)
				sub := orchestration.SubOrchestration(ctx, ship, "")
				if slept := ctx.Sleep(time.Hour); !errors.Is(slept, orchestration.ErrCancelled) {
					return "", slept
				}
				first := orchestration.SelectAndDrop(e, q)
				_, err := sub.Await()
				_, again := orchestration.NewEvent[string]("e").Wait(ctx).Await()
				err = errors.Join(err, again)
				ctx.Detached().Sleep(time.Second)
				return fmt.Sprint(first), err
			}),
			[]string{"cancel why", "cancel again", "8 fires"},
			[]string{
				"2 event e", "3 dequeue q", `4 sub Ship "sub::4"`, "5 timer 1h0m0s", "6 cancel: why", "7 timer 1m0s", "8 timer 1s",
				"9 4 cancelled", "10 3 taken back", "11 8 fired", "12 2 taken back", "13 failed: canceled: why",
			},
			true,
		},
		{
			"a retry makes no more attempts",
			cleaning(func(ctx *orchestration.Context, _ string) (string, error) {
				return orchestration.Activity(ctx, charge, "", orchestration.WithRetry(retry.Policy{Timeout: time.Second})).Await()
			}),
			[]string{"2 fails no", "cancel why"},
			[]string{
				"2 activity Charge", "3 timer 1s", "4 2 failed", "5 timer 100ms", "6 cancel: why", "7 timer 1m0s",
				"8 failed: canceled: why",
			},
			true,
		},
		{
			"continue-as-new is refused",
			cleaning(func(ctx *orchestration.Context, _ string) (string, error) {
				_, _ = call(ctx, charge)
				return orchestration.Declare[string, string](ctx.Info().Name).ContinueAsNew(ctx, "")
			}),
			[]string{"cancel why"},
			[]string{"2 activity Charge", "3 cancel: why", "4 timer 1m0s", "5 2 cancelled", "6 failed: canceled: why"},
			true,
		},
		{
			"a block is told itself, and whoever waits for it waits on",
			cleaning(func(ctx *orchestration.Context, _ string) (string, error) {
				block := orchestration.Go(ctx, func(ctx *orchestration.Context) (string, error) {
					_, err := call(ctx, charge)
					_, _ = call(ctx.Detached(), refund)
					return "", err
				})
				winner := orchestration.SelectAndDrop(ctx.Timer(time.Hour), block)
				_, err := block.Await()
				return "", fmt.Errorf("%d %w", winner, err)
			}),
			[]string{"cancel why", "6 returns ok"},
			[]string{
				"2 activity Charge", "3 timer 1h0m0s", "4 cancel: why", "5 timer 1m0s", "6 activity Refund", "7 2 cancelled",
				"8 6 returned", "9 failed: canceled: why",
			},
			true,
		},
		{
			"a saga that cannot undo has failed",
			cleaning(func(ctx *orchestration.Context, _ string) (string, error) {
				return fiveSteps(ctx, &orchestration.Saga{})
			}),
			[]string{"2 returns 1", "4 returns 2", "cancel why", "6 returns 3", "10 fails no", "12 returns ok", "14 fails neither"},
			[]string{
				"2 activity Charge", "3 2 returned", "4 activity Charge", "5 4 returned", "6 activity Charge", "7 cancel: why",
				"8 timer 1m0s", "9 6 returned", "10 activity Refund", "11 10 failed", "12 activity Refund", "13 12 returned",
				"14 activity Refund", "15 14 failed", "16 failed: the orchestration was cancelled; not undone: no; neither",
			},
			false,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := scripted(t, test.def, "in")
			if test.name == "cancelled in its first turn" {
				s = unstarted(t, test.def, "in")
			}
			for _, step := range test.steps {
				s.happen(step)
			}
			if diff := cmp.Diff(test.want, s.lines()); diff != "" {
				t.Errorf("history (-want +got):\n%s", diff)
			}
			if got := wasCancelled(s); got != test.cancelled {
				t.Errorf("cancelled %v, want %v", got, test.cancelled)
			}
		})
	}
}

// wasCancelled reports whether the history ends as cancelled in the wire's form.
func wasCancelled(s *script) bool {
	for _, event := range s.history {
		if k, ok := event.Kind.(provider.OrchestrationFailed); ok {
			d, ok := k.Details.(provider.ApplicationFailure)
			return ok && d == provider.ApplicationFailure{Kind: provider.AppCancelled, CancelReason: "why"}
		}
	}
	return false
}

// fiveSteps charges five times.
func fiveSteps(ctx *orchestration.Context, saga *orchestration.Saga) (string, error) {
	for i := range 5 {
		_, err := orchestration.Step(ctx, saga, func(ctx *orchestration.Context) (string, error) {
			return orchestration.Activity(ctx, charge, fmt.Sprint(i)).Await()
		}, func(ctx *orchestration.Context, receipt string) error {
			_, err := orchestration.Activity(ctx, refund, receipt).Await()
			return err
		})
		if err != nil {
			return "", saga.Undo(ctx, err)
		}
	}
	return "done", nil
}

// receipts are what the charges of a history have returned, and how often each was refunded.
func receipts(s *script) map[string]int {
	asked, refunds := map[uint64]provider.ActivityScheduled{}, map[string]int{}
	for _, event := range s.history {
		switch k := event.Kind.(type) {
		case provider.ActivityScheduled:
			asked[event.EventID] = k
			if k.Name == refund.Name() {
				refunds[k.Input]++
			}
		case provider.ActivityCompleted:
			if asked[*event.SourceEventID].Name == charge.Name() {
				refunds[k.Result] += 0
			}
		}
	}
	return refunds
}

// A saga of five steps that is cancelled behind any event, or in one turn with the next, undoes
// each charge once and only what was charged, in reverse or side by side.
func TestSagaCancelledAtEveryEvent(t *testing.T) {
	t.Parallel()
	for _, sideBySide := range []bool{false, true} {
		for _, together := range []bool{false, true} {
			for at := 1; at <= 11; at++ {
				s := unstarted(t, cleaning(func(ctx *orchestration.Context, _ string) (string, error) {
					return fiveSteps(ctx, &orchestration.Saga{SideBySide: sideBySide})
				}), "in")
				if at > 1 || !together {
					s.turn()
				}
				cancelled := false
				for range 100 {
					activities, _, ended := s.open()
					if ended {
						break
					}
					step := "cancel why"
					if len(activities) > 0 && (cancelled || len(s.history) < at) {
						step = fmt.Sprintf("%d returns r%d", activities[0], activities[0])
					}
					if together && len(activities) > 0 && len(s.history)+1 == at {
						step += " and cancel why"
					}
					cancelled = cancelled || strings.Contains(step, "cancel")
					s.happen(step)
				}
				charges := receipts(s)
				// With the last charge it comes too late.
				finished := s.lines()[len(s.history)-2] == strings.TrimSpace(fmt.Sprint(len(s.history), " completed: done"))
				for receipt, refunds := range charges {
					if want := map[bool]int{true: 0, false: 1}[finished]; refunds != want {
						t.Errorf("%s was refunded %d times, want %d:\n%s", receipt, refunds, want, strings.Join(s.lines(), "\n"))
					}
				}
				if wasCancelled(s) == finished || finished && len(charges) != 5 {
					t.Errorf("cancelled at event %d, side by side %v, with another %v:\n%s", at, sideBySide, together, strings.Join(s.lines(), "\n"))
				}
			}
		}
	}
}

// Whatever fails and whenever it is cancelled, a saga refunds each charge that succeeded once,
// and nothing else, unless the clean-up takes too long; tries of a step keep to its policy;
// and a function that is kept does what one does that is replayed.
func TestSagasUnderFaults(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		tries := rapid.IntRange(1, 3).Draw(r, "tries")
		sideBySide, parallel := rapid.Bool().Draw(r, "side by side"), rapid.IntRange(1, 3).Draw(r, "parallel")
		choices := rapid.SliceOfN(rapid.IntRange(0, 1<<16), 60, 60).Draw(r, "choices")
		kept := rapid.SliceOfN(rapid.Bool(), 60, 60).Draw(r, "kept")
		retried := orchestration.WithRetry(retry.Policy{MaxAttempts: tries, Backoff: retry.Constant(time.Second)})
		def := cleaning(func(ctx *orchestration.Context, _ string) (string, error) {
			saga := orchestration.Saga{SideBySide: sideBySide}
			_, err := orchestration.Map(ctx, []string{"a", "b", "c", "d", "e"}, parallel,
				func(ctx *orchestration.Context, item string) (string, error) {
					return orchestration.Step(ctx, &saga, func(ctx *orchestration.Context) (string, error) {
						return orchestration.Activity(ctx, charge, item, retried).Await()
					}, func(ctx *orchestration.Context, receipt string) error {
						_, err := orchestration.Activity(ctx, refund, receipt, retried).Await()
						return err
					})
				})
			return "done", saga.Undo(ctx, err)
		})
		run := func(keep func() bool) *script {
			s := unstarted(t, def, "in")
			s.keep = keep
			s.turn()
			for _, choice := range choices {
				activities, timers, ended := s.open()
				if ended {
					break
				}
				open := slices.Concat(activities, timers)
				step := "cancel why"
				if at := choice % (4*len(open) + 1); at < 4*len(open) {
					verb := "returns"
					if choice%5 == 0 {
						verb = "fails"
					}
					step = fmt.Sprintf("%d %s r%d", open[at/4], verb, open[at/4])
				}
				s.happen(step)
			}
			s.forget()
			return s
		}
		replayed := run(nil)
		n := 0
		keeping := run(func() bool { n++; return kept[n%len(kept)] })
		if diff := cmp.Diff(replayed.lines(), keeping.lines()); diff != "" {
			r.Fatalf("a kept function did something else (-replayed +kept):\n%s", diff)
		}
		checkSaga(r, replayed, tries)
	})
}

// checkSaga checks the attempts, and what a saga that has ended has refunded.
func checkSaga(r *rapid.T, s *script, tries int) {
	all := strings.Join(s.lines(), "\n")
	attempts := map[string]int{}
	for _, event := range s.history {
		if k, ok := event.Kind.(provider.ActivityScheduled); ok {
			attempts[k.Name+k.Input]++
			if attempts[k.Name+k.Input] > tries {
				r.Fatalf("%s %s was tried more than %d times:\n%s", k.Name, k.Input, tries, all)
			}
		}
	}
	if _, _, ended := s.open(); !ended || strings.Contains(all, "longer than") {
		return
	}
	completed := strings.Contains(all, "completed: done")
	for receipt, refunds := range receipts(s) {
		if (refunds == 0) != completed {
			r.Fatalf("%s was refunded in %d attempts:\n%s", receipt, refunds, all)
		}
	}
	if strings.Contains(all, "nondeterminism") {
		r.Fatalf("a replay did something else:\n%s", all)
	}
}

// On a store: a client cancels, the clean-up runs on workers that replay each turn, and client
// and parent see that the instance was cancelled. A child that is dropped cleans up too.
func TestCleanupOnAStore(t *testing.T) {
	t.Parallel()
	released := make(chan string, 2)
	release := activity.New("Release", func(_ context.Context, what string) (string, error) {
		released <- what
		return "", nil
	})
	child := cleaning(func(ctx *orchestration.Context, input string) (string, error) {
		ctx.SetCustomStatus("up")
		_, err := orchestration.NewEvent[string]("never").Wait(ctx).Await()
		_, released := orchestration.Activity(ctx.Detached(), release, input).Await()
		return "", errors.Join(err, released)
	})
	parent := orchestration.New("Parent", func(ctx *orchestration.Context, _ string) (string, error) {
		first := orchestration.SubOrchestration(ctx, child, "first", orchestration.WithInstanceID("first"))
		second := orchestration.SubOrchestration(ctx, child, "second", orchestration.WithInstanceID("second"))
		_, err := first.Await()
		orchestration.SelectAndDrop(ctx.Timer(0), second)
		return fmt.Sprint(errors.Is(err, orchestration.ErrCancelled)), nil
	})
	e := newEngine(t, parent, child, release)
	run := start(e, parent, "")
	e.status("first", "up")
	e.status("second", "up")
	if err := e.client.Cancel(t.Context(), "first", "why"); err != nil {
		t.Fatal(err)
	}
	if got := result(t, run); got != "true" || <-released != "first" || <-released != "second" {
		t.Errorf("the parent saw that the child was cancelled: %s", got)
	}
	for id, want := range map[string]string{"first": "canceled: why", "second": "canceled: parent dropped sub-orchestration future"} {
		status, err := e.client.Wait(deadline(t), id)
		if err != nil || status.State != client.Cancelled || status.Err().Error() != want || !errors.Is(status.Err(), orchestration.ErrCancelled) {
			t.Errorf("%s: %+v, %v", id, status, err)
		}
	}
}

// A saga that fails undoes on its own; what it has undone it does not undo again; and what
// could not be undone is told by kind and text, with each failure (Saga.Undo).
func TestSagaFails(t *testing.T) {
	t.Parallel()
	s := scripted(t, orchestration.New("Saga", func(ctx *orchestration.Context, _ string) (string, error) {
		saga, log := orchestration.Saga{}, ""
		errA, errB := errors.New("a stays"), errors.New("b stays")
		saga.Add(func(*orchestration.Context) error { log += "a"; return errA })
		saga.Add(func(*orchestration.Context) error { log += "b"; return errB })
		saga.Add(func(*orchestration.Context) error { log += "c"; return nil })
		if saga.Undo(ctx, nil) != nil || log != "" {
			t.Error("a saga without a failure was undone")
		}
		cause := errors.New("sold out")
		err := saga.Undo(ctx, cause)
		for _, is := range []error{cause, errA, errB, orchestration.ErrNotUndone} {
			if !errors.Is(err, is) {
				t.Errorf("%v does not match %v", err, is)
			}
		}
		if again := saga.Undo(ctx, cause); again != cause || log != "cba" { //nolint:errorlint // the very error
			t.Errorf("again: %v, undone %s", again, log)
		}
		return "", err
	}), "")
	if lines := s.lines(); lines[0] != "2 failed: sold out; not undone: b stays; a stays" {
		t.Errorf("history %q", lines)
	}
}

// What could not be undone makes a cancelled instance fail, whatever else its error wraps.
func TestNotUndoneBesideAnotherFailure(t *testing.T) {
	t.Parallel()
	other := failure.NewKind[struct{}]("Other").New(struct{}{}, "other")
	s := scripted(t, cleaning(func(ctx *orchestration.Context, _ string) (string, error) {
		var saga orchestration.Saga
		saga.Add(func(*orchestration.Context) error { return errors.New("no") })
		err := ctx.Sleep(time.Hour)
		return "", errors.Join(other, saga.Undo(ctx, err))
	}), "")
	s.happen("cancel why")
	if wasCancelled(s) {
		t.Errorf("history %q", s.lines())
	}
}

// A clean-up that is too short to be meant panics with the definition's name.
func TestCleanupWithoutTime(t *testing.T) {
	t.Parallel()
	defer func() {
		if text := fmt.Sprint(recover()); !strings.Contains(text, `"Charging": a clean-up of 0s is too short`) {
			t.Error(text)
		}
	}()
	charging().WithCleanup(0)
}

// A cancellation that comes with what makes the instance continue as new goes along: the next
// execution cleans up (Definition.WithCleanup).
func TestCancellationGoesAlong(t *testing.T) {
	t.Parallel()
	s := scripted(t, cleaning(func(ctx *orchestration.Context, _ string) (string, error) {
		_, _ = orchestration.Activity(ctx, charge, "").Await()
		return orchestration.Declare[string, string](ctx.Info().Name).ContinueAsNew(ctx, "next")
	}), "in")
	s.happen("2 returns ok and cancel why")
	if len(s.next) != 2 || fmt.Sprintf("%+v", s.next[1]) != "{Instance:i Reason:why}" {
		t.Errorf("the instance sent itself %+v", s.next)
	}
}

// The same on a store, where both messages wait while no worker runs.
func TestCancellationGoesAlongOnAStore(t *testing.T) {
	t.Parallel()
	def := cleaning(func(ctx *orchestration.Context, input string) (string, error) {
		ctx.SetCustomStatus("up")
		_, err := orchestration.NewEvent[string]("go").Wait(ctx).Await()
		if input == "first" {
			return orchestration.Declare[string, string](ctx.Info().Name).ContinueAsNew(ctx, "next")
		}
		return "", err
	})
	e := newEngine(t)
	stop := e.work(def)
	run := start(e, def, "first")
	e.status(run.Instance(), "up")
	stop()
	if err := client.RaiseEvent(t.Context(), e.client, orchestration.NewEvent[string]("go"), run.Instance(), ""); err != nil {
		t.Fatal(err)
	}
	if err := e.client.Cancel(t.Context(), run.Instance(), "why"); err != nil {
		t.Fatal(err)
	}
	e.work(def)
	status, err := e.client.Wait(deadline(t), run.Instance())
	if err != nil || status.State != client.Cancelled || status.ExecutionID != 2 {
		t.Errorf("%+v, %v", status, err)
	}
}

// An instance that continues as new without ever having to wait, as a consumer of a full queue
// does, puts its clean-up off once and not for ever.
func TestCancellationOfALoopThatNeverWaits(t *testing.T) {
	t.Parallel()
	name := orchestration.Declare[int, int]("Loop")
	def := orchestration.New("Loop", func(ctx *orchestration.Context, n int) (int, error) {
		_, err := name.ContinueAsNew(ctx, n+1)
		_, released := orchestration.Activity(ctx.Detached(), charge, "").Await()
		return 0, errors.Join(err, released)
	}).WithCleanup(time.Minute)
	e := newEngine(t, def, charge.Implement(func(context.Context, string) (string, error) { return "", nil }))
	run, err := client.Start(t.Context(), e.client, def, "loop", 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.client.Cancel(t.Context(), run.Instance(), "why"); err != nil {
		t.Fatal(err)
	}
	status, err := e.client.Wait(deadline(t), run.Instance())
	if err != nil || status.State != client.Cancelled {
		t.Errorf("%+v, %v", status, err)
	}
}
