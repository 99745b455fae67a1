package worker

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/duroxide/duroxide-go/internal/observed"
	"github.com/duroxide/duroxide-go/internal/sealed"
	"github.com/duroxide/duroxide-go/provider"
)

// heartbeatInterval is the least time between two heartbeats of an activity that are stored.
const heartbeatInterval = time.Second

// heartbeats are those of one call: its activity says them, and the store keeps the last, if it
// is a [provider.HeartbeatKeeper].
type heartbeats struct {
	call *call
	// keep is nil for a store that keeps none.
	keep provider.HeartbeatKeeper
	// ctx is that of the calls to the store, which stop ends.
	ctx    context.Context //nolint:containedctx // as above
	cancel context.CancelFunc
	calls  sync.WaitGroup

	mu sync.Mutex
	// last are the details of the last heartbeat, of this attempt or of one before it; "" for
	// none.
	last string
	// unsent means that the store does not have them.
	unsent bool
	// next is when the next may be stored, and armed that it is being waited for or stored.
	next    time.Time
	armed   bool
	timer   *time.Timer
	stopped bool
}

// newHeartbeats begins with the details of the attempts before this one.
func newHeartbeats(ctx context.Context, c *call) *heartbeats {
	h := &heartbeats{call: c, last: c.before()}
	if keep, ok := observed.As[provider.HeartbeatKeeper](c.worker.store); ok {
		h.keep = keep
	}
	h.ctx, h.cancel = context.WithCancel(ctx)
	return h
}

// before are the details that this attempt begins with: those that the store has kept are later
// than those that the orchestration knows.
func (c *call) before() string {
	if c.fetched.Heartbeat != "" {
		return c.fetched.Heartbeat
	}
	return c.item.Heartbeat
}

// beat is told the details of a heartbeat.
func (h *heartbeats) beat(details string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last, h.unsent = details, true
	h.arm()
}

// arm has the details stored when it is time. The caller has the mutex.
func (h *heartbeats) arm() {
	if h.keep == nil || h.armed || h.stopped || !h.unsent {
		return
	}
	h.armed = true
	h.calls.Add(1)
	h.timer = time.AfterFunc(time.Until(h.next), func() {
		defer h.calls.Done()
		h.mu.Lock()
		h.next = time.Now().Add(heartbeatInterval)
		h.mu.Unlock()
		h.send(h.ctx)
		h.mu.Lock()
		defer h.mu.Unlock()
		h.armed = false
		h.arm()
	})
}

// send stores the last details, if the store does not have them. Trouble may pass until the next
// time; that the lease is lost ends the call, as by a renewal.
func (h *heartbeats) send(ctx context.Context) {
	h.mu.Lock()
	details, unsent := h.last, h.unsent
	h.unsent = false
	h.mu.Unlock()
	if !unsent || h.keep == nil {
		return
	}
	c := h.call
	token := c.token()
	ctx, cancel := context.WithTimeout(ctx, c.worker.options.ActivityLockTimeout)
	defer cancel()
	text, err := sealed.Text(ctx, c.worker.options.Codec, details)
	if err == nil {
		err = h.keep.KeepHeartbeat(ctx, token, c.worker.options.ActivityLockTimeout, text)
	}
	switch {
	case err == nil:
	case errors.Is(err, provider.ErrInvalidLockToken):
		c.lose(token)
	case errors.Is(err, provider.ErrInvalidArgument): // as the codec has made them too long
		c.logger.WarnContext(ctx, "the details of a heartbeat are not stored", "error", err)
	default:
		h.mu.Lock()
		h.unsent = true
		h.mu.Unlock()
	}
}

// details are those of the last heartbeat, of this attempt or of one before it.
func (c *call) details() string {
	if c.beats == nil {
		return c.before()
	}
	c.beats.mu.Lock()
	defer c.beats.mu.Unlock()
	return c.beats.last
}

// stop ends the calls to the store. What is said from now on counts only if somebody sends it.
func (h *heartbeats) stop() {
	h.mu.Lock()
	h.stopped = true
	if h.timer != nil && h.timer.Stop() {
		h.calls.Done()
	}
	h.mu.Unlock()
	h.cancel()
	h.calls.Wait()
}
