package lock_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/duroxide/duroxide-go/tsql/leaktest"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schedule"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schedule/scheduletest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// bench has sessions that lock keys named by a letter.
type bench struct {
	t       *testing.T
	c       *scheduletest.Controlled
	m       *lock.Manager
	owners  map[schedule.ID]*lock.Owner
	answers map[schedule.ID][]string
	ctx     context.Context //nolint:containedctx // of all requests
}

func newBench(t *testing.T) *bench {
	t.Helper()
	c := scheduletest.New()
	t.Cleanup(c.Close)
	return &bench{
		t: t, c: c, m: lock.NewManager(c), ctx: t.Context(),
		owners: map[schedule.ID]*lock.Owner{}, answers: map[schedule.ID][]string{},
	}
}

func (b *bench) owner(id schedule.ID) *lock.Owner {
	if b.owners[id] == nil {
		b.owners[id] = &lock.Owner{Client: &lock.Client{ID: id}}
	}
	return b.owners[id]
}

func key(name string) lock.Resource {
	return lock.Resource{Kind: lock.Key, Database: 5, Object: 1, Index: 1, Key: name}
}

// acquire asks for a lock and notes the answer: "S a", "S a waited", "S a refused", "S a: 1222".
func (b *bench) acquire(id schedule.ID, mode lock.Mode, name string, change ...func(*lock.Request)) *lock.Hold {
	r := &lock.Request{Resource: key(name), Mode: mode, Duration: lock.Transaction, Timeout: -1}
	for _, f := range change {
		f(r)
	}
	h, answer, err := b.m.Acquire(b.ctx, b.owner(id), r)
	text := mode.String() + " " + name
	var e *fault.Error
	switch {
	case errors.As(err, &e):
		text += fmt.Sprintf(": %d", e.Number)
	case err != nil:
		text += ": cancelled"
	case answer == lock.Waited:
		text += " waited"
	case answer == lock.Refused:
		text += " refused"
	}
	b.answers[id] = append(b.answers[id], text)
	return h
}

// session runs a script: "S a" asks for a lock, "end" lets all go, "|" is a scheduling point. An error 1205 ends it.
func (b *bench) session(id schedule.ID, script string) {
	o := b.owner(id)
	b.c.Go(id, func() {
		defer b.m.ReleaseAll(o)
		for step := range strings.SplitSeq(script, ",") {
			switch step = strings.TrimSpace(step); step {
			case "end":
				b.m.ReleaseAll(o)
			case "|":
				b.c.Yield(id, schedule.Point{Kind: "statement"})
			default:
				name, of, _ := strings.Cut(step, " ")
				mode, ok := lock.ParseMode(name)
				if !ok {
					panic("no mode: " + name)
				}
				b.acquire(id, mode, of)
				if last := b.answers[id][len(b.answers[id])-1]; strings.HasSuffix(last, "1205") {
					return
				}
			}
		}
	})
}

func (b *bench) want(id schedule.ID, want ...string) {
	b.t.Helper()
	if got := b.answers[id]; !slices.Equal(got, want) {
		b.t.Errorf("session %d got %q, want %q", id, got, want)
	}
}

func (b *bench) empty() {
	b.t.Helper()
	if list := b.m.List(); len(list) > 0 {
		b.t.Errorf("locks are left: %v", list)
	}
}

// A compatible newcomer waits behind an incompatible one that came before it, or the latter would starve.
func TestNobodyOvertakes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.session(1, "S a, |")
	b.session(2, "X a, |")
	b.session(3, "S a")
	b.session(4, "RangeI-N a") // is in nobody's way
	for id := range schedule.ID(4) {
		b.c.Step(id + 1)
	}
	b.want(4, "RangeI-N a")
	b.c.Run(1)
	b.c.Step(3)
	b.want(3) // still behind 2
	b.c.Step(2)
	b.want(2, "X a waited")
	b.c.Finish()
	b.want(3, "S a waited")
	b.empty()
}

func TestConversionsGoBeforeNewcomers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.session(1, "U a, |, X a, |")
	b.session(2, "S a, |")
	b.session(3, "X a")
	b.c.Step(1)
	b.c.Step(2)
	b.c.Step(3)
	b.c.Step(1) // wants X, waits for 2 and not for 3
	b.c.Step(2)
	b.c.Step(1)
	b.want(1, "U a", "X a waited")
	b.c.Finish()
	b.want(3, "X a waited")
	b.empty()
}

