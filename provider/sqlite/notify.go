package sqlite

import (
	"sync"

	"github.com/duroxide/duroxide-go/provider"
)

var _ provider.ChangeNotifier = (*Store)(nil)

// changeList holds the clients that wait for a change of an instance.
type changeList struct {
	mu sync.Mutex
	// channels are closed by the next change. A channel goes when nobody is left
	// who wants it, so that the map holds what is being waited for and no more.
	channels map[string]*change
}

// change is the next change of an instance, as its waiters see it.
type change struct {
	happened chan struct{}
	waiters  int
}

// InstanceChanged implements [provider.ChangeNotifier].
func (s *Store) InstanceChanged(instance string) (changed <-chan struct{}, stop func()) {
	return s.changes.await(instance)
}

func (l *changeList) await(instance string) (changed <-chan struct{}, stop func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	next := l.channels[instance]
	if next == nil {
		next = &change{happened: make(chan struct{})}
		if l.channels == nil {
			l.channels = map[string]*change{}
		}
		l.channels[instance] = next
	}
	next.waiters++
	return next.happened, sync.OnceFunc(func() { l.leave(instance, next) })
}

// leave takes a waiter off a change, which may have happened meanwhile.
func (l *changeList) leave(instance string, awaited *change) {
	l.mu.Lock()
	defer l.mu.Unlock()
	awaited.waiters--
	if awaited.waiters == 0 && l.channels[instance] == awaited {
		delete(l.channels, instance)
	}
}

// announce tells everybody who waits for one of the instances.
func (l *changeList) announce(instances []string) {
	if len(instances) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, instance := range instances {
		if next := l.channels[instance]; next != nil {
			delete(l.channels, instance)
			close(next.happened)
		}
	}
}
