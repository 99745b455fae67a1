package rig

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
)

// LoadConfig is what the client of rig A does.
type LoadConfig struct {
	Shape Shape
	// InFlight and Window are those of [ParityConfig].
	InFlight int
	Window   time.Duration
}

// Load is what a client has done. A client in a process of its own sends it to the rig as JSON.
type Load struct {
	Began   time.Time     `json:"began"`
	Took    time.Duration `json:"took_ns"`
	Samples []Sample      `json:"samples"`
	// Calls and Writes count the store's calls, in a process of its own.
	Calls  int64 `json:"calls"`
	Writes int64 `json:"writes"`
	// CPU is the processor time of that process, and Written the bytes that it has handed to the
	// system to be written; 0 when the system does not tell.
	CPU     time.Duration `json:"cpu_ns"`
	Written int64         `json:"bytes_written"`
}

// Sample is one orchestration from its start to its known end.
type Sample struct {
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`
}

// RunLoad is the client of rig A in a process of its own.
func RunLoad(ctx context.Context, store provider.Provider, config LoadConfig) (Load, error) {
	counter := NewCounter()
	cpuBefore, _ := cpuTime()
	writtenBefore, _ := written(self)
	l, err := runLoad(ctx, client.New(store, client.Options{Hook: counter}), config)
	cpu, _ := cpuTime()
	bytes, _ := written(self)
	l.CPU, l.Written = cpu-cpuBefore, bytes-writtenBefore
	l.Calls, l.Writes = counter.Calls(), counter.Writes()
	return l, err
}

// runLoad is the client of rig A.
func runLoad(ctx context.Context, c *client.Client, config LoadConfig) (l Load, err error) {
	l.Began = time.Now()
	err = load[int]{
		client: c, inFlight: config.InFlight, definition: config.Shape.definition,
		ended: func(s Sample) { l.Samples = append(l.Samples, s) },
	}.run(ctx, func(started int) bool { return started == 0 || time.Since(l.Began) < config.Window })
	l.Took = time.Since(l.Began)
	return l, err
}

// load starts orchestrations and waits for them.
type load[T any] struct {
	client     *client.Client
	inFlight   int
	definition orchestration.Definition[T, T]
	// input is that of the orchestration with a number; nil gives each the zero value.
	input func(n int) T
	// ended is called after each, by one goroutine at a time.
	ended func(Sample)
}

// run keeps inFlight orchestrations going as long as more says so, given the
// number started before, and returns when the last has ended.
func (l load[T]) run(ctx context.Context, more func(started int) bool) error {
	var mu sync.Mutex
	var started atomic.Int64
	prefix := "bench-" + rand.Text()
	group, ctx := errgroup.WithContext(ctx)
	for range l.inFlight {
		group.Go(func() error {
			for {
				n := int(started.Add(1)) - 1
				if !more(n) {
					return nil
				}
				s, err := l.one(ctx, fmt.Sprintf("%s-%d", prefix, n), n)
				if err != nil {
					return err
				}
				mu.Lock()
				l.ended(s)
				mu.Unlock()
			}
		})
	}
	return group.Wait()
}

// one runs a single orchestration.
func (l load[T]) one(ctx context.Context, instance string, n int) (Sample, error) {
	var input T
	if l.input != nil {
		input = l.input(n)
	}
	s := Sample{Started: time.Now()}
	run, err := client.Start(ctx, l.client, l.definition, instance, input)
	if err != nil {
		return s, err
	}
	_, err = run.Wait(ctx)
	s.Ended = time.Now()
	return s, err
}
