package worker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/internal/testsupport/racing"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/retry"
	"github.com/duroxide/duroxide-go/worker"
)

// states are what the instances of a fleet are at when the bad deploy comes.
var states = []string{"new", "activity", "event", "timer", "queue", "child", "retry", "cleaning up", "cancelled", "block", "continued"}

// heldFleet is a hundred and some instances, and the code of three releases.
type heldFleet struct {
	t     *testing.T
	store provider.Provider
	// each is how many instances are at each state.
	each int
	// unit is how long timers take, and day how long the bad deploy stays.
	unit, day time.Duration
	release   chan struct{}
	flaky     sync.Map
	// early are the cancelled instances that had cleaned up before the bad deploy came.
	early  []string
	failed atomic.Int32
	undone atomic.Int32
}

// TestDeployWithoutAVersionHoldsInstances: ten instances each in eleven states, a deploy without their version for a
// day, and the rollback: all end right.
func TestDeployWithoutAVersionHoldsInstances(t *testing.T) {
	t.Parallel()
	heldForADay(t, func(f *heldFleet) {
		f.run(f.definitions("2.0.0", false), f.whileHeld)
	})
}

// TestDeployThatDoesNotFitHoldsInstances is the same with code that does not fit.
func TestDeployThatDoesNotFitHoldsInstances(t *testing.T) {
	t.Parallel()
	heldForADay(t, func(f *heldFleet) {
		f.run(f.definitions("1.0.0", true), f.whileHeld)
	})
}

// heldForADay tries a deploy on both stores: on SQLite with a clock that jumps, on SQL Server in short.
func heldForADay(t *testing.T, deploy func(f *heldFleet)) {
	t.Helper()
	rollBack := func(f *heldFleet) {
		f.each = 10
		if racing.Part() {
			f.each = 3
		}
		f.begin()
		deploy(f)
		f.run(f.definitions("1.0.0", false), f.allEnd)
	}
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			rollBack(&heldFleet{t: t, store: openStore(t), unit: time.Hour, day: 24 * time.Hour, release: make(chan struct{})})
		})
	})
	t.Run("mssql", func(t *testing.T) {
		t.Parallel()
		rollBack(&heldFleet{t: t, store: openMSSQL(t), unit: 2 * time.Second, day: 3 * time.Second, release: make(chan struct{})})
	})
}

