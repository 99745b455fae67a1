package worker

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/duroxide/duroxide-go/internal/sealed"
	"github.com/duroxide/duroxide-go/provider"
)

// heartbeatInterval is the least time between two heartbeats of an activity that are stored.
const heartbeatInterval = time.Second

// heartbeats are those of one call: its activity says them, and the store keeps the last.
type heartbeats struct {
	call *call
	// ctx is that of the calls to the store, which stop ends; nil before the first.
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

// onlyBegun is kept in the place of details of an activity that has said none, so that it is known
// to have begun. It is no JSON.
const onlyBegun = "begun"

// before are the details that this attempt begins with: those that the store has kept are later
// than those that the orchestration knows.
func (c *call) before() string {
	if kept := c.fetched.Heartbeat; kept != "" && kept != onlyBegun {
		return kept
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
	if h.armed || h.stopped || !h.unsent {
		return
	}
	if h.ctx == nil {
		h.ctx, h.cancel = context.WithCancel(h.call.ctx)
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
	c := h.call
	if !unsent {
		return
	}
	token := c.token()
	ctx, cancel := context.WithTimeout(ctx, c.worker.options.ActivityLockTimeout)
	defer cancel()
	text, err := sealed.Text(ctx, c.worker.options.Codec, details)
	if err == nil {
		err = c.worker.store.KeepHeartbeat(ctx, token, c.worker.options.ActivityLockTimeout, text)
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

// handBack stores what the store does not have, before the activity is given back. That it has
// begun matters if it had to begin in time.
func (h *heartbeats) handBack(ctx context.Context) {
	if h.call.item.StartTimeoutMs > 0 && h.call.fetched.Heartbeat == "" {
		h.mu.Lock()
		h.last, h.unsent = cmp.Or(h.last, onlyBegun), true
		h.mu.Unlock()
	}
	h.send(ctx)
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
	if h.cancel != nil {
		h.cancel()
	}
	h.mu.Unlock()
	h.calls.Wait()
}
