// Package lock grants locks: resources with queues of granted and waiting requests, the modes of SQL Server with their
// compatibility, and the search for deadlocks.
//
// A [Manager] has all locks of a server. A session is a [Client], and holds its locks through owners: one for its
// transaction, one for itself, and one for each cursor that locks the row it is on. All of it runs under the
// scheduler's latch and waits only through the scheduler.
package lock

import (
	"context"
	"fmt"
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schedule"
)

// Duration says how long a request holds a lock. An owner may hold one lock for several durations at once: it goes, or
// becomes weaker, as they end.
type Duration uint8

// The durations.
const (
	Row         Duration = iota // while a row is looked at
	Statement                   // until the statement ends
	Transaction                 // until the transaction ends
	Session                     // until it is given back, or the session ends
	Change                      // while a row is changed, under optimized locking
	durations
)

// Instant is for a test: the lock is waited for and let go at once.
const Instant = durations

// Answer is what became of a request.
type Answer uint8

// The answers.
const (
	Granted Answer = iota // at once
	Waited                // granted after a wait
	Refused               // not free, and the request would not wait
)

// Request asks for a lock.
type Request struct {
	Resource Resource
	Mode     Mode
	Duration Duration
	NoWait   bool          // be refused instead of waiting
	Timeout  time.Duration // 0: error 1222 instead of waiting; negative: no limit
	For      Resource      // of an Xact: the key whose row the transaction has changed
	ForMode  Mode          // in which that key is to be locked
}

// Client is a session, as the lock manager sees it.
type Client struct {
	ID       schedule.ID
	Priority int           // of SET DEADLOCK_PRIORITY
	Cost     func() int64  // how much a rollback would have to undo; nil: nothing
	Label    func() string // what the session is doing, for the description of a deadlock; nil: unknown

	waiting *Hold     // what the session waits for
	began   time.Time // when that wait began, by Manager.Now
	brief   bool      // that wait is over before SQL Server would look for deadlocks
	parked  bool      // it is in the scheduler's Park, and nobody has woken it
	victim  bool      // it was chosen to end a deadlock while it waited
	since   uint64    // counts waits
	seen    uint64    // the last search for deadlocks that came here
}

// OwnerKind is what an owner stands for.
type OwnerKind uint8

// The kinds of owners.
const (
	ByTransaction OwnerKind = iota
	BySession
	ByCursor
)

// Owner is on whose behalf a session holds locks. Owners of one session never wait for each other.
type Owner struct {
	Client *Client
	Kind   OwnerKind
	first  *Hold // in the order of asking
	last   *Hold
	count  int
	asked  uint64 // how many resources it has ever asked for
}

// Count is how many resources the owner has locked.
func (o *Owner) Count() int { return o.count }

// Mark is a place in the order in which an owner has asked for locks.
type Mark uint64

// Mark is the present place.
func (o *Owner) Mark() Mark { return Mark(o.asked) }

// Since calls f for each resource that the owner has locked since a place, the last one first. f may release it.
func (o *Owner) Since(m Mark, f func(h *Hold)) {
	for h := o.last; h != nil && h.number > uint64(m); {
		prev := h.prev
		f(h)
		h = prev
	}
}

// Hold is a resource that an owner has locked or waits for. It is valid until its last duration ends.
type Hold struct {
	owner      *Owner
	queue      *queue
	granted    bool // false for a newcomer that waits
	mode       Mode
	wants      Mode // what mode will be once the request that waits is granted
	asks       Mode // Request.Mode of that request
	counts     [durations]int32
	byDuration [durations]Mode // mode is the supremum of these
	prev, next *Hold           // of the owner
	number     uint64          // its place in the order of asking
	escalated  bool            // it stands for locks that were given back for it
	behind     Resource        // Request.For of a request that waits
	behindMode Mode            // Request.ForMode of it
}

// Mode is the granted mode.
func (h *Hold) Mode() Mode { return h.mode }

// After reports whether the lock goes when those go that were asked for since a place.
func (h *Hold) After(m Mark) bool { return h.number > uint64(m) && !h.escalated }

// Lasts reports whether the lock is held for a duration.
func (h *Hold) Lasts(d Duration) bool { return h.counts[d] > 0 }

// Escalated says that the lock stands for others that were given back for it.
func (h *Hold) Escalated() { h.escalated = true }

// Resource is what is locked.
func (h *Hold) Resource() Resource { return h.queue.resource }