func TestConversionDeadlock(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.session(1, "S a, |, X a")
	b.session(2, "S a, |, X a")
	b.c.Step(1)
	b.c.Step(2)
	b.c.Step(1)
	b.c.Step(2)
	b.want(2, "S a", "X a: 1205") // nothing tells them apart but who waited last
	b.c.Finish()
	b.want(1, "S a", "X a waited")
	b.empty()

	want := "deadlock, victim 2" +
		"\n  session 2 waits for X on KEY 5:1:1 (61), of which it has S; session 1 has S" +
		"\n  session 1 waits for X on KEY 5:1:1 (61), of which it has S; session 2 has S"
	if got := b.m.Deadlocks(); len(got) != 1 || got[0].String() != want {
		t.Errorf("got  %v\nwant %s", got, want)
	}
}

func TestVictim(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name                  string
		priority, cost        [3]int
		victim                schedule.ID
		labels                string
		waitsOfTheLastSession int
	}{
		{name: "the last to wait", victim: 3},
		{name: "the cheapest", cost: [3]int{9, 5, 7}, victim: 2},
		{name: "the lowest priority before all", priority: [3]int{-5, 0, 0}, cost: [3]int{9, 5, 7}, victim: 1},
		{name: "the cheapest of the lowest priority", priority: [3]int{3, 3, 8}, cost: [3]int{4, 5, 0}, victim: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.session(1, "X a, |, S b")
			b.session(2, "X b, |, U c")
			b.session(3, "X c, |, X a")
			for i := range 3 {
				client := b.owner(schedule.ID(i + 1)).Client
				client.Priority = tt.priority[i]
				client.Cost = func() int64 { return int64(tt.cost[i]) }
			}
			for range 2 {
				for id := range schedule.ID(3) {
					b.c.Step(id + 1)
				}
			}
			b.c.Finish()
			for id := range schedule.ID(3) {
				answers := b.answers[id+1]
				if got := strings.HasSuffix(answers[len(answers)-1], "1205"); got != (id+1 == tt.victim) {
					t.Errorf("session %d: %q", id+1, answers)
				}
			}
			b.empty()
		})
	}
}

// A newcomer can wait for one that only waits too. Here 3 waits behind 2, which waits for 1, which wants what 3 has.
func TestDeadlockThroughTheQueue(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.session(1, "S a, |, S b")
	b.session(2, "X a, |")
	b.session(3, "X b, |, S a")
	for _, id := range []schedule.ID{1, 2, 3, 3, 1} {
		b.c.Step(id)
	}
	b.want(1, "S a", "S b: 1205")
	b.c.Finish()
	b.want(3, "X b", "S a waited")
	if d := b.m.Deadlocks()[0].String(); !strings.Contains(d, "session 2 waits for X") {
		t.Error(d)
	}
	b.empty()
}

// One wait may close two circles.
func TestTwoDeadlocksAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.session(1, "S a, |, X c")
	b.session(2, "S a, |, X c")
	b.session(3, "X c, |, X a")
	b.owner(3).Client.Priority = 5
	for _, id := range []schedule.ID{1, 2, 3, 1, 2, 3} {
		b.c.Step(id)
	}
	b.c.Finish()
	b.want(1, "S a", "X c: 1205")
	b.want(2, "S a", "X c: 1205")
	b.want(3, "X c", "X a waited")
	if n := len(b.m.Deadlocks()); n != 2 {
		t.Errorf("%d deadlocks", n)
	}
	b.empty()
}

// SQL Server looks for deadlocks every five seconds: a circle with a shorter time-out is broken by that.
func TestTimeOutBeforeTheSearch(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		timeout time.Duration
		want    string
	}{
		{150 * time.Millisecond, "X b: 1222"},
		{4999 * time.Millisecond, "X b: 1222"},
		{5 * time.Second, "X b: 1205"},
		{-1, "X b: 1205"},
	} {
		for _, last := range []schedule.ID{1, 2} {
			t.Run(fmt.Sprint(tt.timeout, " last ", last), func(t *testing.T) {
				t.Parallel()
				b := newBench(t)
				b.owner(1).Client.Priority = -1
				b.c.Go(1, func() {
					b.acquire(1, lock.X, "a")
					b.c.Yield(1, schedule.Point{})
					b.acquire(1, lock.X, "b", func(r *lock.Request) { r.Timeout = tt.timeout })
					b.m.ReleaseAll(b.owner(1))
				})
				b.session(2, "X b, |, X a")
				for _, id := range []schedule.ID{1, 2, 3 - last, last} {
					b.c.Step(id)
				}
				if strings.HasSuffix(tt.want, "1222") {
					b.c.Expire(1)
				}
				b.c.Finish()
				b.want(1, "X a", tt.want)
				b.want(2, "X b", "X a waited")
				b.empty()
				d := b.m.Deadlocks()
				if timedOut := strings.HasSuffix(tt.want, "1222"); len(d) != 1 || d[0].Victim != 1 || d[0].TimedOut != timedOut || len(d[0].Members) != 2 {
					t.Errorf("deadlocks: %v", d)
				}
			})
		}
	}
}

