package orchestration_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/duroxide/duroxide-go/orchestration"
)

// in runs fn as an orchestration's first turn and returns its output, or how it failed.
func in(t *testing.T, fn func(ctx *orchestration.Context) string) string {
	t.Helper()
	s := scripted(t, orchestration.New("Testing", func(ctx *orchestration.Context, _ string) (string, error) { return fn(ctx), nil }), "")
	lines := s.lines()
	_, end, _ := strings.Cut(lines[len(lines)-1], " ")
	return strings.TrimPrefix(end, "completed: ")
}

// A channel hands values on in their order and holds as many as its capacity: the sender of the
// next one waits (Channel.Send).
func TestChannels(t *testing.T) {
	t.Parallel()
	for capacity, want := range map[int]string{
		0: "wait,got 0,sent 0,got 1,sent 1,got 2,sent 2",
		1: "sent 0,wait,got 0,got 1,sent 1,sent 2,got 2",
		3: "sent 0,sent 1,sent 2,wait,got 0,got 1,got 2",
	} {
		got := in(t, func(ctx *orchestration.Context) string {
			var log []string
			values := orchestration.NewChannel[int](ctx, capacity)
			orchestration.Go(ctx, func(*orchestration.Context) (string, error) {
				defer values.Close()
				for i := range 3 {
					if err := values.Send(i); err != nil {
						return "", err
					}
					log = append(log, fmt.Sprint("sent ", i))
				}
				return "", nil
			})
			log = append(log, "wait")
			for value := range values.All() {
				log = append(log, fmt.Sprint("got ", value))
			}
			return strings.Join(log, ",")
		})
		if got != want {
			t.Errorf("capacity %d: %s, want %s", capacity, got, want)
		}
	}
}

// Values without a size are told apart: a channel of them is a semaphore.
func TestChannelOfNothing(t *testing.T) {
	t.Parallel()
	if got := in(t, func(ctx *orchestration.Context) string {
		places, sent := orchestration.NewChannel[struct{}](ctx, 1), 0
		for range 3 {
			orchestration.Go(ctx, func(*orchestration.Context) (string, error) {
				defer func() { sent++ }()
				return "", places.Send(struct{}{})
			})
		}
		return fmt.Sprint(sent)
	}); got != "1" {
		t.Error(got)
	}
}

