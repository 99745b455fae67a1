package explore_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/tsql/leaktest"

	"github.com/duroxide/duroxide-go/tsql/internal/server/explore"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schedule"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

var _ schedule.Scheduler = (*explore.Machine)(nil)

// scenario runs actors that write letters.
type scenario struct {
	actors  []func(m *explore.Machine, id schedule.ID)
	limit   int
	cancel  context.CancelFunc
	ctx     context.Context //nolint:containedctx // of the present run
	seen    []string
	faults  []explore.Fault
	tried   []explore.Schedule
	written *strings.Builder
}

func (s *scenario) Machine() *explore.Machine {
	m := explore.NewMachine()
	if s.limit > 0 {
		m.Limit = s.limit
	}
	s.written = &strings.Builder{}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	for i, f := range s.actors {
		id := schedule.ID(i + 1)
		m.Go(id, func() { f(m, id) })
	}
	return m
}

func (s *scenario) Finish(tried explore.Schedule, fault explore.Fault) bool {
	s.cancel()
	s.seen, s.faults, s.tried = append(s.seen, s.written.String()), append(s.faults, fault), append(s.tried, tried)
	return true
}

func (s *scenario) Abandon() { s.cancel() }

// writes is an actor that writes a letter, lets others run, and writes the next one.
func (s *scenario) writes(letters string) {
	s.actors = append(s.actors, func(m *explore.Machine, id schedule.ID) {
		for i, r := range letters {
			if i > 0 {
				m.Yield(id, schedule.Point{Kind: "statement"})
			}
			s.written.WriteRune(r)
		}
	})
}

// Search runs every schedule within its bound, once each.
func TestSearch(t *testing.T) {
	t.Parallel()
	for bound, want := range map[int]string{
		0: "abcdef defabc",
		1: "abcdef abdefc adefbc deabcf defabc dabcef",
	} {
		s := &scenario{}
		s.writes("abc")
		s.writes("def")
		if complete := explore.Search(s, bound); complete != bound {
			t.Errorf("complete to %d", complete)
		}
		words := strings.Fields(want)
		slices.Sort(words)
		slices.Sort(s.seen)
		if !slices.Equal(s.seen, words) {
			t.Errorf("%d preemptions: %v, want %v", bound, s.seen, words)
		}
	}
	s := &scenario{}
	s.writes("abc")
	s.writes("def")
	const all = 20 // 6 over 3
	if explore.Search(s, 100); len(s.seen) != all || len(slices.Compact(slices.Sorted(slices.Values(s.seen)))) != all {
		t.Errorf("%d schedules: %v", len(s.seen), s.seen)
	}
}

// A schedule repeats what it was noted for, also as text.
func TestSchedulesRepeat(t *testing.T) {
	t.Parallel()
	s := &scenario{}
	for _, letters := range []string{"abc", "def", "ghi"} {
		s.writes(letters)
	}
	explore.Search(s, 2)
	for seed := range uint64(50) {
		explore.Random(s, seed, 3, 9)
	}
	for i := range s.tried {
		parsed, err := explore.Parse(s.tried[i].String())
		if err != nil || !slices.Equal(parsed, s.tried[i]) {
			t.Fatalf("%v is read as %v, %v", s.tried[i], parsed, err)
		}
		explore.Follow(s, parsed)
		if got := s.seen[len(s.seen)-1]; got != s.seen[i] {
			t.Fatalf("%v: %s, then %s", parsed, s.seen[i], got)
		}
	}
	for _, text := range []string{"1.2", "1>2", "x.1>2", "1.1>0", "1.1>2!3"} {
		if _, err := explore.Parse(text); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

// Runs end that nobody can go on with, and those that have no end.
func TestFaults(t *testing.T) {
	t.Parallel()
	wait := func(s *scenario, timeout time.Duration) func(m *explore.Machine, id schedule.ID) {
		return func(m *explore.Machine, id schedule.ID) {
			for s.ctx.Err() == nil && m.Park(s.ctx, id, schedule.Point{Kind: "lock"}, timeout) != schedule.Woken {
				s.written.WriteString("t")
			}
		}
	}
	s := &scenario{limit: 20}
	s.actors = append(s.actors, wait(s, -1))
	explore.Follow(s, nil)
	s.actors[0] = wait(s, time.Second)
	explore.Follow(s, nil)
	s.actors = append(s.actors, func(m *explore.Machine, _ schedule.ID) { m.Unpark(1) })
	explore.Follow(s, nil)
	if want := []explore.Fault{explore.Stuck, explore.Endless, ""}; !slices.Equal(s.faults, want) {
		t.Errorf("%q", s.faults)
	}
}

// Minimize leaves out what is not needed.
func TestMinimize(t *testing.T) {
	t.Parallel()
	s, err := explore.Parse("0.0>2 1.1>2 1.2>2 1.3>2 1.4>2 1.5!2 1.6>2")
	if err != nil {
		t.Fatal(err)
	}
	needs := []explore.Deviation{s[2], s[5]}
	got := explore.Minimize(s, 1000, func(s explore.Schedule) bool {
		return slices.Contains(s, needs[0]) && slices.Contains(s, needs[1])
	})
	if !slices.Equal(got, needs) {
		t.Errorf("%v", got)
	}
}
