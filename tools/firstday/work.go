package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/hook"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider/mssql"
	"github.com/duroxide/duroxide-go/worker"
)

// The orchestration of every kind of work, with what it calls: activities side by side, one of them in a session, a
// sub-orchestration, a message of a queue, an event, a timer, activities that are cancelled, keys, a custom status and
// a second execution.
var (
	everything = orchestration.Declare[bool, string]("Everything")
	messages   = orchestration.NewQueue[string]("messages")
	enough     = orchestration.NewEvent[string]("enough")
	key        = orchestration.NewKey[string]("key")
	echo       = activity.New("Echo", func(_ context.Context, text string) (string, error) { return text, nil })
	endless    = activity.New("Endless", func(ctx context.Context, _ string) (string, error) {
		<-ctx.Done()
		return "", context.Cause(ctx)
	})
	child = orchestration.New("Child", func(ctx *orchestration.Context, text string) (string, error) {
		return orchestration.Activity(ctx, echo, text).Await()
	})
)

func runEverything(ctx *orchestration.Context, again bool) (string, error) {
	if again {
		return "done", nil
	}
	key.Set(ctx, "value")
	ctx.SetCustomStatus("busy")
	message, event := messages.Dequeue(ctx), enough.Wait(ctx)
	lost := orchestration.Activity(ctx, endless, "")
	if _, err := orchestration.Join(
		orchestration.Activity(ctx, echo, "1"), orchestration.Activity(ctx, echo, "2"), orchestration.Activity(ctx, echo, "3"),
		orchestration.Activity(ctx, echo, "4"), orchestration.Activity(ctx, echo, "5", orchestration.InSession(ctx.Info().Instance)),
		orchestration.SubOrchestration(ctx, child, "6"),
	); err != nil {
		return "", err
	}
	orchestration.SelectAndDrop(lost, message)
	if _, err := message.Await(); err != nil {
		return "", err
	}
	orchestration.SelectAndDrop(orchestration.Activity(ctx, endless, ""), event)
	if err := ctx.Sleep(time.Millisecond); err != nil {
		return "", err
	}
	return everything.ContinueAsNew(ctx, true)
}

// patience is how long anything here may take that should take moments.
const patience = time.Minute

// crew is a worker at work, with a client.
type crew struct {
	store  *mssql.Store
	client *client.Client
	// refused counts the calls of worker and client that failed, for whatever reason.
	refused atomic.Int64
	stop    func() error
}

// hire opens a store and runs a worker on it.
func (at *site) hire(ctx context.Context, options worker.Options, definitions ...worker.Registrable) (*crew, error) {
	store, err := mssql.Open(ctx, at.url, mssql.Options{})
	if err != nil {
		return nil, err
	}
	c := &crew{store: store}
	options.Hook, options.Logger = refusedCalls{told: &c.refused}, slog.New(slog.DiscardHandler)
	c.client = client.New(store, client.Options{Hook: options.Hook})
	w, err := worker.New(store, options)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	if err := w.Register(append(definitions, echo, endless, child, everything.Implement(runEverything))...); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- w.Run(running) }()
	c.stop = func() error {
		stop()
		return errors.Join(<-ended, store.Close())
	}
	return c, nil
}

// defaults are the settings of a crew, with leases that end soon if a session was killed.
func defaults() worker.Options {
	return worker.Options{
		OrchestrationConcurrency: 4, ActivityConcurrency: 16,
		Leases: worker.Leases{Orchestration: 5 * time.Second, Activity: 5 * time.Second},
	}
}

// refusedCalls counts the calls of the store that failed.
type refusedCalls struct {
	hook.None

	told *atomic.Int64
}

func (r refusedCalls) Store(context.Context, string) func(hook.StoreEnd) {
	return func(end hook.StoreEnd) {
		if end.Err != nil {
			r.told.Add(1)
		}
	}
}

// one runs an orchestration of everything to its end. What the client's own calls meet is tried again while ctx lasts:
// only the orchestration counts.
func (c *crew) one(ctx context.Context, instance string) error {
	steps := []func() error{
		func() error {
			_, err := client.Start(ctx, c.client, everything, instance, false, client.UseExisting())
			return err
		},
		func() error { // an event that nobody waits for would be dropped
			_, err := client.WaitForValue(ctx, c.client, key, instance)
			return err
		},
		func() error { return client.RaiseEvent(ctx, c.client, enough, instance, "1") },
		func() error { return client.Enqueue(ctx, c.client, messages, instance, "1") },
	}
	for _, step := range steps {
		if err := again(ctx, step); err != nil {
			return fmt.Errorf("%s: %w", instance, err)
		}
	}
	var got string
	err := again(ctx, func() (err error) {
		got, err = client.Attach[string](c.client, instance).Wait(ctx)
		return err
	})
	if err == nil && got != "done" {
		err = fmt.Errorf("it returned %q", got)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", instance, err)
	}
	return nil
}

// waits starts the template and waits until it waits.
func (c *crew) waits(ctx context.Context) error {
	if _, err := client.Start(ctx, c.client, template, templateID, ""); err != nil {
		return err
	}
	_, err := client.WaitForValue(ctx, c.client, waiting, templateID)
	return err
}

// again repeats a call until it succeeds, an orchestration is found to have failed, or ctx ends.
func again(ctx context.Context, call func() error) error {
	pause := time.NewTicker(50 * time.Millisecond)
	defer pause.Stop()
	for {
		err := call()
		if _, ended := errors.AsType[*client.FailedError](err); err == nil || ended {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-pause.C:
		}
	}
}

// load runs orchestrations one after the other on several goroutines until it is told to end.
type load struct {
	crew *crew
	// completed counts the orchestrations that have ended as they should.
	completed atomic.Int64
	ended     chan struct{}
	done      sync.WaitGroup
	mu        sync.Mutex
	problems  []error
}

// run starts a load of so many orchestrations at a time. Each has a minute.
func (c *crew) run(ctx context.Context, name string, atOnce int) *load {
	l := &load{crew: c, ended: make(chan struct{})}
	for i := range atOnce {
		l.done.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-l.ended:
					return
				case <-ctx.Done():
					return
				default:
				}
				within, cancel := context.WithTimeout(ctx, patience)
				if err := c.one(within, fmt.Sprintf("%s %d %d", name, i, n)); err != nil {
					l.mu.Lock()
					l.problems = append(l.problems, err)
					l.mu.Unlock()
				}
				cancel()
				l.completed.Add(1)
			}
		})
	}
	return l
}

// end waits for what was started, and returns what went wrong.
func (l *load) end() error {
	close(l.ended)
	l.done.Wait()
	return errors.Join(l.problems...)
}

// await waits until so many more orchestrations have ended.
func (l *load) await(ctx context.Context, more int64) error {
	want := l.completed.Load() + more
	return until(ctx, func() (bool, error) { return l.completed.Load() >= want, nil })
}

// until asks again and again, until the answer is yes or a minute is over.
func until(ctx context.Context, ask func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if yes, err := ask(); yes || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waited for %v: %w", patience, ctx.Err())
		case <-tick.C:
		}
	}
}

// checkWork runs one orchestration of everything.
func checkWork(ctx context.Context, at *site) result {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	c, err := at.hire(ctx, defaults())
	if err != nil {
		return fails("%v", err)
	}
	err = c.one(ctx, subject)
	if err = errors.Join(err, c.stop()); err != nil {
		return fails("%v", err)
	}
	return holds("It completed.")
}