// Who waits too long without being in a circle is in no deadlock.
func TestTimeOutWithoutCircle(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.m.Now = func() time.Time { return time.Date(2024, 2, 29, 1, 2, 3, 0, time.UTC) }
	b.session(1, "X a, |")
	b.c.Go(2, func() { b.acquire(2, lock.S, "a", func(r *lock.Request) { r.Timeout = time.Second }) })
	b.c.Step(1)
	b.c.Step(2)
	if i, ok := b.owner(2).Client.Waiting(); !ok || !i.Since.Equal(b.m.Now()) {
		t.Errorf("it waits since %v", i.Since)
	}
	b.c.Expire(2)
	b.c.Finish()
	b.want(2, "S a: 1222")
	if d := b.m.Deadlocks(); len(d) != 0 {
		t.Errorf("deadlocks: %v", d)
	}
	b.empty()
}

func TestWaitsThatFail(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	b.ctx = ctx
	b.session(1, "X a, |")
	b.c.Step(1)
	b.acquire(2, lock.S, "a", func(r *lock.Request) { r.NoWait = true })
	b.acquire(2, lock.S, "a", func(r *lock.Request) { r.Timeout = 0 })
	b.want(2, "S a refused", "S a: 1222")
	b.c.Go(3, func() {
		b.acquire(3, lock.S, "a", func(r *lock.Request) { r.Timeout = time.Second })
		b.acquire(3, lock.S, "a")
	})
	b.c.Go(4, func() { b.acquire(4, lock.IS, "a") })
	b.c.Step(3)
	b.c.Step(4)
	b.c.Expire(3)
	b.c.Step(3)
	cancel()
	b.c.Step(3)
	b.want(3, "S a: 1222", "S a: cancelled")
	b.c.Step(4)
	b.want(4, "IS a: cancelled")
	b.c.Run(1)
	b.empty()
}

// Who waits behind a request that gives up need not wait any longer.
func TestGivingUpLetsOthersPass(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.session(1, "S a, |, |")
	b.c.Go(2, func() { b.acquire(2, lock.X, "a", func(r *lock.Request) { r.Timeout = time.Second }) })
	b.session(3, "S a")
	b.c.Step(1)
	b.c.Step(2)
	b.c.Step(3)
	b.c.Expire(2)
	b.c.Step(2)
	b.c.Step(3)
	b.want(3, "S a waited")
	b.c.Finish()
	b.empty()
}

// A lock that is granted as the time-out ends is granted.
func TestGrantedAtTheLastMoment(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.session(1, "X a, |")
	b.c.Go(2, func() { b.acquire(2, lock.S, "a", func(r *lock.Request) { r.Timeout = time.Second }) })
	b.c.Step(1)
	b.c.Step(2)
	b.c.Expire(2)
	b.c.Run(1)
	b.c.Step(2)
	b.want(2, "S a waited")
}

func TestDurations(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	row := func(r *lock.Request) { r.Duration = lock.Row }
	noWait := func(r *lock.Request) { r.NoWait = true }
	kept := b.acquire(1, lock.S, "a")
	once := b.acquire(1, lock.U, "a", row)
	again := b.acquire(1, lock.S, "a", row)
	if once != kept || again != kept {
		t.Fatal("an owner has one hold for a resource")
	}
	b.acquire(2, lock.U, "a", noWait)
	b.m.Release(kept, lock.Row)
	b.acquire(2, lock.U, "a", noWait)
	b.m.Release(kept, lock.Row) // U goes, S stays
	b.acquire(2, lock.U, "a", noWait)
	b.want(2, "U a refused", "U a refused", "U a")

	short := b.acquire(1, lock.S, "b", row)
	b.m.Lengthen(short, lock.Row, lock.Statement)
	b.m.Lengthen(short, lock.Statement, lock.Transaction)
	if got := b.m.Held(b.owner(1), key("b")); got != lock.S {
		t.Errorf("Held = %v", got)
	}
	b.m.ReleaseAll(b.owner(1))
	b.m.ReleaseAll(b.owner(2))
	b.empty()
}

// An instant request waits like any other, and leaves nothing behind.
func TestInstant(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	instant := func(r *lock.Request) { r.Duration = lock.Instant }
	if h := b.acquire(1, lock.RangeIN, "a", instant); h != nil {
		t.Error("an instant request holds a lock")
	}
	b.empty()
	b.session(1, "RangeS-S a, |")
	b.c.Go(2, func() {
		b.acquire(2, lock.S, "a")
		b.acquire(2, lock.RangeIN, "a", instant)
	})
	b.c.Step(1)
	b.c.Step(2)
	b.c.Run(1)
	b.c.Run(2)
	b.want(2, "S a", "RangeI-N a waited")
	if got := b.m.Held(b.owner(2), key("a")); got != lock.S {
		t.Errorf("afterwards it holds %v", got)
	}
}

