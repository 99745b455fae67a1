package worker

import (
	"container/list"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/duroxide/duroxide-go/codec"
	"github.com/duroxide/duroxide-go/internal/replay"
	"github.com/duroxide/duroxide-go/internal/sealed"
	"github.com/duroxide/duroxide-go/provider"
)

// cache holds the functions of instances between their turns, so that a turn goes on where
// the last one left its function, and needs only the events and messages since. A turn
// takes an entry out while it runs, and puts one back when its effects are committed. The
// entry used longest ago is evicted first.
type cache struct {
	logger *slog.Logger
	// maxEntries and maxBytes bound it; 0 is no limit of bytes.
	maxEntries, maxBytes int
	// forget, if not nil, is asked at each put whether the entry is evicted at once: for
	// tests.
	forget func() bool

	mu      sync.Mutex
	entries map[string]*list.Element
	// order holds *entry, the one used longest ago first.
	order list.List
	bytes int

	// ending are the functions that are being stopped, until ctx ends at the latest.
	ending sync.WaitGroup
	ctx    context.Context //nolint:containedctx // the functions' own, which close ends
	cancel context.CancelFunc
}

// entry is the suspended function of an instance.
type entry struct {
	instance string
	function *replay.Suspended
	bytes    int
}

func newCache(options settings) *cache {
	c := &cache{
		logger: options.Logger, maxEntries: options.CachedInstances, maxBytes: options.CachedBytes,
		entries: map[string]*list.Element{},
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// on reports whether anything is ever kept.
func (c *cache) on() bool { return c.maxEntries > 0 }

// held is [provider.FetchOrchestrationParams].Held.
func (c *cache) held(instance string, executionID uint64) (lastEventID uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries[instance]; ok {
		if function := e.Value.(*entry).function; function.ExecutionID() == executionID { //nolint:errcheck,forcetypeassert // only entries
			return function.LastEventID()
		}
	}
	return 0
}

// heldBeside is held for the turn that is taken beside the acknowledgement of this one. If it is of the same instance,
// this turn's function is in the cache when that turn begins.
func (t *turn) heldBeside(instance string, executionID uint64) (lastEventID uint64) {
	if f := t.suspended; f != nil && instance == t.item.Instance && executionID == f.ExecutionID() {
		return f.LastEventID()
	}
	return t.worker.cache.held(instance, executionID)
}

// take removes an instance's function and returns it, nil when there is none.
func (c *cache) take(instance string) *replay.Suspended {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries[instance]; ok {
		return c.remove(e).function
	}
	return nil
}

// remove is called with the lock held.
func (c *cache) remove(e *list.Element) *entry {
	removed := c.order.Remove(e).(*entry) //nolint:errcheck,forcetypeassert // only entries
	delete(c.entries, removed.instance)
	c.bytes -= removed.bytes
	return removed
}

// put keeps a function whose turn is committed, and evicts what is too much then.
func (c *cache) put(instance string, function *replay.Suspended) {
	if function == nil {
		return
	}
	added := &entry{instance: instance, function: function, bytes: function.Bytes()}
	for _, evicted := range c.add(added) {
		c.end(evicted.instance, evicted.function)
	}
}

// add returns what has no place, which may be the entry itself.
func (c *cache) add(added *entry) (evicted []*entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries[added.instance]; ok {
		// A slot that commits and one that has run the next turn meanwhile.
		there := e.Value.(*entry).function //nolint:errcheck,forcetypeassert // only entries
		if there.ExecutionID() == added.function.ExecutionID() && there.LastEventID() > added.function.LastEventID() {
			return []*entry{added}
		}
		evicted = append(evicted, c.remove(e))
	}
	if c.maxBytes > 0 && added.bytes > c.maxBytes || c.forget != nil && c.forget() {
		return append(evicted, added) // it would evict all others for nothing
	}
	c.entries[added.instance] = c.order.PushBack(added)
	c.bytes += added.bytes
	for c.order.Len() > c.maxEntries || c.maxBytes > 0 && c.bytes > c.maxBytes {
		evicted = append(evicted, c.remove(c.order.Front()))
	}
	return evicted
}

// end stops a function, nil for none. Its deferred calls may block, so nobody waits for it.
func (c *cache) end(instance string, function *replay.Suspended) {
	if function == nil {
		return
	}
	c.ending.Go(func() {
		if blocked := function.Stop(c.ctx); blocked != nil {
			logLingering(c.ctx, c.logger.With("instance_id", instance), blocked)
		}
	})
}

// close stops all functions, and waits for their deferred calls for that long.
func (c *cache) close(patience time.Duration) {
	c.mu.Lock()
	for c.order.Len() > 0 {
		last := c.remove(c.order.Front())
		c.end(last.instance, last.function)
	}
	c.mu.Unlock()
	timer := time.AfterFunc(patience, c.cancel)
	c.ending.Wait()
	timer.Stop()
	c.cancel()
}

// recall looks for the function that the turn can go on with, and makes the history whole:
// with what that function knows, or by reading it. An error is logged here and means that
// the turn must be tried again.
func (t *turn) recall(ctx context.Context) error {
	item, cached := t.item, t.worker.cache
	if function := cached.take(item.Instance); function != nil {
		if item.HistoryError == nil && function.ExecutionID() == item.ExecutionID {
			known := function.Events()
			if history, ok := function.Extend(item.HistoryFrom, item.History); ok {
				t.suspended, t.known = function, known
				item.History, item.HistoryFrom = history, 0
				return nil
			}
		}
		cached.end(item.Instance, function)
	}
	if item.HistoryFrom == 0 {
		return nil
	}
	return t.readWhole(ctx)
}

// errNoHistory says that a history went while its instance was locked: somebody has deleted
// the instance.
var errNoHistory = errors.New("the history is gone")

// readWhole reads a history of which the store left out the beginning.
func (t *turn) readWhole(ctx context.Context) error {
	history, err := t.worker.store.ReadWithExecution(ctx, t.item.Instance, t.item.ExecutionID)
	if err == nil && len(history) == 0 {
		err = errNoHistory
	}
	if err == nil {
		history, err = sealed.OpenEvents(ctx, t.worker.options.Codec, history)
	}
	t.item.History, t.item.HistoryFrom = history, 0
	switch {
	case errors.Is(err, provider.ErrCorrupt):
		t.item.History, t.item.KVSnapshot, t.item.HistoryError = nil, nil, err
	case errors.Is(err, codec.ErrNotDecoded):
		return err
	case err != nil:
		t.logger.WarnContext(ctx, "a history could not be read, the turn is tried again", "error", err)
		return err
	}
	return nil
}

// settled keeps the function for the next turn if this one was committed.
func (t *turn) settled() {
	if t.committed {
		t.worker.cache.put(t.item.Instance, t.suspended)
	} else {
		t.worker.cache.end(t.item.Instance, t.suspended)
	}
}
