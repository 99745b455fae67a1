package linear

import (
	"errors"
	"maps"
	"slices"
)

// errGaveUp is what becomes of a history with too many orders.
var errGaveUp = errors.New("linear: the history has too many calls at the same time to be checked")

// mostStates bounds how many states of a history are looked at.
const mostStates = 2_000_000

// Start is the state of an empty store, for another checker than [Check].
func Start() *State { return &State{checked: everything} }

// Apply makes a call on a state. It reports whether the call's answer is one that the store may give in that state.
func (c *Call) Apply(s *State) (*State, bool) {
	next := s.next()
	why := c.op.apply(next, c)
	return next, why == ""
}

// search looks for an order of the calls of one group.
type search struct {
	calls []*Call
	// done tells the calls that are in the order already.
	done []byte
	// seen are the states after sets of calls from which there is no order of the others.
	seen map[string]struct{}
	// best is the longest beginning of an order, and stuck the state after it.
	best, path []*Call
	stuck      *State
}

// ordered reports whether the calls can be put into an order. If not, s.best is the longest beginning.
func ordered(calls []*Call, checked Parts) (*search, bool, error) {
	s := &search{calls: slices.Clone(calls), done: make([]byte, len(calls)), seen: map[string]struct{}{}}
	slices.SortFunc(s.calls, func(a, b *Call) int { return int(a.Begin) - int(b.Begin) })
	s.stuck = &State{checked: checked}
	ok := s.from(s.stuck)
	if len(s.seen) > mostStates {
		return s, false, errGaveUp
	}
	return s, ok, nil
}

// from looks for an order of the calls that are left.
func (s *search) from(at *State) bool {
	key := string(s.done) + at.String()
	if _, tried := s.seen[key]; tried || len(s.seen) > mostStates {
		return false
	}
	s.seen[key] = struct{}{}
	next := s.next()
	if next == nil {
		return true
	}
	if len(s.path) > len(s.best) {
		s.best, s.stuck = slices.Clone(s.path), at
	}
	for _, i := range next {
		c := s.calls[i]
		after := at.next()
		if why := c.op.apply(after, c); why != "" {
			continue
		}
		s.done[i] = 1
		s.path = append(s.path, c)
		if s.from(after) {
			return true
		}
		s.path = s.path[:len(s.path)-1]
		s.done[i] = 0
	}
	return false
}

// next are the calls that may be next: those that began before any of the others ended. It is nil when only calls are
// left whose answer nobody knows, which need not have had an effect.
func (s *search) next() []int {
	end := uint64(0)
	for i, c := range s.calls {
		if s.done[i] == 0 && c.End != 0 && (end == 0 || c.End < end) {
			end = c.End
		}
	}
	if end == 0 {
		return nil
	}
	var next []int
	for i, c := range s.calls {
		if s.done[i] == 0 && c.Begin < end {
			next = append(next, i)
		}
	}
	// Those that ended first come first: that is the order in most histories. Those without an end are last.
	slices.SortStableFunc(next, func(a, b int) int { return compareEnds(s.calls[a].End, s.calls[b].End) })
	return next
}

// compareEnds orders moments at which calls ended, with those that did not last.
func compareEnds(a, b uint64) int {
	switch {
	case a == b:
		return 0
	case a == 0, b != 0 && b < a:
		return 1
	}
	return -1
}

// Groups divides calls into those that are about the same instances, directly or by others. An answer that there is
// nothing is about all of them.
func Groups(calls []*Call) [][]*Call {
	parents := map[string]string{}
	var find func(string) string
	find = func(object string) string {
		if up, ok := parents[object]; ok && up != object {
			root := find(up)
			parents[object] = root
			return root
		}
		return object
	}
	for _, c := range calls {
		objects := c.op.objects()
		for _, object := range objects {
			parents[find(object)] = find(objects[0])
		}
	}
	byRoot := map[string][]*Call{}
	for _, c := range calls {
		if objects := c.op.objects(); len(objects) > 0 {
			root := find(objects[0])
			byRoot[root] = append(byRoot[root], c)
		}
	}
	all := make([][]*Call, 0, len(byRoot))
	for _, root := range slices.Sorted(maps.Keys(byRoot)) {
		group := byRoot[root]
		for _, c := range calls {
			if len(c.op.objects()) == 0 {
				group = append(group, c)
			}
		}
		all = append(all, group)
	}
	return all
}

// Check returns nil if there is an order of the calls that explains their answers. The error is about a history that
// cannot be checked: it has too many calls at the same time, or a fetch that failed in a way that leaves open whether
// it has taken something.
func Check(calls []*Call) (*Anomaly, error) {
	for _, group := range Groups(calls) {
		_, ok, err := ordered(group, everything)
		if err != nil {
			return nil, err
		}
		if !ok {
			return shorten(group), nil
		}
	}
	return nil, nil //nolint:nilnil // there is no anomaly
}
