package lock

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/server/schedule"
)

// Deadlock describes a circle of sessions that waited for each other.
type Deadlock struct {
	Victim  schedule.ID
	Members []Member // each waits for the next one, the last one for the first
	// TimedOut says that the victim's LOCK_TIMEOUT has ended the circle, with error 1222 instead of 1205.
	TimedOut bool
}

// Member is a session in a deadlock.
type Member struct {
	Session  schedule.ID
	Label    string // what it was doing, if its Client says so
	Priority int
	Cost     int64
	Resource Resource    // what it waited for
	Name     string      // of the resource, as Manager.Name has it
	For      Resource    // of an Xact: the key whose row the transaction has changed
	ForName  string      // of that key
	Had      Mode        // what it had of it; NL for a newcomer
	Asked    Mode        // what it asked for
	Wanted   Mode        // what it would have had of it then
	Blocker  schedule.ID // the next member
	Blocking Mode        // what the blocker had of it, or wanted if Queued
	Queued   bool        // the blocker only waited for it too, further ahead
}

// String tells the deadlock, a line for each member.
func (d Deadlock) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "deadlock, victim %d", d.Victim)
	if d.TimedOut {
		b.WriteString(", whose LOCK_TIMEOUT was over")
	}
	for _, m := range d.Members {
		fmt.Fprintf(&b, "\n  session %d", m.Session)
		if m.Label != "" {
			fmt.Fprintf(&b, " at %s", m.Label)
		}
		fmt.Fprintf(&b, " waits for %v on %v", m.Wanted, m.Resource)
		if m.For.Kind != 0 {
			fmt.Fprintf(&b, " for %v", m.For)
		}
		if m.Had != NL {
			fmt.Fprintf(&b, ", of which it has %v", m.Had)
		}
		does := "has"
		if m.Queued {
			does = "waits for"
		}
		fmt.Fprintf(&b, "; session %d %s %v", m.Blocker, does, m.Blocking)
	}
	return b.String()
}

// keptDeadlocks is how many deadlocks are remembered.
const keptDeadlocks = 64

// searchInterval is how often SQL Server looks for deadlocks, as long as it finds none. Here a session looks when it
// begins to wait, and nobody has to wait for the search. But a circle in which somebody's LOCK_TIMEOUT is shorter is
// left to that: SQL Server ends it with error 1222 before it looks.
const searchInterval = 5 * time.Second

// Deadlocks are the last deadlocks, the oldest first: those that a victim has ended, and those that a LOCK_TIMEOUT has.
func (m *Manager) Deadlocks() []Deadlock { return append([]Deadlock(nil), m.deadlocks...) }

// edge says that a request waits for another one, granted or waiting further ahead.
type edge struct{ waits, blocks *Hold }

// breakDeadlocks ends requests until the session that begins to wait is in no circle.
func (m *Manager) breakDeadlocks(c *Client) {
	for c.waiting != nil && !c.brief {
		m.searches++
		circle := m.circle(c, c, nil, false)
		if circle == nil {
			return
		}
		victim := circle[0].waits.owner.Client
		for _, e := range circle[1:] {
			if other := e.waits.owner.Client; other.dispensable(victim) {
				victim = other
			}
		}
		m.describe(circle, victim, false)
		victim.victim = true
		m.giveUp(victim.waiting)
		m.rouse(victim)
	}
}

// noteTimedOut remembers the circle that a session was in when its LOCK_TIMEOUT was over.
func (m *Manager) noteTimedOut(c *Client) {
	m.searches++
	if circle := m.circle(c, c, nil, true); circle != nil {
		m.describe(circle, c, true)
	}
}

// circle looks for a way from the session at back to start. Every new circle goes through the session that has just
// begun to wait, so looking from there is enough. Without all, it leaves those out whose wait is a brief one.
func (m *Manager) circle(at, start *Client, way []edge, all bool) []edge {
	h := at.waiting
	var found []edge
	h.blockers(func(b *Hold) bool {
		next := b.owner.Client
		if next == start {
			found = slices.Concat(way, []edge{{h, b}})
			return false
		}
		if next.waiting == nil || next.brief && !all || next.seen == m.searches {
			return true
		}
		next.seen = m.searches
		found = m.circle(next, start, append(way, edge{h, b}), all)
		return found == nil
	})
	return found
}

// blockers calls f for each request that h waits for, until f returns false.
func (h *Hold) blockers(f func(*Hold) bool) {
	q, c, against := h.queue, h.owner.Client, conflicts[h.wants]
	for _, b := range q.holds {
		if against&b.mode.set() != 0 && b.owner.Client != c && !f(b) {
			return
		}
	}
	if h.granted {
		return // a conversion waits for nobody who waits
	}
	for _, b := range q.conversions {
		if against&b.wants.set() != 0 && !f(b) {
			return
		}
	}
	for _, b := range q.newcomers {
		if b == h {
			return
		}
		if against&b.wants.set() != 0 && !f(b) {
			return
		}
	}
}

// dispensable reports whether c is a better victim than the other: by priority, then by what a rollback costs, then
// the one that began to wait last.
func (c *Client) dispensable(than *Client) bool {
	if c.Priority != than.Priority {
		return c.Priority < than.Priority
	}
	if a, b := c.cost(), than.cost(); a != b {
		return a < b
	}
	return c.since > than.since
}

func (c *Client) cost() int64 {
	if c.Cost == nil {
		return 0
	}
	return c.Cost()
}

func (m *Manager) describe(circle []edge, victim *Client, timedOut bool) {
	d := Deadlock{Victim: victim.ID, TimedOut: timedOut}
	for _, e := range circle {
		c := e.waits.owner.Client
		member := Member{
			Session: c.ID, Priority: c.Priority, Cost: c.cost(),
			Resource: e.waits.queue.resource, For: e.waits.behind,
			Had: e.waits.mode, Asked: e.waits.asks, Wanted: e.waits.wants,
			Blocker: e.blocks.owner.Client.ID, Blocking: e.blocks.mode,
		}
		if conflicts[e.waits.wants]&e.blocks.mode.set() == 0 || !e.blocks.granted {
			member.Blocking, member.Queued = e.blocks.wants, true
		}
		if m.Name != nil {
			member.Name = m.Name(member.Resource)
			if member.For.Kind != 0 {
				member.ForName = m.Name(member.For)
			}
		}
		if c.Label != nil {
			member.Label = c.Label()
		}
		d.Members = append(d.Members, member)
	}
	if len(m.deadlocks) == keptDeadlocks {
		m.deadlocks = append(m.deadlocks[:0], m.deadlocks[1:]...)
	}
	m.deadlocks = append(m.deadlocks, d)
	if m.Tell != nil {
		m.Tell(d)
	}
}
