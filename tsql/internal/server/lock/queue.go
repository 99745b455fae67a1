package lock

import "slices"

// queue is what is granted of a resource and who waits for it. Conversions go before newcomers.
type queue struct {
	resource    Resource
	holds       []*Hold // granted; those in conversions too
	counts      [modes]int32
	granted     set // the modes that have a count
	conversions []*Hold
	newcomers   []*Hold
	idle        bool   // in Manager.idle
	thing       uint64 // what number returns; 0 if nobody has asked
}

// of returns what an owner has been granted.
func (q *queue) of(o *Owner) *Hold {
	for _, h := range q.holds {
		if h.owner == o {
			return h
		}
	}
	return nil
}

// admits reports whether a request for a mode can be granted at once. h is what its owner has been granted: then it is
// a conversion, which goes before all that wait. A newcomer goes before others that wait only if it is in nobody's way.
func (q *queue) admits(c *Client, h *Hold, want Mode) bool {
	if !q.free(c, want) {
		return false
	}
	if h != nil {
		return true
	}
	return !slices.ContainsFunc(q.conversions, func(w *Hold) bool { return !Compatible(want, w.wants) }) &&
		!slices.ContainsFunc(q.newcomers, func(w *Hold) bool { return !Compatible(want, w.wants) })
}

// free reports whether a mode is compatible with what other sessions have been granted.
func (q *queue) free(c *Client, want Mode) bool {
	against := conflicts[want]
	if q.granted&against == 0 {
		return true
	}
	for _, h := range q.holds {
		if against&h.mode.set() != 0 && h.owner.Client != c {
			return false
		}
	}
	return true
}

// grant gives a hold a mode. It joins the granted ones if it is new.
func (m *Manager) grant(q *queue, h *Hold, mode Mode) {
	if h.granted {
		m.change(q, h, mode)
		return
	}
	q.holds = append(q.holds, h)
	m.tally(q, mode, 1)
	h.granted, h.mode = true, mode
}

func (m *Manager) change(q *queue, h *Hold, mode Mode) {
	m.tally(q, h.mode, -1)
	m.tally(q, mode, 1)
	h.mode = mode
}

func (m *Manager) drop(q *queue, h *Hold) {
	m.tally(q, h.mode, -1)
	q.holds = remove(q.holds, h)
}

func (m *Manager) tally(q *queue, mode Mode, n int32) {
	q.counts[mode] += n
	m.changed(q, mode)
	if q.counts[mode] > 0 {
		q.granted |= mode.set()
	} else {
		q.granted &^= mode.set()
	}
	if mode.IsRange() {
		m.ranges += int(n)
	}
}

// forget takes a request out of those that wait.
func (q *queue) forget(h *Hold) {
	q.conversions = remove(q.conversions, h)
	q.newcomers = remove(q.newcomers, h)
}

func remove(holds []*Hold, h *Hold) []*Hold {
	if i := slices.Index(holds, h); i >= 0 {
		return slices.Delete(holds, i, i+1)
	}
	return holds
}

// pump grants what has become free, in order, and wakes whoever waited for it.
func (m *Manager) pump(q *queue) {
	var ahead set // modes that somebody further ahead waits for
	waiting := q.conversions[:0]
	for _, h := range q.conversions {
		if q.free(h.owner.Client, h.wants) {
			m.wake(q, h)
			continue
		}
		ahead |= h.wants.set()
		waiting = append(waiting, h)
	}
	clear(q.conversions[len(waiting):])
	q.conversions = waiting

	waiting = q.newcomers[:0]
	for _, h := range q.newcomers {
		if conflicts[h.wants]&ahead == 0 && q.free(h.owner.Client, h.wants) {
			m.wake(q, h)
			continue
		}
		ahead |= h.wants.set()
		waiting = append(waiting, h)
	}
	clear(q.newcomers[len(waiting):])
	q.newcomers = waiting
}

func (m *Manager) wake(q *queue, h *Hold) {
	m.grant(q, h, h.wants)
	h.wants = NL
	m.rouse(h.owner.Client)
}

// rouse ends a session's wait. A session that is only about to wait is not woken: the signal would reach what it waits
// for next.
func (m *Manager) rouse(c *Client) {
	c.waiting = nil
	if c.parked {
		m.scheduler.Unpark(c.ID)
	}
}

func (m *Manager) newQueue(r Resource) *queue {
	var q *queue
	if n := len(m.spareQueues); n > 0 {
		q = m.spareQueues[n-1]
		m.spareQueues = m.spareQueues[:n-1]
	} else {
		q = &queue{holds: make([]*Hold, 0, 2)}
	}
	q.resource, q.thing = r, 0
	m.queues[r] = q
	return q
}

// maxIdle is how many resources are remembered though nobody has locked them. Most are soon locked again, tables above
// all, and to forget one and to make it anew takes longer than the lock.
const maxIdle = 256

// rest notes that nobody has locked a resource or waits for it, and forgets those that have been so for long.
func (m *Manager) rest(q *queue) {
	if q.idle {
		return
	}
	q.idle = true
	m.idle = append(m.idle, q)
	if len(m.idle) <= maxIdle {
		return
	}
	for _, q := range m.idle {
		q.idle = false
		if q.empty() {
			delete(m.queues, q.resource)
			q.resource = Resource{}
			if len(m.spareQueues) < maxSpare {
				m.spareQueues = append(m.spareQueues, q)
			}
		}
	}
	clear(m.idle)
	m.idle = m.idle[:0]
}

func (q *queue) empty() bool { return len(q.holds)+len(q.conversions)+len(q.newcomers) == 0 }

// maxSpare bounds what one large transaction leaves behind for others to use.
const maxSpare = 4096

func (m *Manager) newHold(o *Owner, q *queue) *Hold {
	h := m.spareHolds
	if h == nil {
		h = new(Hold)
	} else {
		m.spareHolds = h.next
		m.spares--
		h.next = nil
	}
	o.asked++
	h.owner, h.queue, h.number = o, q, o.asked
	h.prev = o.last
	if o.last != nil {
		o.last.next = h
	} else {
		o.first = h
	}
	o.last = h
	o.count++
	return h
}

func (m *Manager) freeHold(h *Hold) {
	o := h.owner
	if h.prev != nil {
		h.prev.next = h.next
	} else {
		o.first = h.next
	}
	if h.next != nil {
		h.next.prev = h.prev
	} else {
		o.last = h.prev
	}
	o.count--
	*h = Hold{}
	if m.spares < maxSpare {
		h.next = m.spareHolds
		m.spareHolds = h
		m.spares++
	}
}
