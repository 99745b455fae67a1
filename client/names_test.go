package client_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/hook"
	"github.com/duroxide/duroxide-go/internal/history"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/adapt"
	"github.com/duroxide/duroxide-go/provider/sqlite"
)

// plain is a store with the plain contract.
type plain struct{ provider.Provider }

// seen is a store that says when somebody has found an instance.
type seen struct {
	*sqlite.Store
	found chan struct{}
}

func (s seen) ReadProgress(ctx context.Context, instances []string) ([]provider.Progress, error) {
	list, err := s.Store.ReadProgress(ctx, instances)
	if err == nil && list[0].Use != nil {
		select {
		case s.found <- struct{}{}:
		default:
		}
	}
	return list, err
}

// until waits for "go" and returns its input.
var until = orchestration.New("Until", func(ctx *orchestration.Context, input string) (string, error) {
	event := orchestration.NewEvent[string]("go").Wait(ctx)
	ctx.SetCustomStatus("waiting")
	_, err := event.Await()
	return input, err
})

// begun waits until an instance of Until has had its first turn.
func begun(t *testing.T, c *client.Client, instance string) {
	t.Helper()
	if _, err := c.WaitForCustomStatus(deadline(t), instance, 0); err != nil {
		t.Fatal(err)
	}
}

func end(t *testing.T, c *client.Client, instance string) {
	t.Helper()
	begun(t, c, instance)
	if err := client.RaiseEvent(t.Context(), c, orchestration.NewEvent[string]("go"), instance, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Wait(deadline(t), instance); err != nil {
		t.Fatal(err)
	}
}

// A start of a used id is told who uses it, in which state (client.Start,
// client.AlreadyExistsError).
func TestStartOfAUsedID(t *testing.T) {
	t.Parallel()
	for name, store := range map[string]func(*testing.T) provider.Provider{
		"store": openStore,
		"plain": func(t *testing.T) provider.Provider { return plain{openStore(t)} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := store(t)
			_, knows := store.(provider.Store)
			c := client.New(store, client.Options{})
			check := func(want client.State) {
				t.Helper()
				_, err := client.Start(t.Context(), c, until, "i", "second")
				used, ok := errors.AsType[*client.AlreadyExistsError](err)
				if !errors.Is(err, client.ErrAlreadyExists) || !ok || *used != (client.AlreadyExistsError{Instance: "i", Name: "Until", State: want}) {
					t.Errorf("%s: %v", want, err)
				}
			}
			if _, err := client.Start(t.Context(), c, until, "i", "first"); err != nil {
				t.Fatal(err)
			}
			if knows {
				check(client.Queued)
			}
			work(t, store, until)
			begun(t, c, "i")
			check(client.Running)
			end(t, c, "i")
			check(client.Completed)
			if s, err := c.Status(t.Context(), "i"); err != nil || s.Output != "first" {
				t.Errorf("the instance is now %+v, %v", s, err)
			}
		})
	}
}

// UseExisting returns the instance that there is.
func TestUseExisting(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	c := client.New(store, client.Options{})
	for range 2 {
		if _, err := client.Start(t.Context(), c, until, "i", "first", client.UseExisting()); err != nil {
			t.Fatal(err)
		}
	}
	work(t, store, until)
	end(t, c, "i")
	run, err := client.Start(t.Context(), c, until, "i", "second", client.UseExisting())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := run.Wait(deadline(t)); err != nil || got != "first" {
		t.Errorf("%s, %v", got, err)
	}
}

