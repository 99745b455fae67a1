package linear

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
)

// Anomaly is a history that cannot be explained by any order of its calls.
type Anomaly struct {
	// Calls are as few as were found, in the order in which they began.
	Calls []*Call
	// checked are the parts whose answers are to be explained.
	checked Parts
}

// shorten makes the history shorter as long as there is no order of it: it ends as soon as it can, and what has nothing
// to do with the rest is left out.
func shorten(calls []*Call) *Anomaly {
	a := &Anomaly{Calls: earliest(calls), checked: everything}
	for part := Locks; part <= Values; part <<= 1 {
		a.try(a.Calls, a.checked&^part)
	}
	// A call that changes nothing of what is checked only asks for something: without it the rest has more orders, not
	// fewer.
	for _, c := range slices.Clone(a.Calls) {
		if c.op.effects(c)&a.needed() == 0 {
			a.try(slices.DeleteFunc(slices.Clone(a.Calls), func(other *Call) bool { return other == c }), a.checked)
		}
	}
	slices.SortFunc(a.Calls, func(a, b *Call) int { return int(a.Begin) - int(b.Begin) })
	return a
}

// try replaces the history if there is no order of the other one either.
func (a *Anomaly) try(calls []*Call, checked Parts) {
	if _, ok, err := ordered(calls, checked); !ok && err == nil {
		a.Calls, a.checked = calls, checked
	}
}

// needed are the parts whose changes matter for those that are checked.
func (a *Anomaly) needed() Parts {
	needed := a.checked
	if a.checked&(Locks|Messages) != 0 {
		needed |= Locks | Messages | Instances
	}
	// A deletion takes what belongs to an instance.
	if slices.ContainsFunc(a.Calls, func(c *Call) bool { return c.op.effects(c) == everything }) {
		needed |= Instances
	}
	return needed
}

// earliest is the shortest beginning of a history of which there is no order. Calls that had not ended then may have
// had their effect or not.
func earliest(calls []*Call) []*Call {
	byEnd := slices.DeleteFunc(slices.Clone(calls), (*Call).lost)
	slices.SortFunc(byEnd, func(a, b *Call) int { return int(a.End) - int(b.End) })
	n, _ := slices.BinarySearchFunc(byEnd, true, func(last *Call, _ bool) int {
		if _, ok, err := ordered(until(calls, last.End), everything); ok || err != nil {
			return -1
		}
		return 1
	})
	if n == len(byEnd) {
		return calls
	}
	return until(calls, byEnd[n].End)
}

// until is the history up to a moment.
func until(calls []*Call, end uint64) []*Call {
	var before []*Call
	for _, c := range calls {
		switch {
		case c.Begin > end:
		case c.End == 0 || c.End <= end:
			before = append(before, c)
		default:
			running := *c
			running.End = 0
			before = append(before, &running)
		}
	}
	return before
}

// String tells the history as a table, and how far an order of it goes.
func (a *Anomaly) String() string {
	var b strings.Builder
	b.WriteString("No order of these calls explains their answers:\n\n")
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\tbegan\tended\tclock (ms)\tclient\tcall\tanswer")
	for i, c := range a.Calls {
		ended := fmt.Sprint(c.End)
		if c.lost() {
			ended = "-"
		}
		clock := fmt.Sprint(c.From)
		if c.Until != c.From {
			clock += fmt.Sprintf(" to %d", c.Until)
		}
		call, _ := c.op.describe()
		fmt.Fprintf(w, "%d\t%d\t%s\t%s\t%s\t%s\t%s\n", i+1, c.Begin, ended, clock, c.Client, call, c.answer())
	}
	_ = w.Flush()
	a.explain(&b)
	return b.String()
}

// explain tells the longest beginning of an order, and why none of the other calls comes next.
func (a *Anomaly) explain(b *strings.Builder) {
	s, _, _ := ordered(a.Calls, a.checked)
	number := func(c *Call) string { return fmt.Sprint(slices.Index(a.Calls, c) + 1) }
	for i := range s.done {
		s.done[i] = 0
	}
	var order []string
	for _, c := range s.best {
		order = append(order, number(c))
		s.done[slices.Index(s.calls, c)] = 1
	}
	fmt.Fprintf(b, "\nThe longest beginning of an order is %s. After it:\n", strings.Join(order, ", "))
	for _, i := range s.next() {
		c := s.calls[i]
		why := c.op.apply(s.stuck.next(), c)
		if why == "" {
			why = "it could come next, but then none of the others"
		}
		fmt.Fprintf(b, "  not %s: %s\n", number(c), why)
	}
}
