package tsqltest

import (
	"cmp"
	"fmt"
	"strings"
	"sync"
	"text/tabwriter"

	"github.com/duroxide/duroxide-go/tsqltest/internal/lock"
	"github.com/duroxide/duroxide-go/tsqltest/internal/session"
)

// KeyCount is how many keys of an index a statement has touched in one way, under locks of one mode.
type KeyCount struct {
	// Module is the procedure, function or trigger with its schema; empty for a batch.
	Module string
	// Line is that of the statement, from 1, in the module or the batch, and Statement its first line. What the condition of
	// an IF or a WHILE touches is the IF's or the WHILE's.
	Line      int
	Statement string
	// Table has its schema. Index is empty for a heap.
	Table, Index string
	// Access is "seek", "scan", "lookup" (a row by a key that another index has) or "write" (to change it).
	Access string
	// Mode is that of the locks, such as "U" or "RangeS-S"; empty where none were taken: for versions of rows, dirty reads and
	// tables that are locked as a whole.
	Mode string
	// Keys is how many were touched; one that is touched twice counts twice. Of them, Waited had to be waited for, Skipped were
	// left out by READPAST, and Ghosts had no row for the statement: it is deleted, or not committed in the version read.
	Keys, Waited, Skipped, Ghosts int
	// Times is how often the statement was executed and touched some of them.
	Times int
}

// Keys are counts in the order in which the statements first touched something. Table variables and temporary tables of one
// session are left out: no other session can be in the way there.
type Keys []KeyCount

// Keys are those that the batch or the call has touched, with the statements of all procedures that it called.
func (r *Result) Keys() Keys { return keysOf(r.touched) }

// Keys are those that all requests of a session have touched in the schedule.
func (e *End) Keys(name string) Keys {
	var k Keys
	for _, r := range e.Results(name) {
		k = k.plus(r.Keys())
	}
	return k
}

// CountKeys calls during and returns the keys that were touched by the requests that ended meanwhile, in all sessions: those of
// [Server.Connect] and those over sockets.
func (s *Server) CountKeys(during func()) Keys {
	var mu sync.Mutex
	var k Keys
	stop := s.sessions.Watch(func(list []session.Touch) {
		mu.Lock()
		defer mu.Unlock()
		k = k.plus(keysOf(list))
	})
	func() {
		defer stop()
		during()
	}()
	mu.Lock()
	defer mu.Unlock()
	return k
}

// Total is the number of keys in all counts.
func (k Keys) Total() int {
	n := 0
	for _, c := range k {
		n += c.Keys
	}
	return n
}

// Executions is how many statements were executed, one in a loop as often as it was, without those that touched nothing.
func (k Keys) Executions() int {
	type place struct {
		module string
		line   int
	}
	times := map[place]int{}
	for _, c := range k {
		at := place{c.Module, c.Line}
		times[at] = max(times[at], c.Times)
	}
	n := 0
	for _, t := range times {
		n += t
	}
	return n
}

// Where are the counts that f chooses.
func (k Keys) Where(f func(KeyCount) bool) Keys {
	var out Keys
	for _, c := range k {
		if f(c) {
			out = append(out, c)
		}
	}
	return out
}

// String is a table with a line for each count.
func (k Keys) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "place\tstatement\ttable\tindex\taccess\tlocks\tkeys\tof them")
	for _, c := range k {
		place := fmt.Sprintf("%s:%d", cmp.Or(c.Module, "batch"), c.Line)
		var parts []string
		for _, p := range []struct {
			n    int
			what string
		}{{c.Waited, "waited"}, {c.Skipped, "skipped"}, {c.Ghosts, "ghosts"}} {
			if p.n > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
			}
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%d\t%s\n", place, shortened(c.Statement), c.Table, cmp.Or(c.Index, "(heap)"), c.Access,
			cmp.Or(c.Mode, "none"), c.Keys, strings.Join(parts, ", "))
	}
	_ = w.Flush()
	return trailing.ReplaceAllString(b.String(), "\n")
}

// plus adds counts of the same kind, and appends the others.
func (k Keys) plus(others Keys) Keys {
	place := make(map[KeyCount]int, len(k))
	for i, c := range k {
		place[c.kind()] = i
	}
	for _, c := range others {
		i, ok := place[c.kind()]
		if !ok {
			place[c.kind()] = len(k)
			k = append(k, c)
			continue
		}
		k[i].Keys += c.Keys
		k[i].Waited += c.Waited
		k[i].Skipped += c.Skipped
		k[i].Ghosts += c.Ghosts
		k[i].Times += c.Times
	}
	return k
}

// kind is the count without its numbers.
func (c KeyCount) kind() KeyCount {
	c.Keys, c.Waited, c.Skipped, c.Ghosts, c.Times = 0, 0, 0, 0, 0
	return c
}

// accesses name the ways of a statement to a key.
var accesses = [...]string{"seek", "scan", "lookup", "write"}

func keysOf(list []session.Touch) Keys {
	var k Keys
	for i := range list {
		t := &list[i]
		place := t.Place()
		c := KeyCount{
			Module: place.Module, Line: place.Line, Statement: place.Text, Table: t.Table, Index: t.Index, Access: accesses[t.Way],
			Keys: t.Granted + t.Waited + t.Skipped, Waited: t.Waited, Skipped: t.Skipped, Ghosts: t.Ghosts, Times: t.Times,
		}
		if t.Mode != lock.NL {
			c.Mode = t.Mode.String()
		}
		k = append(k, c)
	}
	return k
}
