package orchestrationtest_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/orchestrationtest"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/sqlite"
	"github.com/duroxide/duroxide-go/retry"
	"github.com/duroxide/duroxide-go/worker"
)

// program is the input of a random orchestration: the seed says what it does.
type program struct {
	Seed         uint64
	Depth, Round int
}

// work is an activity that takes its time; every fifth fails.
type work struct {
	def   activity.Definition[int, int]
	takes time.Duration
}

// works are the activities that random programs call. No two take the same time.
var works = func() []work {
	r := rand.New(rand.NewPCG(7, 7))
	list := make([]work, 40)
	for i := range list {
		list[i] = work{def: activity.Declare[int, int](fmt.Sprintf("Work%d", i)), takes: someTime(r)}
	}
	return list
}()

func (w work) do(_ context.Context, n int) (int, error) {
	if strings.HasSuffix(w.def.Name(), "5") || strings.HasSuffix(w.def.Name(), "0") {
		return 0, errors.New(w.def.Name() + " fails")
	}
	return n + 1, nil
}

// someTime is never the same, so that no two things happen at one moment.
func someTime(r *rand.Rand) time.Duration {
	return time.Second + time.Duration(r.Int64N(int64(3*time.Hour/time.Millisecond)))*time.Millisecond
}

var programs, careful orchestration.Definition[program, string]

func init() { //nolint:gochecknoinits // they call themselves
	programs = orchestration.New("Program", interpret)
	careful = orchestration.New("Careful", interpret).WithCleanup(time.Hour)
}

// interpreter runs a random program.
type interpreter struct {
	program

	r *rand.Rand
	// next is the activity to call next: none is called twice at one moment, to end at one.
	next int
}

func interpret(ctx *orchestration.Context, p program) (string, error) {
	i := &interpreter{program: p, r: rand.New(rand.NewPCG(p.Seed, 1))}
	_, _ = i.timer(ctx).Await() // so that it takes some time
	var out []string
	for range 1 + i.r.IntN(6) {
		text, err := i.step(ctx)
		out = append(out, fmt.Sprint(text, " ", err))
		if err != nil && i.r.IntN(4) == 0 {
			return "", err
		}
	}
	if p.Round < 2 && i.r.IntN(3) == 0 {
		return orchestration.Declare[program, string](ctx.Info().Name).ContinueAsNew(ctx, program{Seed: p.Seed + 1, Depth: p.Depth, Round: p.Round + 1})
	}
	return strings.Join(out, "; "), nil
}

func (i *interpreter) work(ctx *orchestration.Context, options ...orchestration.ActivityOption) *orchestration.Future[int] {
	i.next += 1 + i.r.IntN(3)
	return orchestration.Activity(ctx, works[i.next%len(works)].def, i.r.IntN(100), options...)
}

func (i *interpreter) timer(ctx *orchestration.Context) *orchestration.Future[struct{}] {
	return ctx.Timer(someTime(i.r))
}

func (i *interpreter) sub(ctx *orchestration.Context, options ...orchestration.SubOption) *orchestration.Future[string] {
	def := programs
	if i.r.IntN(2) == 0 {
		def = careful
	}
	return orchestration.SubOrchestration(ctx, def, program{Seed: i.r.Uint64(), Depth: i.Depth - 1}, options...)
}

