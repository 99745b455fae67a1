// Package demo shows durable execution at work: it starts orchestrations of
// several shapes, kills the process that runs them in the middle, starts another
// one, and proves from the histories that nothing was lost and nothing counted
// twice.
//
// Files: demo.go (the course of events), report.go (what is printed at the end),
// record.go (the proof), orchestrations.go, medley.go and shapes.go (what is run, and
// what must come of it), work.go (the worker's side), process.go (the worker as a child
// process).
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/screen"
	"github.com/duroxide/duroxide-go/provider"
)

// Config is what a demo needs.
type Config struct {
	// Store is where the orchestrations are kept. It must have an Admin.
	Store provider.Provider
	// Worker is the command line of a worker process on the same store, which ends
	// with its standard input and calls [Work] with its standard output.
	Worker []string
	// Screen is told everything, Stderr what worker processes complain about.
	Screen *screen.Screen
	Stderr io.Writer
	// Timeout bounds the whole demo.
	Timeout time.Duration
}

// fanOutName is the shape whose progress is shown and decides about the kill.
var fanOutName = Squares(1).Name

// shapes are what the demo runs, in the order of their telling.
func shapes() []Shape {
	return []Shape{
		Cities("Oslo", "Lima", "Hanoi", "Accra", "Quito"),
		Squares(50),
		Timer(2 * time.Second),
		Approval("a trip to Lima", "Ada"),
		Tour([]string{"Bern", "Rome", "Athens"}, []string{"Cairo", "Delhi", "Tokyo"}),
		Laps(3),
	}
}

// show is one run of the demo.
type show struct {
	Config

	client    *client.Client
	admin     provider.Admin
	began     time.Time
	instances []Instance
	// workers are all processes, the last one being alive. Each is watched, and abort
	// ends the demo when one ends by itself.
	workers []*Process
	watches sync.WaitGroup
	abort   context.CancelCauseFunc

	mu sync.Mutex
	// calls counts how often each activity was begun.
	calls map[Call]int
	// killed is what was on record when the worker was killed.
	killed Record
}

// Run runs the demo. The error says what went wrong or is not as it must be. No
// worker process is left when it returns.
func Run(ctx context.Context, config Config) error {
	ctx, cancel := context.WithTimeoutCause(ctx, config.Timeout,
		fmt.Errorf("the demo did not end within %v", config.Timeout))
	defer cancel()
	ctx, abort := context.WithCancelCause(ctx)
	s := &show{
		Config: config, client: client.New(config.Store, client.Options{}), began: time.Now(), abort: abort, calls: map[Call]int{},
	}
	var err error
	if s.admin, err = s.client.Admin(); err != nil {
		return err
	}
	defer func() {
		for _, w := range s.workers {
			w.Kill()
		}
		abort(nil)
		s.watches.Wait()
	}()
	for _, step := range []func(context.Context) error{
		s.choose, s.startWorker, s.startAll, s.untilHalf, s.kill, s.startWorker, s.finish, s.stop, s.report,
	} {
		if err := step(ctx); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return err
		}
	}
	return nil
}

// choose gives every shape an instance id that is free, so that the demo can run
// on one file again and again.
func (s *show) choose(ctx context.Context) error {
	for run := 1; ; run++ {
		s.instances = nil
		free := true
		for _, shape := range shapes() {
			id := shape.Name
			if run > 1 {
				id = fmt.Sprintf("%s-%d", shape.Name, run)
			}
			s.instances = append(s.instances, Instance{shape, id})
			_, err := s.admin.GetInstanceInfo(ctx, id)
			if err != nil && !errors.Is(err, provider.ErrNotFound) {
				return err
			}
			free = free && err != nil
		}
		if free {
			return nil
		}
	}
}

// startWorker starts another worker process.
func (s *show) startWorker(ctx context.Context) error {
	w, err := StartProcess(ctx, s.Worker, s.Stderr, s.count)
	if err != nil {
		return err
	}
	s.workers = append(s.workers, w)
	name := s.worker()
	s.watches.Go(func() {
		select {
		case <-w.Died():
			s.abort(fmt.Errorf("%s ended by itself", name))
		case <-ctx.Done():
		}
	})
	if err := w.Ready(ctx); err != nil {
		return err
	}
	s.logf("%s is a process of its own, pid %d", s.worker(), w.PID())
	return nil
}

