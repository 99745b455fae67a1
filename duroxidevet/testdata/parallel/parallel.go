// Package parallel has orchestrations with goroutines, channels and locks.
package parallel

import (
	"iter"
	"reflect"
	"sync"

	"github.com/duroxide/duroxide-go/orchestration"
)

type shared struct{ sync.Mutex }

func bad(ctx *orchestration.Context, items []string) (int, error) {
	results := make(chan int, 1)
	go func() { results <- len(items) }() // want `a goroutine runs beside the orchestration in an order that no replay repeats; use orchestration.Go or orchestration.Map`
	go wait(ctx)                          // want `another goroutine uses the orchestration's context; use orchestration.Go or orchestration.Map`
	results <- 1                          // want `a send may block on another goroutine`
	n := <-results                        // want `a receive may block on another goroutine; use orchestration.NewChannel between blocks, and an orchestration.Event or Queue`
	for range results {                   // want `a loop over a channel waits for another goroutine`
	}
	select { // want `select waits for channels`
	case n = <-results:
		<-results // want `a receive may block`
	case results <- 2:
	default:
	}
	var mu sync.Mutex
	mu.Lock() // want `sync.Mutex.Lock may block on another goroutine; leave it out: only one block of an orchestration runs at a time`
	mu.Unlock()
	var rw sync.RWMutex
	rw.RLock() // want `sync.RWMutex.RLock may block`
	rw.RUnlock()
	var s shared
	s.Lock() // want `sync.Mutex.Lock may block`
	var group sync.WaitGroup
	group.Go(func() {}) // want `sync.WaitGroup.Go starts a goroutine, whose order no replay repeats; use orchestration.Go or orchestration.Map`
	group.Wait()        // want `sync.WaitGroup.Wait may block on another goroutine; use orchestration.WaitGroup`
	var once sync.Once
	once.Do(func() {})                                                // want `sync.Once.Do runs once in a process, and not again in a replay`
	_, _, _ = reflect.Select(nil)                                     // want `reflect.Select may block`
	next, stop := iter.Pull(func(yield func(int) bool) { wait(ctx) }) // want `iter.Pull runs the iterator in another goroutine, which uses the orchestration's context`
	_, _ = next()
	stop()
	return n, nil
}

func wait(ctx *orchestration.Context) {}

// good runs blocks. A variable that they share needs no lock.
func good(ctx *orchestration.Context, items []string) (int, error) {
	done := 0
	_, err := orchestration.Map(ctx, items, 2, func(ctx *orchestration.Context, item string) (int, error) {
		done++
		return len(item), nil
	})
	next, stop := iter.Pull(func(yield func(int) bool) { yield(1) })
	defer stop()
	_, _ = next()
	return done, err
}
