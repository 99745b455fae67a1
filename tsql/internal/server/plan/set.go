package plan

import (
	"math/bits"
	"slices"
)

// set is a set of slots.
type set []uint64 //nolint:recvcheck // add and addAll make the set larger; the others only read it

// has reports whether a slot is in the set.
func (s set) has(slot int) bool { return slot/64 < len(s) && s[slot/64]&(1<<(slot%64)) != 0 }

// add puts a slot into the set.
func (s *set) add(slot int) {
	for len(*s) <= slot/64 {
		*s = append(*s, 0)
	}
	(*s)[slot/64] |= 1 << (slot % 64)
}

// addAll puts the slots of another set into the set.
func (s *set) addAll(t set) {
	for len(*s) < len(t) {
		*s = append(*s, 0)
	}
	for i, w := range t {
		(*s)[i] |= w
	}
}

// with returns the union of two sets.
func (s set) with(t set) set {
	out := slices.Clone(s)
	out.addAll(t)
	return out
}

// without returns the slots that are not in t.
func (s set) without(t set) set {
	out := slices.Clone(s)
	for i := range out {
		if i < len(t) {
			out[i] &^= t[i]
		}
	}
	return out
}

// in reports whether all slots are in t.
func (s set) in(t set) bool {
	for i, w := range s {
		if i < len(t) {
			w &^= t[i]
		}
		if w != 0 {
			return false
		}
	}
	return true
}

// meets reports whether a slot is in both sets.
func (s set) meets(t set) bool {
	for i := range min(len(s), len(t)) {
		if s[i]&t[i] != 0 {
			return true
		}
	}
	return false
}

// empty reports whether there is no slot in the set.
func (s set) empty() bool {
	for _, w := range s {
		if w != 0 {
			return false
		}
	}
	return true
}

// list returns the slots in order.
func (s set) list() []int {
	var out []int
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			out = append(out, i*64+bits.TrailingZeros64(w))
		}
	}
	return out
}

// setOf makes a set of slots.
func setOf(slots ...int) set {
	var s set
	for _, slot := range slots {
		s.add(slot)
	}
	return s
}
