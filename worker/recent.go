package worker

import (
	"maps"
	"slices"
	"sync"
)

// maxRecent bounds what a [recent] holds to twice that many entries.
const maxRecent = 10_000

// workKey is a piece of work across its fetches: an activity, or with activity 0 an
// instance's turns.
type workKey struct {
	instance            string
	execution, activity uint64
}

// recent remembers something about the work it was used for last, so that a worker that
// runs for years holds no more than a bounded part. It is safe for concurrent use.
type recent[V any] struct {
	mu         sync.Mutex
	young, old map[workKey]V
}

// update replaces what is remembered, the zero value if nothing is, and returns it.
func (r *recent[V]) update(key workKey, change func(V) V) V {
	r.mu.Lock()
	defer r.mu.Unlock()
	value, ok := r.young[key]
	if !ok {
		value = r.old[key]
		if r.young == nil || len(r.young) >= maxRecent {
			r.young, r.old = map[workKey]V{}, r.young
		}
		delete(r.old, key)
	}
	value = change(value)
	r.young[key] = value
	return value
}

// get returns what is remembered.
func (r *recent[V]) get(key workKey) (value V, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if value, ok = r.young[key]; !ok {
		value, ok = r.old[key]
	}
	return value, ok
}

// all returns everything that is remembered.
func (r *recent[V]) all() []V {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.AppendSeq(slices.Collect(maps.Values(r.young)), maps.Values(r.old))
}

func (r *recent[V]) forget(key workKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.young, key)
	delete(r.old, key)
}