// An instance is not replaced while the start of its sub-orchestration waits: the new instance
// would be told what comes of it. Afterwards it is.
func TestReplaceWithQueuedChild(t *testing.T) {
	t.Parallel()
	child := orchestration.New("Child", func(_ *orchestration.Context, input string) (string, error) { return "child of " + input, nil })
	parent := orchestration.New("Parent", func(ctx *orchestration.Context, input string) (string, error) {
		result := orchestration.SubOrchestration(ctx, child, input)
		if input == "first" {
			return "", ctx.Sleep(time.Millisecond)
		}
		return result.Await()
	})
	store := openStore(t)
	c := client.New(store, client.Options{})
	work(t, store, parent)
	run, err := client.Start(t.Context(), c, parent, "i", "first")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Wait(deadline(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Start(t.Context(), c, parent, "i", "second", client.ReplaceFinished()); !errors.Is(err, provider.ErrStillRunning) {
		t.Errorf("with a child whose start waits: %v", err)
	}
	work(t, store, child)
	if _, err := c.Wait(deadline(t), "i::sub::2"); err != nil {
		t.Fatal(err)
	}
	run, err = client.Start(t.Context(), c, parent, "i", "second", client.ReplaceFinished())
	if err != nil {
		t.Fatal(err)
	}
	if result, err := run.Wait(deadline(t)); err != nil || result != "child of second" {
		t.Errorf("%q, %v", result, err)
	}
}

// Replacing an instance that has continued as new for years reads its latest executions only.
func TestReplaceAfterManyExecutions(t *testing.T) {
	t.Parallel()
	loop := orchestration.New("Loop", func(ctx *orchestration.Context, left int) (string, error) {
		if left > 0 {
			return orchestration.Declare[int, string]("Loop").ContinueAsNew(ctx, left-1)
		}
		return "looped", nil
	})
	store := openStore(t)
	var reads countedReads
	c := client.New(store, client.Options{Hook: &reads})
	work(t, store, loop)
	run, err := client.Start(t.Context(), c, loop, "i", history.MaxEarlierExecutions+5)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Wait(deadline(t)); err != nil {
		t.Fatal(err)
	}
	reads.n.Store(0)
	if _, err := client.Start(t.Context(), c, loop, "i", 0, client.ReplaceFinished()); err != nil {
		t.Fatal(err)
	}
	if n := reads.n.Load(); n != history.MaxEarlierExecutions {
		t.Errorf("%d executions were read", n)
	}
}

// countedReads counts the histories of single executions that are read.
type countedReads struct {
	hook.None

	n atomic.Int64
}

func (r *countedReads) Store(_ context.Context, operation string) func(hook.StoreEnd) {
	if operation == "read_with_execution" {
		r.n.Add(1)
	}
	return nil
}

// ReplaceFinished replaces what has ended, and loses nothing that has not: not a waiting
// start, not what runs, not what is between two executions, not a child that runs.
func TestReplaceFinished(t *testing.T) {
	t.Parallel()
	loop := orchestration.New("Loop", func(ctx *orchestration.Context, again bool) (string, error) {
		if again {
			return orchestration.Declare[bool, string]("Loop").ContinueAsNew(ctx, false)
		}
		return "looped", nil
	})
	store := openStore(t)
	c := client.New(store, client.Options{})
	replace := func(input string, options ...client.StartOption) (*client.Run[string], error) {
		return client.Start(t.Context(), c, until, "i", input, append(options, client.ReplaceFinished())...)
	}
	kept := func(what string) {
		t.Helper()
		if _, err := replace("no"); !errors.Is(err, client.ErrAlreadyExists) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := replace("first"); err != nil {
		t.Fatal(err)
	}
	kept("a waiting start")
	work(t, store, until)
	begun(t, c, "i")
	kept("a running instance")
	end(t, c, "i")
	run, err := replace("second", client.UseExisting())
	if err != nil {
		t.Fatal(err)
	}
	end(t, c, "i")
	if got, err := run.Wait(deadline(t)); err != nil || got != "second" {
		t.Errorf("the replacement ends with %s, %v", got, err)
	}

	// Nobody works here, so the instance stays between its two executions.
	store = openStore(t)
	c = client.New(store, client.Options{})
	if _, err := client.Start(t.Context(), c, loop, "between", true); err != nil {
		t.Fatal(err)
	}
	fetched, err := store.FetchOrchestrationItem(t.Context(), provider.FetchOrchestrationParams{LockTimeout: time.Minute})
	if err != nil || fetched == nil {
		t.Fatal(fetched, err)
	}
	status := provider.StatusContinuedAsNew
	if err := store.AckOrchestrationItem(t.Context(), provider.AckOrchestrationParams{
		LockToken: fetched.LockToken, ExecutionID: 1,
		Metadata: provider.ExecutionMetadata{OrchestrationName: new("Loop"), OrchestrationVersion: new("1.0.0"), Status: &status},
	}); err != nil {
		t.Fatal(err)
	}
	_, err = client.Start(t.Context(), c, loop, "between", true, client.ReplaceFinished())
	if used, ok := errors.AsType[*client.AlreadyExistsError](err); !ok || used.State != client.Running {
		t.Errorf("between two executions: %v", err)
	}
}

// Of many that replace one finished instance at the same time, as many are told that they
// started one as instances were started.
func TestSimultaneousReplacements(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	c := client.New(store, client.Options{})
	if _, err := client.Start(t.Context(), c, until, "i", "old"); err != nil {
		t.Fatal(err)
	}
	work(t, store, until)
	end(t, c, "i")
	var mu sync.Mutex
	var winners []string
	var all sync.WaitGroup
	for input := range strings.SplitSeq("abcdefgh", "") {
		all.Go(func() {
			_, err := client.Start(t.Context(), c, until, "i", input, client.ReplaceFinished())
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				winners = append(winners, input)
			} else if !errors.Is(err, client.ErrAlreadyExists) && !errors.Is(err, provider.ErrStillRunning) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	end(t, c, "i")
	s, err := c.Status(t.Context(), "i")
	if err != nil || len(winners) != 1 || s.Output != winners[0] {
		t.Errorf("told of a start: %v; the instance is %+v, %v", winners, s, err)
	}
}

// MustExist demands an instance that can take what is sent.
func TestMustExist(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	c := client.New(store, client.Options{})
	check := func(want error) {
		t.Helper()
		for what, err := range map[string]error{
			"raise":   client.RaiseEvent(t.Context(), c, orchestration.NewEvent[string]("other"), "i", "", client.MustExist()),
			"enqueue": client.Enqueue(t.Context(), c, orchestration.NewQueue[string]("queue"), "i", "", client.MustExist()),
		} {
			if !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", what, err, want)
			}
		}
	}
	check(client.ErrNoInstance)
	check(provider.ErrNotFound)
	if err := c.Cancel(t.Context(), "i", "", client.MustExist()); !errors.Is(err, client.ErrNoInstance) {
		t.Errorf("cancel: %v", err)
	}
	if depths, err := store.Admin().GetQueueDepths(t.Context()); err != nil || depths.OrchestratorQueue != 0 {
		t.Errorf("%+v, %v were sent all the same", depths, err)
	}
	if _, err := client.Start(t.Context(), c, until, "i", ""); err != nil {
		t.Fatal(err)
	}
	check(nil) // its first turn is yet to come
	work(t, store, until)
	begun(t, c, "i")
	check(nil)
	end(t, c, "i")
	check(client.ErrEnded)
	if err := c.Cancel(t.Context(), "i", "", client.MustExist()); !errors.Is(err, client.ErrEnded) {
		t.Errorf("cancel: %v", err)
	}
}

// A cancel request does not reach an instance that is started after it, and one that is
// started before it is cancelled in its first turn (client.Cancel).
func TestCancelBeforeTheStart(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	c := client.New(store, client.Options{})
	for _, id := range []string{"late", "early"} {
		if id == "late" {
			if err := c.Cancel(t.Context(), id, "too early"); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := client.Start(t.Context(), c, until, id, "lives"); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Cancel(t.Context(), "early", "in time"); err != nil {
		t.Fatal(err)
	}
	work(t, store, until)
	end(t, c, "late")
	if s, err := c.Status(t.Context(), "late"); err != nil || s.Output != "lives" {
		t.Errorf("the instance that was started later is %+v, %v", s, err)
	}
	s, err := c.Wait(deadline(t), "early")
	if failed, ok := errors.AsType[*client.FailedError](s.Err()); err != nil || !ok || !failed.Cancelled() {
		t.Errorf("the instance that was started before is %+v, %v", s, err)
	}
}

// A run waits for a start that the store cannot see yet, also behind a decorator of a plain store: it was not deleted.
func TestWaitForAStartThatIsHidden(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	decorated := struct{ provider.Store }{adapt.Store(plain{store})}
	run, err := client.Start(t.Context(), client.New(decorated, client.Options{}), until, "i", "")
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := run.Wait(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the wait ended with %v", err)
	}
}

// Waiting ends when the instance is deleted, also if that happened before the wait of the
// run that started it; an unknown id is waited for (client.Wait, client.ErrDeleted).
func TestWaitForADeletedInstance(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	c := client.New(store, client.Options{})
	run, err := client.Start(t.Context(), c, until, "i", "")
	if err != nil {
		t.Fatal(err)
	}
	work(t, store, until)
	begun(t, c, "i")
	ended := make(chan error)
	for _, wait := range []func(*client.Client) (client.Status, error){
		func(c *client.Client) (client.Status, error) { return c.Wait(deadline(t), "i") },
		func(c *client.Client) (client.Status, error) { return c.WaitForCustomStatus(deadline(t), "i", 7) },
	} {
		looked := seen{store.(*sqlite.Store), make(chan struct{}, 1)}
		go func() {
			_, err := wait(client.New(looked, client.Options{}))
			ended <- err
		}()
		<-looked.found
	}
	if _, err := store.Admin().DeleteInstance(t.Context(), "i", true); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := <-ended; !errors.Is(err, client.ErrDeleted) || !errors.Is(err, provider.ErrNotFound) {
			t.Errorf("the wait ended with %v", err)
		}
	}
	if _, err := run.Wait(deadline(t)); !errors.Is(err, client.ErrDeleted) {
		t.Errorf("the wait of the run ended with %v", err)
	}
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := c.Wait(short, "nobody"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the wait for an unknown id ended with %v", err)
	}
}

// The error of a wait that its deadline ended says how far the instance was
// (client.WaitError).
func TestDeadlineErrorSaysHowFar(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	c := client.New(store, client.Options{})
	nobody := activity.Declare[string, string]("Nobody")
	many := orchestration.New("Many", func(ctx *orchestration.Context, _ string) (string, error) {
		ctx.Timer(0)
		orchestration.NewQueue[string]("q").Dequeue(ctx)
		orchestration.Activity(ctx, nobody, "secret")
		orchestration.SubOrchestration(ctx, until, "secret", orchestration.WithInstanceID("kid"))
		event := orchestration.NewEvent[string]("go").Wait(ctx)
		ctx.SetCustomStatus("waiting")
		return event.Await()
	})
	run, err := client.Start(t.Context(), c, many, "i", "secret")
	if err != nil {
		t.Fatal(err)
	}
	wait := func() *client.WaitError {
		t.Helper()
		short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		_, err := run.Wait(short)
		ended, ok := errors.AsType[*client.WaitError](err)
		if !ok || !errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "secret") {
			t.Fatalf("the wait ended with %v", err)
		}
		return ended
	}
	if got, want := wait().Error(), `waiting for "i": context deadline exceeded; it is held before its begin, it waits for orchestration Many, which no worker has`; got != want {
		t.Errorf("before the first turn\n got %s\nwant %s", got, want)
	}
	work(t, store, many, until)
	begun(t, c, "kid")
	for len(wait().WaitsFor) > 4 { // the timer may fire a little later
		continue
	}
	got := wait()
	if got.Status.State != client.Running || got.LastEvent != "TimerFired" || len(got.WaitsFor) != 4 {
		t.Errorf("%+v", got)
	}
	want := `waiting for "i": context deadline exceeded; it is Running (Many 1.0.0, execution 1), its last event is TimerFired, ` +
		`it is held since ` + got.Held.Since.Format("2006-01-02 15:04") + ` UTC: activity Nobody, which no worker has, it waits for queue "q", activity "Nobody", sub-orchestration "Until" (kid) and 1 more`
	if got.Error() != want {
		t.Errorf("in its midst\n got %s\nwant %s", got, want)
	}
	// Another end than a deadline costs no further look.
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := run.Wait(cancelled); err.Error() != `waiting for "i": context canceled` {
		t.Errorf("a cancelled wait: %v", err)
	}
}
