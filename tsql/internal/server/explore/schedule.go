package explore

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Deviation is a choice that is not the obvious one.
type Deviation struct {
	At     Position
	Actor  int
	Expire bool
}

// Schedule is all that a run does differently from the obvious. A deviation that is not possible when its position
// comes is passed over.
type Schedule []Deviation

// String is the schedule as Parse reads it: "1.17>2 2.4!1" says that at its 17th point the first session gives way to
// the second, and that at the second's 4th point the time-out of the first is over. "-" is the obvious one.
func (s Schedule) String() string {
	if len(s) == 0 {
		return "-"
	}
	parts := make([]string, len(s))
	for i, d := range s {
		sign := ">"
		if d.Expire {
			sign = "!"
		}
		parts[i] = fmt.Sprintf("%d.%d%s%d", d.At.Actor+1, d.At.N, sign, d.Actor+1)
	}
	return strings.Join(parts, " ")
}

// Parse reads what String writes.
func Parse(text string) (Schedule, error) {
	var s Schedule
	if text == "-" {
		return nil, nil
	}
	for part := range strings.FieldsSeq(text) {
		at, to, ok := strings.Cut(part, ">")
		d := Deviation{}
		if !ok {
			at, to, ok = strings.Cut(part, "!")
			d.Expire = true
		}
		who, n, dot := strings.Cut(at, ".")
		numbers := make([]int, 3)
		for i, x := range []string{who, n, to} {
			v, err := strconv.Atoi(x)
			ok = ok && err == nil && v >= 0
			numbers[i] = v
		}
		if !ok || !dot || numbers[2] == 0 {
			return nil, fmt.Errorf("%q is no part of a schedule", part)
		}
		d.At, d.Actor = Position{numbers[0] - 1, numbers[1]}, numbers[2]-1
		s = append(s, d)
	}
	return s, nil
}

// choice is a scheduling point with more than one way to go on.
type choice struct {
	at      Position
	options []Option
}

// follower goes by a schedule and notes the choices that come after its last deviation.
type follower struct {
	schedule Schedule
	next     int      // the first deviation that has not come
	choices  []choice // nil unless wanted
	wanted   bool
	preempts int
	known    func(at Position) bool // of a point behind the last deviation: another run goes on in the same way; nil for none
}

func (f *follower) gaveWay(int) {}

func (f *follower) choose(p Position, options []Option) int {
	if f.next == len(f.schedule) {
		if f.known != nil && f.known(p) {
			return -1
		}
		if f.wanted {
			f.choices = append(f.choices, choice{p, options})
		}
		return 0
	}
	i := slices.IndexFunc(f.schedule[f.next:], func(d Deviation) bool { return d.At == p })
	if i < 0 {
		return 0
	}
	d := f.schedule[f.next+i]
	f.next += i + 1
	k := slices.IndexFunc(options, func(o Option) bool { return o.Actor == d.Actor && o.Expire == d.Expire })
	if k < 0 {
		return 0
	}
	if options[k].Preempt {
		f.preempts++
	}
	return k
}
