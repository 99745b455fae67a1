package store

import "github.com/tidwall/btree"

// walk goes through the keys of a range. It finds its place again by key when keys have come or gone meanwhile, so it
// sees each key at most once, and holds nothing but its place.
type walk struct {
	engine   *Engine
	index    *Index
	bounds   Range
	reverse  bool
	single   bool // the only key of the range has been found
	begun    bool
	last     string // the key that was passed last
	onLast   bool   // the iterator is on it
	ahead    bool   // next is valid
	direct   bool   // next was found without the iterator, as the only key of the range
	next     *entry
	changes  uint64 // of the index, when the iterator was positioned
	iterator *btree.MapIter[string, *entry]
}

// peek returns the next key of the range without passing it; nil at the end.
func (w *walk) peek() *entry {
	ix := w.index
	if w.single {
		return nil
	}
	if w.ahead && w.changes == ix.changes {
		return w.next
	}
	if !w.begun && ix.Unique && w.bounds.one() {
		if e, ok := ix.tree.Get(w.bounds.Low); ok {
			w.ahead, w.direct, w.next, w.changes = true, true, e, ix.changes
			return e
		}
	}
	var found bool
	if w.onLast && w.changes == ix.changes {
		found = w.step()
	} else {
		found = w.seek()
	}
	w.ahead, w.direct, w.next, w.changes, w.onLast = true, false, nil, ix.changes, false
	w.cross(found)
	if found {
		if key := w.iterator.Key(); w.within(key) {
			w.next = w.iterator.Value()
		}
	}
	return w.next
}

// pass moves behind the key that peek has returned.
func (w *walk) pass() {
	w.last, w.begun, w.ahead = w.next.key, true, false
	w.onLast, w.single = !w.direct, w.direct
}

func (w *walk) within(key string) bool {
	if w.reverse {
		return w.bounds.aboveLow(key)
	}
	return w.bounds.belowHigh(key)
}

func (w *walk) step() bool {
	if w.reverse {
		return w.iterator.Prev()
	}
	return w.iterator.Next()
}

// seek puts the iterator on the first key that has not been passed.
func (w *walk) seek() bool {
	if w.iterator == nil {
		w.iterator = w.index.iterator()
	}
	if w.reverse {
		return w.seekBack()
	}
	it, r := w.iterator, &w.bounds
	switch {
	case w.begun:
		return it.Seek(w.last) && (it.Key() != w.last || it.Next())
	case !r.HasLow:
		return it.First()
	case r.LowOpen:
		low, ok := behind(r.Low)
		return ok && it.Seek(low)
	default:
		return it.Seek(r.Low)
	}
}

func (w *walk) seekBack() bool {
	it, r := w.iterator, &w.bounds
	bound, bounded := w.last, true
	if !w.begun {
		bound, bounded = r.High, r.HasHigh
		if bounded && !r.HighOpen {
			bound, bounded = behind(r.High)
		}
	}
	if bounded && it.Seek(bound) {
		return it.Prev()
	}
	return it.Last()
}

// close gives the iterator back.
func (w *walk) close() {
	if w.iterator != nil {
		w.index.iterators = append(w.index.iterators, w.iterator)
		w.iterator = nil
	}
	w.single, w.next = true, nil
}

// iterator returns a spare iterator, or a new one.
func (ix *Index) iterator() *btree.MapIter[string, *entry] {
	if n := len(ix.iterators); n > 0 {
		it := ix.iterators[n-1]
		ix.iterators = ix.iterators[:n-1]
		return it
	}
	it := ix.tree.Iter()
	return &it
}

// following returns the first key behind one; nil if that is the last. It need not be in the index.
func (ix *Index) following(key string) *entry {
	it := ix.iterator()
	defer func() { ix.iterators = append(ix.iterators, it) }()
	if it.Seek(key) && (it.Key() != key || it.Next()) {
		return it.Value()
	}
	return nil
}

// gap is the key that ends the gap behind the range; nil if it is the end of the index.
func (w *walk) gap() *entry {
	r := &w.bounds
	if !r.HasHigh {
		return nil
	}
	it := w.index.iterator()
	defer func() { w.index.iterators = append(w.index.iterators, it) }()
	high, ok := r.High, true
	if !r.HighOpen {
		high, ok = behind(r.High)
	}
	if ok && it.Seek(high) {
		return it.Value()
	}
	return nil
}