// worker names the process that is alive.
func (s *show) worker() string { return fmt.Sprintf("worker %d", len(s.workers)) }

// count notes that an activity was begun.
func (s *show) count(call Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[call]++
}

// logf writes a line with the time since the demo began.
func (s *show) logf(format string, args ...any) {
	s.Screen.Printf("%s  %s\n", s.Screen.Faint(fmt.Sprintf("%7.3f s", time.Since(s.began).Seconds())), fmt.Sprintf(format, args...))
}

// startAll starts the orchestrations, the fan-out last, when the others are on
// their way.
func (s *show) startAll(ctx context.Context) error {
	for _, i := range s.instances {
		if i.Name != fanOutName {
			if err := s.start(ctx, i); err != nil {
				return err
			}
		}
	}
	err := until(ctx, func() (bool, error) {
		results, err := s.results(ctx, s.instances[0].ID)
		return results >= 1, err
	})
	if err != nil {
		return err
	}
	for _, i := range s.instances {
		if i.Name == fanOutName {
			return s.start(ctx, i)
		}
	}
	return nil
}

func (s *show) start(ctx context.Context, i Instance) error {
	s.logf("starting %s: %s", s.Screen.Bold(i.ID), i.Title)
	return i.Start(ctx, s.client, i.ID)
}

// untilHalf waits until half of the fan-out is done and the approval is waiting,
// as its custom status says.
func (s *show) untilHalf(ctx context.Context) error {
	for _, i := range s.instances {
		if i.Approves {
			err := until(ctx, func() (bool, error) {
				status, err := s.client.Status(ctx, i.ID)
				return status.CustomStatus != nil && *status.CustomStatus == waiting, err
			})
			if err != nil {
				return err
			}
		}
	}
	return s.followFanOut(ctx, 2)
}

// followFanOut shows the progress of the fan-out until one part in parts is done.
func (s *show) followFanOut(ctx context.Context, parts int) error {
	at := slices.IndexFunc(s.instances, func(i Instance) bool { return i.Name == fanOutName })
	fanOut := s.instances[at]
	bar := s.Screen.Bar("           "+fanOut.ID, fanOut.Results)
	defer bar.Stop()
	return until(ctx, func() (bool, error) {
		n, err := s.results(ctx, fanOut.ID)
		if err == nil {
			bar.Set(n)
		}
		return parts*n >= fanOut.Results, err
	})
}

// results counts the results in an instance's current history.
func (s *show) results(ctx context.Context, id string) (int, error) {
	history, err := s.admin.ReadHistory(ctx, id)
	n := 0
	for _, event := range history {
		if _, ok := event.Kind.(provider.ActivityCompleted); ok {
			n++
		}
	}
	return n, err
}

// kill kills the worker and shows what it leaves behind.
func (s *show) kill(ctx context.Context) error {
	w := s.workers[len(s.workers)-1]
	w.Kill()
	s.logf("%s", s.Screen.Bad(fmt.Sprintf("%s was killed (SIGKILL, pid %d)", s.worker(), w.PID())))
	var err error
	if s.killed, err = ReadRecord(ctx, s.client, s.instances); err != nil {
		return err
	}
	s.logf("the store has %d events of %d orchestrations and all their queued work",
		s.killed.Events(), s.killed.Instances())
	return nil
}

// finish raises the event and waits until everything has ended.
func (s *show) finish(ctx context.Context) error {
	s.logf("%s takes over; it gets the work of worker %d when the leases end", s.worker(), len(s.workers)-1)
	for _, i := range s.instances {
		if i.Approves {
			s.logf("raising the event that %s waits for", s.Screen.Bold(i.ID))
			if err := Approve(ctx, s.client, i.ID, "Ada"); err != nil {
				return err
			}
		}
	}
	if err := s.followFanOut(ctx, 1); err != nil {
		return err
	}
	for _, i := range s.instances {
		if _, err := s.client.Wait(ctx, i.ID); err != nil {
			return err
		}
	}
	s.logf("all orchestrations have ended")
	return nil
}

// stop ends the last worker in order, so that all its reports have been read.
func (s *show) stop(context.Context) error { return s.workers[len(s.workers)-1].Stop() }

// until asks every few milliseconds whether something is the case.
func until(ctx context.Context, done func() (bool, error)) error {
	const interval = 20 * time.Millisecond
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