// The owners of one session do not wait for each other.
func TestOwnersOfOneSession(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	session := &lock.Owner{Client: b.owner(1).Client, Kind: lock.BySession}
	b.acquire(1, lock.X, "a")
	r := &lock.Request{Resource: key("a"), Mode: lock.X, Duration: lock.Session, Timeout: 0}
	if _, _, err := b.m.Acquire(t.Context(), session, r); err != nil {
		t.Fatal(err)
	}
	b.m.ReleaseAll(b.owner(1))
	b.acquire(2, lock.S, "a", func(r *lock.Request) { r.NoWait = true })
	b.want(2, "S a refused")
	b.m.ReleaseAll(session)
	b.empty()
}

func TestList(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.session(1, "S a, |, X a, S b, S b")
	b.session(2, "S a, |, |")
	b.session(3, "U a")
	b.session(4, "X a")
	for _, id := range []schedule.ID{2, 1, 4, 3, 1} {
		b.c.Step(id)
	}
	var got []string
	for _, i := range b.m.List() {
		got = append(got, fmt.Sprintf("%d %v %v %v %d by %d", i.Session, i.Resource, i.Mode, i.Status, i.Count, i.Blocker))
	}
	want := []string{
		"1 KEY 5:1:1 (61) X CONVERT 1 by 2",
		"1 KEY 5:1:1 (61) S GRANT 1 by 0",
		"2 KEY 5:1:1 (61) S GRANT 1 by 0",
		"3 KEY 5:1:1 (61) U WAIT 0 by 1",
		"4 KEY 5:1:1 (61) X WAIT 0 by 2",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if i, ok := b.owner(3).Client.Waiting(); !ok || i.Blocker != 1 || i.Status != lock.StatusWait {
		t.Errorf("session 3 waits: %+v, %v", i, ok)
	}
	if i, ok := b.owner(1).Client.Waiting(); !ok || i.Blocker != 2 || i.Status != lock.StatusConvert {
		t.Errorf("session 1 waits: %+v, %v", i, ok)
	}
	if i, ok := b.owner(2).Client.Waiting(); ok {
		t.Errorf("session 2 waits: %+v", i)
	}
	b.c.Finish()
	b.empty()
}

// Random scripts under random schedules: what is granted at once is compatible, and everybody gets to the end.
func TestRandomScripts(t *testing.T) {
	t.Parallel()
	modes := []lock.Mode{lock.S, lock.U, lock.X, lock.RangeSS, lock.RangeSU, lock.RangeIN, lock.RangeXX}
	rapid.Check(t, func(rt *rapid.T) {
		b := newBench(t)
		defer b.c.Close()
		b.m.Preempt = rapid.Bool().Draw(rt, "preempt")
		for id := range schedule.ID(rapid.IntRange(2, 5).Draw(rt, "sessions")) {
			var steps []string
			for range rapid.IntRange(1, 6).Draw(rt, "steps") {
				switch rapid.IntRange(0, 5).Draw(rt, "kind") {
				case 0:
					steps = append(steps, "end")
				case 1:
					steps = append(steps, "|")
				default:
					mode := rapid.SampledFrom(modes).Draw(rt, "mode")
					steps = append(steps, mode.String()+" "+rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "key"))
				}
			}
			b.session(id+1, strings.Join(steps, ","))
		}
		b.c.FinishBy(func(runnable []schedule.ID) schedule.ID {
			checkGranted(rt, b.m.List())
			return rapid.SampledFrom(runnable).Draw(rt, "next")
		})
		if list := b.m.List(); len(list) > 0 {
			rt.Fatalf("locks are left: %v", list)
		}
	})
}

func checkGranted(rt *rapid.T, list []lock.Info) {
	for i, a := range list {
		for _, b := range list[i+1:] {
			granted := a.Status == lock.StatusGrant && b.Status == lock.StatusGrant
			if granted && a.Session != b.Session && a.Resource == b.Resource && !lock.Compatible(a.Mode, b.Mode) {
				rt.Fatalf("both granted: %v and %v", a, b)
			}
		}
	}
}

func BenchmarkUncontended(b *testing.B) {
	c := scheduletest.New()
	m := lock.NewManager(c)
	o := &lock.Owner{Client: &lock.Client{ID: 1}}
	r := &lock.Request{Resource: key("a key of usual length"), Mode: lock.S, Duration: lock.Row, Timeout: -1}
	b.ReportAllocs()
	for b.Loop() {
		h, _, err := m.Acquire(b.Context(), o, r)
		if err != nil {
			b.Fatal(err)
		}
		m.Release(h, lock.Row)
	}
}
