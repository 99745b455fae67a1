package mssql

import (
	"sync"
	"time"
)

// While somebody reads old versions of rows, in a report that runs for minutes, the server keeps what has been taken
// from a queue since, and each fetch walks past it. Fetches that notice it by their time tell the next ones of this
// process from where they may look.
const (
	// slowLook is how long choosing takes at least when it walks past a great many rows that are gone; it is a few
	// milliseconds otherwise.
	slowLook = 50 * time.Millisecond
	// slowLooks is how many in a row must be slow: one may be because the machine is busy.
	slowLooks = 3
	// markedFor is how long marks are used since the last slow look.
	markedFor = 10 * time.Second
	// lookBack is how long a fetch may miss what another process has put before the mark, such as what it has given
	// back: then one looks from the beginning again.
	lookBack = time.Second
)

// marks are from where fetches of each kind look.
type marks struct {
	mu    sync.Mutex
	kinds map[string]*mark
}

type mark struct {
	slow      int       // looks in a row; the mark is used when they have been slowLooks
	from, due int64     // what was taken last, and until when all that was due has been made ready
	until     time.Time // from when on the mark is not used; zero if it never was
	next      time.Time // of the next look from the beginning
}

// from returns from where to look now; 0, 0 is from the beginning.
func (m *marks) from(kind string, now time.Time) (from, due int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.kinds[kind] // of a fetch without a kind there is none
	if k == nil || k.slow < slowLooks {
		return 0, 0
	}
	if !now.Before(k.until) {
		delete(m.kinds, kind)
		return 0, 0
	}
	if !now.Before(k.next) {
		k.next = now.Add(lookBack)
		return 0, 0
	}
	return k.from, k.due
}

// found is told what a fetch has taken, until when all that was due is ready, and how many milliseconds choosing it
// took.
func (m *marks) found(kind string, now time.Time, taken, due, ms int64) {
	took := time.Duration(ms) * time.Millisecond
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.kinds[kind]
	switch {
	case kind == "":
		return
	case took < slowLook && (k == nil || k.slow < slowLooks):
		delete(m.kinds, kind)
		return
	case k == nil:
		if m.kinds == nil {
			m.kinds = map[string]*mark{}
		}
		k = &mark{next: now.Add(lookBack)}
		m.kinds[kind] = k
	}
	if took >= slowLook {
		k.slow = min(k.slow+1, slowLooks)
		k.until = now.Add(markedFor)
	}
	k.from, k.due = max(k.from, taken), max(k.due, due)
}

// putBack is told that something has been made fetchable that may be before the marks: the next fetch of each kind
// looks from the beginning.
func (m *marks) putBack() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range m.kinds {
		k.next = time.Time{}
	}
}
