package taking

import (
	"sync"
)

// runners run work, each piece on a goroutine that is kept for the next one: a new goroutine's stack
// would have to grow first, which takes as long as the work of a short turn.
type runners struct {
	started *sync.WaitGroup
	// next hands work to a goroutine that has none.
	next chan func()
	// done ends the goroutines that have none.
	done <-chan struct{}
}

func newRunners(started *sync.WaitGroup, done <-chan struct{}) *runners {
	return &runners{started: started, next: make(chan func()), done: done}
}

// Go runs work beside its caller.
func (r *runners) Go(work func()) {
	select {
	case r.next <- work:
	default:
		r.started.Go(func() { r.run(work) })
	}
}

func (r *runners) run(work func()) {
	for {
		work()
		select {
		case work = <-r.next:
		case <-r.done:
			return
		}
	}
}