// Manager has all locks of a server.
type Manager struct {
	// Preempt makes every request a scheduling point, for tests that try all interleavings.
	Preempt bool
	// Now is the clock by which waits begin; nil for none.
	Now func() time.Time
	// Observer is told of what is granted, refused and given back; nil for nobody.
	Observer schedule.Observer

	// Name is what resources are called in deadlocks; nil for nothing.
	Name func(r Resource) string
	// Tell is told of each deadlock; nil for nobody.
	Tell func(d Deadlock)

	scheduler   schedule.Scheduler
	queues      map[Resource]*queue
	ranges      int     // range locks that are held
	pauses      uint64  // how often a request has let others run
	asked       Request // of the last scheduling point
	waits       uint64
	searches    uint64
	deadlocks   []Deadlock
	spareHolds  *Hold // linked by next
	spares      int   // how many these are
	spareQueues []*queue
	idle        []*queue // at most maxIdle; some may be in use again
}

// NewManager returns a manager without locks. Sessions wait through s.
func NewManager(s schedule.Scheduler) *Manager {
	return &Manager{scheduler: s, queues: make(map[Resource]*queue)}
}

// Acquire asks for a lock. The errors are 1222 (not granted in time), 1205 (the victim of a deadlock), and the
// context's. The hold is nil if the request was refused, failed, or was an instant one.
func (m *Manager) Acquire(ctx context.Context, o *Owner, r *Request) (*Hold, Answer, error) {
	if m.Preempt {
		m.pauses++
		m.asked = *r
		m.scheduler.Yield(o.Client.ID, schedule.Point{Kind: "lock", Of: &m.asked})
	}
	q := m.queues[r.Resource]
	if q == nil {
		if r.Duration == Instant {
			m.looked(r)
			return nil, Granted, nil
		}
		q = m.newQueue(r.Resource)
		h := m.newHold(o, q)
		m.grant(q, h, r.Mode)
		m.count(h, r)
		return h, Granted, nil
	}
	h := q.of(o)
	want := r.Mode
	if h != nil {
		want = suprema[h.mode][r.Mode]
		if want == h.mode {
			return m.count(h, r), Granted, nil
		}
	}
	if q.admits(o.Client, h, want) {
		if r.Duration == Instant {
			m.looked(r)
			return nil, Granted, nil
		}
		if h == nil {
			h = m.newHold(o, q)
		}
		m.grant(q, h, want)
		return m.count(h, r), Granted, nil
	}
	if r.NoWait || r.Timeout == 0 {
		m.refused(q, want)
		if r.NoWait {
			return nil, Refused, nil
		}
		return nil, Refused, fault.New(1222)
	}
	if h == nil {
		h = m.newHold(o, q)
		q.newcomers = append(q.newcomers, h)
	} else {
		q.conversions = append(q.conversions, h)
	}
	h.wants, h.asks, h.behind, h.behindMode = want, r.Mode, r.For, r.ForMode
	if err := m.wait(ctx, h, r.Timeout); err != nil {
		return nil, Waited, err
	}
	if r.Duration == Instant {
		m.settle(h)
		return nil, Waited, nil
	}
	return m.count(h, r), Waited, nil
}

// count notes that a granted request holds its lock as long as its duration.
func (m *Manager) count(h *Hold, r *Request) *Hold {
	d := r.Duration
	if d == Instant {
		return nil
	}
	h.counts[d]++
	before := h.byDuration[d]
	h.byDuration[d] = suprema[before][r.Mode]
	return h
}

// wait parks the session until its request is granted. On an error the request is gone, and h with it if it was a
// newcomer's.
func (m *Manager) wait(ctx context.Context, h *Hold, timeout time.Duration) error {
	c := h.owner.Client
	at := point(h.queue.resource, h.wants)
	m.changed(h.queue, h.wants)
	m.changedWaits()
	m.waits++
	c.waiting, c.since, c.brief = h, m.waits, timeout >= 0 && timeout < searchInterval
	if m.Now != nil {
		c.began = m.Now()
	}
	m.breakDeadlocks(c)
	for c.waiting != nil {
		c.parked = true
		m.pauses++
		outcome := m.scheduler.Park(ctx, c.ID, at, timeout)
		c.parked = false
		if c.waiting == nil || outcome == schedule.Woken {
			continue
		}
		if outcome == schedule.TimedOut {
			m.noteTimedOut(c)
			m.giveUp(h)
			return fault.New(1222)
		}
		m.giveUp(h)
		return fmt.Errorf("wait for a lock: %w", context.Cause(ctx))
	}
	if c.victim {
		c.victim = false
		return fault.New(1205, int32(c.ID), "lock")
	}
	return nil
}