// What a closed channel holds is still received, then io.EOF; sending on it panics, closing it
// again does not (Channel.Receive, Channel.Close).
func TestClosedChannel(t *testing.T) {
	t.Parallel()
	if got := in(t, func(ctx *orchestration.Context) string {
		c := orchestration.NewChannel[string](ctx, 1)
		_ = c.Send("last")
		c.Close()
		c.Close()
		value, err := c.Receive().Await()
		_, end := c.Receive().Await()
		return fmt.Sprint(value, err, errors.Is(end, io.EOF))
	}); got != "last<nil> true" {
		t.Error(got)
	}
	for want, fn := range map[string]func(ctx *orchestration.Context){
		"the channel is closed":    func(ctx *orchestration.Context) { c := orchestration.NewChannel[int](ctx, 0); c.Close(); _ = c.Send(1) },
		"the capacity is negative": func(ctx *orchestration.Context) { orchestration.NewChannel[int](ctx, -1) },
	} {
		if got := in(t, func(ctx *orchestration.Context) string { fn(ctx); return "" }); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A receive that loses a select takes no value, and a sender that is dropped takes its value back
// (Channel.Receive, Channel.Send).
func TestDroppedFromChannels(t *testing.T) {
	t.Parallel()
	got := in(t, func(ctx *orchestration.Context) string {
		first, second := orchestration.NewChannel[string](ctx, 1), orchestration.NewChannel[string](ctx, 0)
		_ = first.Send("first")
		loser := second.Receive()
		winner := orchestration.SelectAndDrop(first.Receive(), loser)
		_, lost := loser.Await()
		sender := orchestration.Go(ctx, func(*orchestration.Context) (string, error) { return "", second.Send("gone") })
		orchestration.Go(ctx, func(*orchestration.Context) (string, error) { return "", second.Send("second") })
		orchestration.SelectAndDrop(orchestration.Go(ctx, func(*orchestration.Context) (string, error) { return "", nil }), sender)
		value, _ := second.Receive().Await()
		return fmt.Sprint(winner, errors.Is(lost, orchestration.ErrDropped), value)
	})
	if got != "0 truesecond" {
		t.Error(got)
	}
}

// A cancellation ends the waits on channels, and what was not received is not sent.
func TestCancelledChannels(t *testing.T) {
	t.Parallel()
	s := scripted(t, cleaning(func(ctx *orchestration.Context, _ string) (string, error) {
		c := orchestration.NewChannel[string](ctx, 0)
		sender := orchestration.Go(ctx, func(*orchestration.Context) (string, error) { return "", c.Send("a") })
		_, sent := sender.Await()
		_, received := c.Receive().Await()
		rest := 0
		for range c.All() {
			rest++
		}
		all := errors.Is(sent, orchestration.ErrCancelled) && errors.Is(received, orchestration.ErrCancelled) &&
			errors.Is(c.Send("b"), orchestration.ErrCancelled)
		return fmt.Sprint(all, rest), nil
	}), "")
	s.happen("cancel why")
	if lines := s.lines(); lines[len(lines)-1] != "4 completed: true 0" {
		t.Errorf("history %q", lines)
	}
}

// A wait group waits for all its blocks, also those that start meanwhile, and has the first error
// in the order of their starts.
func TestWaitGroup(t *testing.T) {
	t.Parallel()
	s := scripted(t, orchestration.New("Waiting", func(ctx *orchestration.Context, _ string) (string, error) {
		var group orchestration.WaitGroup
		for _, name := range []string{"a", "b"} {
			group.Go(ctx, func(ctx *orchestration.Context) error {
				_, err := orchestration.Activity(ctx, charge, name).Await()
				group.Go(ctx, func(ctx *orchestration.Context) error {
					_, err := orchestration.Activity(ctx, refund, name).Await()
					return err
				})
				return err
			})
		}
		return "", group.Wait()
	}), "")
	for _, step := range []string{"3 fails b", "5 fails c", "2 fails a", "8 returns"} {
		s.happen(step)
	}
	want := []string{
		"2 activity Charge", "3 activity Charge", "4 3 failed", "5 activity Refund", "6 5 failed", "7 2 failed", "8 activity Refund",
		"9 8 returned", "10 failed: a",
	}
	if diff := cmp.Diff(want, s.lines()); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	if got := in(t, func(*orchestration.Context) string { return fmt.Sprint(new(orchestration.WaitGroup).Wait()) }); got != "<nil>" {
		t.Error(got)
	}
}

// Race has the first result, or error, and drops the rest. AsCompleted has them all in the order
// in which they came, with their indexes, and those that were dropped.
func TestRaceAndAsCompleted(t *testing.T) {
	t.Parallel()
	s := scripted(t, orchestration.New("Racing", func(ctx *orchestration.Context, _ string) (string, error) {
		var calls []*orchestration.Future[string]
		for _, name := range []string{"a", "b", "c"} {
			calls = append(calls, orchestration.Activity(ctx, charge, name))
		}
		value, err := orchestration.Race(calls[:2]...)
		log := []string{fmt.Sprint(value, err)}
		for i, f := range orchestration.AsCompleted(calls...) {
			value, err := f.Await()
			log = append(log, fmt.Sprint(i, value, err))
		}
		for range orchestration.AsCompleted(calls...) {
			break
		}
		for range orchestration.AsCompleted[int]() {
			log = append(log, "none")
		}
		return strings.Join(log, " "), nil
	}), "")
	for _, step := range []string{"3 fails no", "4 returns yes"} {
		s.happen(step)
	}
	want := []string{
		"2 activity Charge", "3 activity Charge", "4 activity Charge", "5 3 failed", "6 2 cancelled", "7 4 returned",
		`8 completed: no 0activity "Charge": the future was dropped by a select 1no 2yes<nil>`,
	}
	if diff := cmp.Diff(want, s.lines()); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
}

// Blocks that hand each other values, in whatever order their activities end, do the same
// whether the function is kept or replayed, and no value is lost or doubled.
func TestChannelsUnderEvictions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		capacity, senders, receivers := rapid.IntRange(0, 3).Draw(r, "capacity"), rapid.IntRange(1, 4).Draw(r, "senders"), rapid.IntRange(1, 3).Draw(r, "receivers")
		choices := rapid.SliceOfN(rapid.IntRange(0, 1<<16), 40, 40).Draw(r, "choices")
		kept := rapid.SliceOfN(rapid.Bool(), 40, 40).Draw(r, "kept")
		def := orchestration.New("Pipeline", func(ctx *orchestration.Context, _ string) (string, error) {
			values := orchestration.NewChannel[string](ctx, capacity)
			var sending, receiving orchestration.WaitGroup
			for i := range senders {
				sending.Go(ctx, func(ctx *orchestration.Context) error {
					for j := range 3 {
						value, err := orchestration.Activity(ctx, charge, fmt.Sprint(i, j)).Await()
						if err := errors.Join(err, values.Send(value)); err != nil {
							return err
						}
					}
					return nil
				})
			}
			var got []string
			for range receivers {
				receiving.Go(ctx, func(ctx *orchestration.Context) error {
					for value := range values.All() {
						if _, err := orchestration.Activity(ctx, refund, value).Await(); err != nil {
							return err
						}
						got = append(got, value)
					}
					return nil
				})
			}
			err := sending.Wait()
			values.Close()
			err = errors.Join(err, receiving.Wait())
			return strings.Join(got, " "), err
		})
		run := func(keep func() bool) []string {
			s := unstarted(t, def, "")
			s.keep = keep
			s.turn()
			for i := range 100 {
				activities, _, ended := s.open()
				if ended || len(activities) == 0 {
					break
				}
				id := activities[choices[i%len(choices)]%len(activities)]
				s.happen(fmt.Sprintf("%d returns v%d", id, id))
			}
			s.forget()
			return s.lines()
		}
		replayed := run(nil)
		n := 0
		if diff := cmp.Diff(replayed, run(func() bool { n++; return kept[n%len(kept)] })); diff != "" {
			r.Fatalf("a kept function did something else (-replayed +kept):\n%s", diff)
		}
		_, output, ok := strings.Cut(replayed[len(replayed)-1], "completed: ")
		got := strings.Fields(output)
		slices.Sort(got)
		if !ok || len(slices.Compact(got)) != 3*senders {
			r.Fatalf("%d values arrived:\n%s", len(got), strings.Join(replayed, "\n"))
		}
	})
}

// Continue-as-new by a definition has its input's type, and only serves the orchestration that
// runs (Definition.ContinueAsNew).
func TestContinueAsNewByDefinition(t *testing.T) {
	t.Parallel()
	loop := orchestration.Declare[int, string]("Loop")
	def := orchestration.New("Loop", func(ctx *orchestration.Context, n int) (string, error) {
		if n == 3 {
			return "three", nil
		}
		return loop.ContinueAsNew(ctx, n+1)
	})
	e := newEngine(t, def)
	if got := result(t, start(e, def, 0)); got != "three" {
		t.Errorf("output %q", got)
	}
	if got := in(t, func(ctx *orchestration.Context) string { _, _ = loop.ContinueAsNew(ctx, 1); return "" }); !strings.Contains(got, `"Testing" cannot continue as "Loop"`) {
		t.Error(got)
	}
}
