// Package lifecycle closes what many goroutines call: a store. Calls that come too late
// are refused, waits end, and what is under way may finish before anything is released.
package lifecycle

import "sync"

// Calls are the calls on something that can be closed. The zero value is open and has
// none.
type Calls struct {
	mu       sync.Mutex
	underWay sync.WaitGroup
	closed   bool
	// closing is made when somebody asks for it; see Closing.
	closing chan struct{}

	once sync.Once
	err  error
}

// Enter counts a call in, unless Close has begun. Each that returns true is followed by
// [Calls.Leave].
func (c *Calls) Enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.underWay.Add(1)
	return true
}

// Leave counts a call out.
func (c *Calls) Leave() { c.underWay.Done() }

// Go runs f in a goroutine that Close waits for, as it does for a call. Only a call may
// do that: one that has entered and not left.
func (c *Calls) Go(f func()) { c.underWay.Go(f) }

// Closing returns a channel that is closed when Close begins, for waits to end by. It
// is the same one each time.
func (c *Calls) Closing() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.channel()
}

// channel is Closing for a caller that has the lock.
func (c *Calls) channel() chan struct{} {
	if c.closing == nil {
		c.closing = make(chan struct{})
	}
	return c.closing
}

// IsClosing reports whether Close has begun.
func (c *Calls) IsClosing() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// Close refuses calls from now on, ends waits, and when all calls have left runs
// release, once. Whoever closes again waits as well, and gets the same error.
func (c *Calls) Close(release func() error) error {
	c.once.Do(func() {
		c.mu.Lock()
		c.closed = true
		close(c.channel())
		c.mu.Unlock()
		c.underWay.Wait()
		c.err = release()
	})
	return c.err
}