// step does one thing of many.
func (i *interpreter) step(ctx *orchestration.Context) (any, error) {
	kind := i.r.IntN(14)
	if i.Depth == 0 && kind >= 11 {
		kind -= 11
	}
	switch kind {
	case 0:
		return i.work(ctx).Await()
	case 1:
		return i.timer(ctx).Await()
	case 2:
		return orchestration.Join(i.work(ctx), i.work(ctx), i.work(ctx))
	case 3:
		event := orchestration.NewEvent[int](i.name("event")).Wait(ctx)
		winner := orchestration.SelectAndDrop(i.work(ctx), i.timer(ctx), event)
		return winner, nil
	case 4:
		return i.work(ctx, orchestration.WithRetry(retry.Policy{
			MaxAttempts: 3, Backoff: retry.Linear(someTime(i.r), 500*time.Hour), Jitter: 0.5,
			Timeout: someTime(i.r), RetryTimeouts: i.r.IntN(2) == 0, TotalTimeout: 2 * someTime(i.r),
		})).Await()
	case 5:
		message := orchestration.NewQueue[int](i.name("queue")).Dequeue(ctx)
		return orchestration.WaitAny(i.timer(ctx), message), nil
	case 6:
		return orchestration.Map(ctx, []int{1, 2, 3, 4}, 2, func(ctx *orchestration.Context, _ int) (int, error) {
			_, _ = i.timer(ctx).Await()
			return i.work(ctx).Await()
		})
	case 7:
		return i.state(ctx)
	case 8:
		_, _ = i.timer(ctx).Await() // what reads the clock takes none
		return ctx.UTCNow()
	case 9:
		block := orchestration.Go(ctx, func(ctx *orchestration.Context) (int, error) {
			_, _ = i.timer(ctx).Await()
			return i.work(ctx).Await()
		})
		return orchestration.SelectAndDrop(i.timer(ctx), block), nil
	case 10:
		_ = i.work(ctx)
		return i.timer(ctx).Await()
	case 11:
		return i.sub(ctx).Await()
	case 12:
		return orchestration.SelectAndDrop(i.timer(ctx), i.sub(ctx)), nil
	default:
		if i.r.IntN(3) == 0 {
			return orchestration.Join(i.sub(ctx, orchestration.WithInstanceID("shared")), i.sub(ctx))
		}
		_ = i.sub(ctx)
		return i.work(ctx).Await()
	}
}

func (i *interpreter) name(what string) string { return fmt.Sprint(what, i.r.IntN(2)) }

// state changes and reads what the orchestration keeps.
func (i *interpreter) state(ctx *orchestration.Context) (any, error) {
	key := i.name("key")
	value, ok, err := orchestration.NewKey[int](key).Get(ctx)
	if ctx.Patched(i.name("patch")) {
		orchestration.NewKey[int]("patched").Set(ctx, value)
	}
	orchestration.NewKey[int](key).Set(ctx, value+1)
	ctx.SetCustomStatus(fmt.Sprint(key, value, ok))
	if i.r.IntN(5) == 0 {
		orchestration.NewKey[any](i.name("key")).Clear(ctx)
	}
	return value, err
}

// sending is what the outside does to a program.
type sending struct {
	after time.Duration
	name  string
	n     int
}

func sendings(seed uint64) []sending {
	r := rand.New(rand.NewPCG(seed, 2))
	names := []string{"event0", "event1", "queue0", "queue1", "queue1"}
	if r.IntN(8) == 0 {
		names = append(names, "cancel")
	}
	var list []sending
	for n, name := range names {
		list = append(list, sending{after: 3 * someTime(r), name: name, n: n})
	}
	return list
}

// onVirtualClock runs a program on the clock of this package.
func onVirtualClock(t *testing.T, seed uint64) (histories map[string][][]provider.Event) {
	t.Helper()
	env := orchestrationtest.New(t, programs, careful)
	for _, w := range works {
		orchestrationtest.Mock(env, w.def, w.do).Takes(w.takes)
	}
	for _, s := range sendings(seed) {
		switch m := env.After(s.after); {
		case s.name == "cancel":
			m.Cancel("enough")
		case strings.HasPrefix(s.name, "event"):
			orchestrationtest.Raise(m, orchestration.NewEvent[int](s.name), s.n)
		default:
			orchestrationtest.Enqueue(m, orchestration.NewQueue[int](s.name), s.n)
		}
	}
	_, err := orchestrationtest.Run(env, programs, program{Seed: seed, Depth: 2})
	if errors.Is(err, orchestrationtest.ErrStuck) {
		t.Fatal(err)
	}
	histories = map[string][][]provider.Event{}
	for _, id := range env.Instances() {
		histories[id] = env.Executions(id)
	}
	return histories
}

