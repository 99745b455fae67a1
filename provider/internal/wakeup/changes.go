package wakeup

import (
	"maps"
	"slices"
	"sync"
)

// Changes holds the clients that wait for a change of an instance. The zero value has
// none.
type Changes struct {
	// Begun, if set, is called when somebody begins to wait where nobody did, without a lock held.
	Begun func()

	mu sync.Mutex
	// channels are closed by the next change. A channel goes when nobody is left
	// who wants it, so that the map holds what is being waited for and no more.
	channels map[string]*change
}

// change is the next change of an instance, as its waiters see it.
type change struct {
	happened chan struct{}
	waiters  int
	// what is what was told of it, before happened is closed.
	what any
}

// Await returns a channel that the next change of the instance closes. stop releases
// it and must be called, once or more; see [provider.Store].InstanceChanged.
func (c *Changes) Await(instance string) (changed <-chan struct{}, stop func()) {
	changed, _, stop = c.AwaitWhat(instance)
	return changed, stop
}

// AwaitWhat is Await. When changed is closed, what returns what was told of the change, nil for nothing.
func (c *Changes) AwaitWhat(instance string) (changed <-chan struct{}, what func() any, stop func()) {
	next, first := c.await(instance)
	if first && c.Begun != nil {
		c.Begun()
	}
	return next.happened, func() any { return next.what }, sync.OnceFunc(func() { c.leave(instance, next) })
}

// await adds a waiter, and reports whether it is the only one.
func (c *Changes) await(instance string) (next *change, first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	first = len(c.channels) == 0
	next = c.channels[instance]
	if next == nil {
		next = &change{happened: make(chan struct{})}
		if c.channels == nil {
			c.channels = map[string]*change{}
		}
		c.channels[instance] = next
	}
	next.waiters++
	return next, first
}

// leave takes a waiter off a change, which may have happened meanwhile.
func (c *Changes) leave(instance string, awaited *change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	awaited.waiters--
	if awaited.waiters == 0 && c.channels[instance] == awaited {
		delete(c.channels, instance)
	}
}

// Announce tells everybody who waits for one of the instances.
func (c *Changes) Announce(instances ...string) {
	if len(instances) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, instance := range instances {
		c.tell(instance, nil)
	}
}

// Tell is Announce of one instance, with what there is to say about the change.
func (c *Changes) Tell(instance string, what any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tell(instance, what)
}

// tell ends a change. The caller holds the lock.
func (c *Changes) tell(instance string, what any) {
	if next := c.channels[instance]; next != nil {
		delete(c.channels, instance)
		next.what = what
		close(next.happened)
	}
}

// Awaits reports whether somebody waits for the instance.
func (c *Changes) Awaits(instance string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.channels[instance] != nil
}

// Instances are those that somebody waits for.
func (c *Changes) Instances() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Keys(c.channels))
}

// Awaited is the number of instances that somebody waits for.
func (c *Changes) Awaited() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.channels)
}
