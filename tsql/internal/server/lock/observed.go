package lock

import "github.com/duroxide/duroxide-go/tsql/internal/server/schedule"

// The observer is told of resources as things, and of modes as the ways in which they change. Modes that are compatible
// may be granted and given back in any order.

func (m *Manager) changed(q *queue, mode Mode) {
	if m.Observer != nil && mode != NL {
		m.Observer.Changed(q.number(), uint8(mode), uint32(conflicts[mode]))
	}
}

// changedWaits says that somebody begins or ends to wait. Who begins last may be the victim of a deadlock.
func (m *Manager) changedWaits() {
	if m.Observer != nil {
		m.Observer.Changed(schedule.Waits, 0, schedule.Always)
	}
}

func (m *Manager) looked(r *Request) {
	if m.Observer != nil {
		m.Observer.Looked(schedule.Thing(r.Resource), uint32(conflicts[r.Mode]))
	}
}

func (m *Manager) refused(q *queue, want Mode) {
	if m.Observer != nil {
		m.Observer.Refused(q.number(), uint32(conflicts[want]))
	}
}

// number is the resource as a thing.
func (q *queue) number() uint64 {
	if q.thing == 0 {
		q.thing = schedule.Thing(q.resource)
	}
	return q.thing
}