// definitions are the code of a release. Bad code does something else first.
func (f *heldFleet) definitions(version string, bad bool) []worker.Registrable {
	slow := activity.New("Slow", func(ctx context.Context, in string) (string, error) {
		select {
		case <-f.release:
			return in, nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	})
	flaky := activity.New("Flaky", func(_ context.Context, in string) (string, error) {
		if _, again := f.flaky.LoadOrStore(in, true); again {
			return in, nil
		}
		f.failed.Add(1)
		return "", errors.New("for once")
	})
	undo := activity.New("Undo", func(_ context.Context, in string) (string, error) {
		f.undone.Add(1)
		return in, nil
	})
	kid := orchestration.New("Kid", func(ctx *orchestration.Context, in string) (string, error) {
		_, err := orchestration.NewEvent[string]("go").Wait(ctx).Await()
		return in, err
	})
	body := func(ctx *orchestration.Context, in string) (string, error) {
		state, _, _ := strings.Cut(in, "-")
		if bad && state != "new" {
			return orchestration.Activity(ctx, undo, "this does not fit").Await()
		}
		ctx.SetCustomStatus("ready")
		var err error
		switch state {
		case "activity":
			_, err = orchestration.Activity(ctx, slow, in).Await()
		case "event", "continued":
			_, err = orchestration.NewEvent[string]("go").Wait(ctx).Await()
		case "timer":
			err = ctx.Sleep(f.unit)
		case "queue":
			for want := range 3 {
				got, failed := orchestration.NewQueue[int]("q").Dequeue(ctx).Await()
				if failed != nil || got != want {
					return "", errors.Join(failed, fmt.Errorf("message %d instead of %d", got, want))
				}
			}
		case "child":
			_, err = orchestration.SubOrchestration(ctx, kid, in, orchestration.WithInstanceID(in+"-kid")).Await()
		case "retry":
			policy := retry.Policy{MaxAttempts: 2, Backoff: retry.Constant(f.unit)}
			_, err = orchestration.Activity(ctx, flaky, in, orchestration.WithRetry(policy)).Await()
		case "cleaning up", "cancelled":
			if _, err = orchestration.NewEvent[string]("never").Wait(ctx).Await(); err != nil {
				ctx.SetCustomStatus("cleaning up")
				_ = ctx.Detached().Sleep(f.unit)
				_, undone := orchestration.Activity(ctx.Detached(), undo, in).Await()
				err = errors.Join(err, undone)
			}
		case "block":
			block := orchestration.Go(ctx, func(ctx *orchestration.Context) (string, error) {
				_, err := orchestration.NewEvent[string]("go").Wait(ctx).Await()
				return "", err
			})
			_, err = block.Await()
		}
		return in, err
	}
	order := orchestration.New("Order", body).WithCleanup(10 * f.day)
	// Of Mover, what the first release continues as is missing until the rollback.
	mover := orchestration.New("Mover", body).WithVersion("3.0.0")
	before := orchestration.New("Mover", func(ctx *orchestration.Context, in string) (string, error) {
		return orchestration.Declare[string, string]("Mover").AtVersion("3.0.0").ContinueAsNew(ctx, in)
	}).WithVersion("0.9.0")
	list := []worker.Registrable{order.WithVersion(version), kid.WithVersion(version), slow, flaky, undo, before}
	if version == "1.0.0" && !bad && f.failed.Load() > 0 {
		list = append(list, mover)
	}
	return list
}

// run works with a release until during returns.
func (f *heldFleet) run(release []worker.Registrable, during func(c *client.Client)) {
	f.t.Helper()
	stop := runWorker(f.t, f.store, worker.Options{
		ActivityConcurrency: 2 * f.each, Code: worker.Code{Backoff: f.day / 8, MaxBackoff: f.day / 8}, QuietTime: worker.Never,
		Cancellation: worker.Cancellation{PollInterval: worker.Never}, PollTimeout: f.day, Sessions: worker.Sessions{CleanupInterval: f.day},
	}, release...)
	defer stop()
	during(client.New(f.store, client.Options{}))
}

// ids are the instances in a state.
func (f *heldFleet) ids(state string) (list []string) {
	for i := range f.each {
		list = append(list, fmt.Sprintf("%s-%d", state, i))
	}
	return list
}

// begin brings the instances to their states with the first release.
func (f *heldFleet) begin() {
	f.t.Helper()
	c, ctx := client.New(f.store, client.Options{}), f.t.Context()
	start := func(state string) {
		for _, id := range f.ids(state) {
			name, version := "Order", "1.0.0"
			if state == "continued" {
				name, version = "Mover", "0.9.0"
			}
			if _, err := client.Start(ctx, c, orchestration.Declare[string, any](name).AtVersion(version), id, id); err != nil {
				f.t.Fatal(err)
			}
		}
	}
	f.run(f.definitions("1.0.0", false), func(c *client.Client) {
		for _, state := range states[1:] {
			start(state)
		}
		for _, state := range states[1 : len(states)-1] {
			for _, id := range f.ids(state) {
				f.reaches(c, id, "ready")
			}
		}
		for _, id := range f.ids("cleaning up") {
			if err := c.Cancel(ctx, id, "enough"); err != nil {
				f.t.Fatal(err)
			}
			f.reaches(c, id, "cleaning up")
		}
		for f.failed.Load() < int32(f.each) {
			time.Sleep(10 * time.Millisecond)
		}
		for _, id := range f.ids("continued") {
			f.continues(c, id)
		}
	})
	f.early = f.ended()
	start("new")
}

// ended are the instances that failed or were cancelled.
func (f *heldFleet) ended() []string {
	f.t.Helper()
	admin, err := client.New(f.store, client.Options{}).Admin()
	if err != nil {
		f.t.Fatal(err)
	}
	list, err := admin.ListInstancesByStatus(f.t.Context(), provider.StatusFailed)
	if err != nil {
		f.t.Fatal(err)
	}
	slices.Sort(list)
	return list
}

// reaches waits for a custom status.
func (f *heldFleet) reaches(c *client.Client, id, want string) {
	f.t.Helper()
	for version := uint64(0); ; {
		status, err := c.WaitForCustomStatus(deadline(f.t), id, version)
		if err != nil {
			f.t.Fatalf("%s: %+v, %v", id, status, err)
		}
		if status.Finished() { // on a busy machine, a timer of seconds may be over; it must end right all the same
			return
		}
		if *status.CustomStatus == want {
			return
		}
		version = status.CustomStatusVersion
	}
}

// continues waits for the end of the first execution.
func (f *heldFleet) continues(c *client.Client, id string) {
	f.t.Helper()
	admin, err := c.Admin()
	if err != nil {
		f.t.Fatal(err)
	}
	for {
		info, err := admin.GetInstanceInfo(f.t.Context(), id)
		if err != nil && !errors.Is(err, provider.ErrNotFound) {
			f.t.Fatal(err)
		}
		if info.Status == provider.StatusContinuedAsNew {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// whileHeld is what happens during the day of the bad deploy. Nothing ends.
func (f *heldFleet) whileHeld(c *client.Client) {
	f.t.Helper()
	ctx := f.t.Context()
	close(f.release)
	send := func(err error) {
		f.t.Helper()
		if err != nil {
			f.t.Fatal(err)
		}
	}
	for i := range f.each {
		for _, id := range []string{f.ids("event")[i], f.ids("block")[i], f.ids("child")[i] + "-kid"} {
			send(client.RaiseEvent(ctx, c, orchestration.NewEvent[string]("go"), id, ""))
		}
		send(c.Cancel(ctx, f.ids("cancelled")[i], "enough"))
		for n := range 3 {
			send(client.Enqueue(ctx, c, orchestration.NewQueue[int]("q"), f.ids("queue")[i], n))
			time.Sleep(f.day / 1000)
		}
	}
	time.Sleep(f.day)
	if ended := f.ended(); !slices.Equal(ended, f.early) {
		f.t.Errorf("ended: %v, before the deploy %v", ended, f.early)
	}
	held, err := c.ListHeld(ctx)
	send(err)
	reasons := map[string]string{}
	for _, h := range held {
		reasons[h.InstanceID] = h.Reason
	}
	for _, state := range states[1:] {
		for _, id := range f.ids(state) {
			if state == "child" {
				id += "-kid"
			}
			if reasons[id] == "" && f.day > provider.LiveFor && !strings.HasSuffix(id, "-kid") {
				f.t.Errorf("%s is not held", id)
			}
			if strings.Contains(reasons[id], "nondeterministic") {
				f.t.Errorf("%s is held: %s", id, reasons[id])
			}
		}
	}
}

// allEnd waits for the instances after the rollback.
func (f *heldFleet) allEnd(c *client.Client) {
	f.t.Helper()
	ctx := f.t.Context()
	for _, id := range f.ids("event") { // one state need not wait for its next try
		if err := c.RetryHeld(ctx, id); err != nil && !errors.Is(err, client.ErrNotHeld) {
			f.t.Error(err)
		}
	}
	for _, id := range f.ids("continued") {
		f.reaches(c, id, "ready") // before, nobody would hear the event
		if err := client.RaiseEvent(ctx, c, orchestration.NewEvent[string]("go"), id, ""); err != nil {
			f.t.Fatal(err)
		}
	}
	time.Sleep(f.day / 2) // a wait asks more often than is worth it on a clock that jumps
	within, cancel := context.WithTimeout(ctx, 10*f.day+10*time.Second)
	defer cancel()
	for _, state := range states {
		for _, id := range f.ids(state) {
			status, err := c.Wait(within, id)
			want := client.Completed
			if state == "cleaning up" || state == "cancelled" {
				want = client.Cancelled
			}
			if err != nil || status.State != want || want == client.Completed && status.Output != id {
				f.t.Errorf("%s: %s %s, %v, %v", id, status.State, status.Output, status.Err(), err)
			}
		}
	}
	if undone := f.undone.Load(); undone != int32(2*f.each) {
		f.t.Errorf("%d of %d cancelled instances cleaned up", undone, 2*f.each)
	}
}

// TestMissingVersion: an event comes for an instance whose version a deploy lacks, and the rollback goes on with it.
func TestMissingVersion(t *testing.T) {
	t.Parallel()
	order := func(version string) worker.Registrable {
		return orchestration.New("Order", func(ctx *orchestration.Context, _ int) (string, error) {
			return orchestration.NewEvent[string]("paid").Wait(ctx).Await()
		}).WithVersion(version)
	}
	onBothStores(t, func(t *testing.T, store provider.Provider) {
		c := client.New(store, client.Options{})
		if _, err := client.Start(t.Context(), c, orchestration.Declare[int, any]("Order").AtVersion("1.0.0"), "x", 1); err != nil {
			t.Fatal(err)
		}
		stop := runWorker(t, unselecting{store}, worker.Options{}, order("1.0.0"))
		begun(t, store, "x")
		stop()
		looks := make(chan provider.AbandonParams, 256)
		stop = runWorker(t, handsBack{unselecting{store}, looks}, worker.Options{Code: worker.Code{Backoff: time.Millisecond}, Limits: worker.Limits{Attempts: 1}}, order("2.0.0"))
		if err := client.RaiseEvent(t.Context(), c, orchestration.NewEvent[string]("paid"), "x", "yes"); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			if given := receive(t, "given back", looks); !strings.HasPrefix(given.Misfit, `orchestration "Order" version 1.0.0, which this worker does not have`) {
				t.Errorf("given back with %+v", given)
			}
		}
		stop()
		runWorker(t, store, worker.Options{}, order("1.0.0"))
		if status, err := c.Wait(deadline(t), "x"); err != nil || status.Output != "yes" {
			t.Errorf("%+v, %v", status, err)
		}
	})
}

// begun waits for an instance's first turn.
func begun(t *testing.T, store provider.Provider, instance string) {
	t.Helper()
	for ctx := deadline(t); ; time.Sleep(time.Millisecond) {
		history, err := store.Read(ctx, instance)
		if err != nil {
			t.Fatal(err)
		}
		if len(history) > 0 {
			return
		}
	}
}