// giveUp ends a request that waits, and grants what waited behind it.
func (m *Manager) giveUp(h *Hold) {
	q := h.queue
	q.forget(h)
	m.changed(q, h.wants)
	m.changedWaits()
	h.owner.Client.waiting = nil
	if h.granted {
		h.wants = NL
	} else {
		m.freeHold(h)
	}
	m.leave(q)
}

// settle makes the mode of a granted hold what its durations ask for, and lets it go if it has none.
func (m *Manager) settle(h *Hold) {
	mode, held := NL, false
	for d, n := range h.counts {
		if n > 0 {
			held = true
			mode = suprema[mode][h.byDuration[d]]
		}
	}
	q := h.queue
	switch {
	case !held:
		m.drop(q, h)
		m.freeHold(h)
	case mode == h.mode:
		return
	default:
		m.change(q, h, mode)
	}
	m.leave(q)
}

// leave grants what has become free.
func (m *Manager) leave(q *queue) {
	if len(q.conversions)+len(q.newcomers) > 0 {
		m.pump(q)
	} else if len(q.holds) == 0 {
		m.rest(q)
	}
}

// Release ends one request of a duration.
func (m *Manager) Release(h *Hold, d Duration) {
	h.counts[d]--
	if h.counts[d] > 0 {
		return
	}
	h.byDuration[d] = NL
	m.settle(h)
}

// ReleaseTransaction ends all requests for the transaction's duration, as a rollback to a savepoint does. A lock that
// has been escalated stays.
func (m *Manager) ReleaseTransaction(h *Hold) {
	if h.escalated || h.counts[Transaction] == 0 {
		return
	}
	h.counts[Transaction], h.byDuration[Transaction] = 0, NL
	m.settle(h)
}

// Lengthen makes one request of a duration last as long as another.
func (m *Manager) Lengthen(h *Hold, from, to Duration) {
	if from == to {
		return
	}
	h.counts[to]++
	h.byDuration[to] = suprema[h.byDuration[to]][h.byDuration[from]]
	h.counts[from]--
	if h.counts[from] == 0 {
		h.byDuration[from] = NL
	}
}

// ReleaseAll ends all requests of an owner.
func (m *Manager) ReleaseAll(o *Owner) {
	for h := o.first; h != nil; {
		next := h.next
		q := h.queue
		m.drop(q, h)
		m.freeHold(h)
		m.leave(q)
		h = next
	}
}

// Held is the mode in which the owner has locked the resource; NL if it has not.
func (m *Manager) Held(o *Owner, r Resource) Mode {
	if h := m.Find(o, r); h != nil {
		return h.mode
	}
	return NL
}

// Find returns what the owner holds of the resource; nil if nothing.
func (m *Manager) Find(o *Owner, r Resource) *Hold {
	q := m.queues[r]
	if q == nil {
		return nil
	}
	return q.of(o)
}

// Busy reports whether somebody but the owner has locked the resource. A range lock of the owner's own counts too if
// ranges is true. The owner may be nil.
func (m *Manager) Busy(r Resource, but *Owner, ranges bool) bool {
	q := m.queues[r]
	if q == nil {
		return false
	}
	for _, h := range q.holds {
		if h.owner != but || ranges && h.mode.IsRange() {
			return true
		}
	}
	return false
}

// Free reports whether nobody but the session has locked the resource in a mode that conflicts with one.
func (m *Manager) Free(c *Client, r Resource, mode Mode) bool {
	m.looked(&Request{Resource: r, Mode: mode})
	q := m.queues[r]
	return q == nil || q.free(c, mode)
}

// Ranges reports whether anybody has a range lock.
func (m *Manager) Ranges() bool { return m.ranges > 0 }

// Pauses counts how often a request has let other sessions run.
func (m *Manager) Pauses() uint64 { return m.pauses }

// Intends reports whether the mode on an object only says what is done to its parts, or that it is in use.
func (m Mode) Intends() bool { return m == IS || m == IU || m == IX || m == SchS }

// point is the scheduling point of a request.
func point(r Resource, m Mode) schedule.Point {
	return schedule.Point{Kind: "lock", What: m.String() + " " + r.String()}
}
