package binder

import (
	"math/bits"
	"slices"
)

// Set is a set of slots.
type Set []uint64 //nolint:recvcheck // add and addAll make the set larger; the others only read it

// Has reports whether a slot is in the set.
func (s Set) Has(slot int) bool { return slot/64 < len(s) && s[slot/64]&(1<<(slot%64)) != 0 }

// Add puts a slot into the set.
func (s *Set) Add(slot int) {
	for len(*s) <= slot/64 {
		*s = append(*s, 0)
	}
	(*s)[slot/64] |= 1 << (slot % 64)
}

// AddAll puts the slots of another set into the set.
func (s *Set) AddAll(t Set) {
	for len(*s) < len(t) {
		*s = append(*s, 0)
	}
	for i, w := range t {
		(*s)[i] |= w
	}
}

// With returns the union of two sets.
func (s Set) With(t Set) Set {
	out := slices.Clone(s)
	out.AddAll(t)
	return out
}

// Without returns the slots that are not in t.
func (s Set) Without(t Set) Set {
	out := slices.Clone(s)
	for i := range out {
		if i < len(t) {
			out[i] &^= t[i]
		}
	}
	return out
}

// In reports whether all slots are in t.
func (s Set) In(t Set) bool {
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

// Meets reports whether a slot is in both sets.
func (s Set) Meets(t Set) bool {
	for i := range min(len(s), len(t)) {
		if s[i]&t[i] != 0 {
			return true
		}
	}
	return false
}

// Empty reports whether there is no slot in the set.
func (s Set) Empty() bool {
	for _, w := range s {
		if w != 0 {
			return false
		}
	}
	return true
}

// List returns the slots in order.
func (s Set) List() []int {
	var out []int
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			out = append(out, i*64+bits.TrailingZeros64(w))
		}
	}
	return out
}

// SetOf makes a set of slots.
func SetOf(slots ...int) Set {
	var s Set
	for _, slot := range slots {
		s.Add(slot)
	}
	return s
}
