package orchestrationtest

import (
	"container/heap"
	"math"
	"time"
)

// never is later than everything.
const never = math.MaxUint64

// agenda is what is going to happen. The time is that of the last thing that did.
type agenda struct {
	// now is in milliseconds.
	now     uint64
	added   uint64
	entries entries
}

// entry is one thing that is going to happen.
type entry struct {
	at uint64
	// script is for what the test has planned, which comes behind all else of its moment.
	script bool
	number uint64
	do     func()
}

func (a *agenda) add(at uint64, script bool, do func()) {
	a.added++
	heap.Push(&a.entries, entry{at: max(at, a.now), script: script, number: a.added, do: do})
}

// after is the time when d has passed. Like a timer, it is late rather than early.
func (a *agenda) after(d time.Duration) uint64 {
	d = max(d, 0)
	at := a.now + uint64(d/time.Millisecond)
	if d%time.Millisecond > 0 {
		at++
	}
	return at
}

// step lets the next thing happen, unless that is after until or there is none.
func (a *agenda) step(until uint64) bool {
	if len(a.entries) == 0 || a.entries[0].at > until {
		return false
	}
	next, _ := heap.Pop(&a.entries).(entry) // nothing else is pushed
	a.now = next.at
	next.do()
	return true
}

// entries is a heap, the next first.
type entries []entry

func (e *entries) Len() int      { return len(*e) }
func (e *entries) Swap(i, j int) { (*e)[i], (*e)[j] = (*e)[j], (*e)[i] }

func (e *entries) Push(x any) {
	next, _ := x.(entry)
	*e = append(*e, next)
}

func (e *entries) Less(i, j int) bool {
	a, b := (*e)[i], (*e)[j]
	switch {
	case a.at != b.at:
		return a.at < b.at
	case a.script != b.script:
		return b.script
	}
	return a.number < b.number
}

func (e *entries) Pop() any {
	last := len(*e) - 1
	next := (*e)[last]
	(*e)[last] = entry{}
	*e = (*e)[:last]
	return next
}