// onSQLite runs a program by a worker on a store, in a bubble with a clock that jumps.
func onSQLite(t *testing.T, seed uint64) (histories map[string][][]provider.Event) {
	t.Helper()
	histories = map[string][][]provider.Event{}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		store, err := sqlite.OpenMemory(ctx, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		const long = 1_000_000 * time.Hour
		w, err := worker.New(store, worker.Options{
			Logger: slog.New(slog.DiscardHandler), ActivityConcurrency: 32, Cache: worker.Cache{Instances: worker.None},
			Leases:   worker.Leases{Activity: long, Orchestration: long},
			Sessions: worker.Sessions{Lease: long, IdleTimeout: long, CleanupInterval: long},
			Code:     worker.Code{UnknownTimeout: long}, PollTimeout: long, QuietTime: worker.Never,
			Cancellation: worker.Cancellation{PollInterval: worker.Never},
		})
		if err == nil {
			err = w.Register(programs, careful)
		}
		for _, work := range works {
			err = errors.Join(err, w.Register(work.def.Implement(func(ctx context.Context, n int) (int, error) {
				select {
				case <-time.After(work.takes):
				case <-ctx.Done():
					return 0, ctx.Err()
				}
				return work.do(ctx, n)
			})))
		}
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error)
		go func() { ended <- w.Run(ctx) }()
		c := client.New(store, client.Options{})
		run, err := client.Start(ctx, c, programs, "test", program{Seed: seed, Depth: 2})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sendings(seed) {
			time.AfterFunc(s.after, func() { _ = send(ctx, c, s) }) // an error ends the bubble's time
		}
		for status := (client.Status{}); err == nil && !status.Finished(); { // run.Wait would ask more often
			time.Sleep(5 * time.Hour)
			status, err = run.Status(ctx)
		}
		if err != nil {
			t.Error(err)
		}
		histories = stored(t, store)
		cancel()
		if err := errors.Join(<-ended, store.Close()); err != nil {
			t.Error(err)
		}
	})
	return histories
}

func send(ctx context.Context, c *client.Client, s sending) error {
	switch {
	case s.name == "cancel":
		return c.Cancel(ctx, "test", "enough")
	case strings.HasPrefix(s.name, "event"):
		return client.RaiseEvent(ctx, c, orchestration.NewEvent[int](s.name), "test", s.n)
	}
	return client.Enqueue(ctx, c, orchestration.NewQueue[int](s.name), "test", s.n)
}

// stored are all histories of a store.
func stored(t *testing.T, store provider.Provider) map[string][][]provider.Event {
	t.Helper()
	histories := map[string][][]provider.Event{}
	ids, err := store.Admin().ListInstances(t.Context())
	for _, id := range ids {
		for execution := uint64(1); err == nil; execution++ {
			var history []provider.Event
			history, err = store.ReadWithExecution(t.Context(), id, execution)
			if len(history) == 0 {
				break
			}
			histories[id] = append(histories[id], history)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return histories
}

// lines are histories as text, an event each, without the time.
func lines(t *testing.T, histories map[string][][]provider.Event) []string {
	t.Helper()
	var list []string
	for _, executions := range histories {
		for _, history := range executions {
			for _, event := range history {
				data, err := provider.EncodeEvent(event)
				if err != nil {
					t.Fatal(err)
				}
				list = append(list, fmt.Sprintf("%s/%d/%06d %s", event.InstanceID, event.ExecutionID, event.EventID, data))
			}
		}
	}
	slices.Sort(list)
	return list
}

// TestHistoriesAreAWorkers runs random programs here and by a worker on SQLite, whose time jumps
// too: the histories are the same, event by event and to the millisecond. DUROXIDE_PROGRAMS is
// how many programs.
func TestHistoriesAreAWorkers(t *testing.T) {
	t.Parallel()
	count := 10
	if text := os.Getenv("DUROXIDE_PROGRAMS"); text != "" {
		count, _ = strconv.Atoi(text)
	}
	events := 0
	for seed := range uint64(count) {
		here, there := lines(t, onVirtualClock(t, seed)), lines(t, onSQLite(t, seed))
		events += len(here)
		if slices.Equal(here, there) {
			continue
		}
		for n := range max(len(here), len(there)) {
			a, b := "nothing", "nothing"
			if n < len(here) {
				a = here[n]
			}
			if n < len(there) {
				b = there[n]
			}
			if a != b {
				t.Fatalf("program %d, line %d:\nhere   %s\nSQLite %s", seed, n, a, b)
			}
		}
	}
	t.Logf("%d programs, %d events", count, events)
}
