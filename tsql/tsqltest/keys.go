package tsqltest

import (
	"cmp"
	"fmt"
	"strings"
	"sync"
	"text/tabwriter"

	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
	"github.com/duroxide/duroxide-go/tsql/internal/server/session"
)

// KeyCount counts the keys of an index that a statement has touched in one way, under locks of one mode.
type KeyCount struct {
	// Module is the procedure, function or trigger with its schema; empty for a batch.
	Module string
	// Line is the line of the statement in the module or the batch, from 1. Statement is the first line of its text.
	// Keys that the condition of an IF or a WHILE touches count for the IF or the WHILE.
	Line      int
	Statement string
	// Table has its schema. Index is empty for a heap.
	Table, Index string
	// Access is "seek", "scan", "lookup" (a row by a key that another index has) or "write" (to change it).
	Access string
	// Mode is that of the locks, such as "U" or "RangeS-S"; empty where none were taken: for versions of rows, dirty
	// reads and tables that are locked as a whole.
	Mode string
	// Keys is how many keys were touched; a key that is touched twice counts twice. Of these keys, Waited had to be
	// waited for, Skipped were skipped by READPAST, and Ghosts had no row for the statement, because the row is
	// deleted, or not committed in the version read.
	Keys, Waited, Skipped, Ghosts int
	// Times is how often the statement was executed and touched at least one of the keys.
	Times int
}

// Keys are counts in the order in which the statements first touched a key. Table variables and temporary tables are
// not counted, because other sessions cannot lock them.
type Keys []KeyCount

// Keys returns the counts of the keys that the batch or the call has touched, including those of all procedures that
// it called.
func (r *Result) Keys() Keys { return keysOf(r.touched) }

// Keys returns the counts of the keys that all requests of a session have touched in the schedule.
func (e *End) Keys(name string) Keys {
	var k Keys
	for _, r := range e.Results(name) {
		k = k.plus(r.Keys())
	}
	return k
}

// CountKeys calls during, and returns counts of the keys that were touched by requests that ended meanwhile, in all
// sessions.
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

// Total returns the number of keys in all counts.
func (k Keys) Total() int {
	n := 0
	for _, c := range k {
		n += c.Keys
	}
	return n
}

// Executions returns how many statements were executed. A statement in a loop counts each time. Statements that
// touched no key are not counted.
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

// Where returns the counts for which f returns true.
func (k Keys) Where(f func(KeyCount) bool) Keys {
	var out Keys
	for _, c := range k {
		if f(c) {
			out = append(out, c)
		}
	}
	return out
}

// String returns a table with a line for each count.
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

// Work is how much a server has done since it started.
type Work struct {
	// Requests are batches and calls.
	Requests int
	// Statements are those executed, in functions too. IF, WHILE, SET and EXEC are statements, DECLARE without a value
	// is none.
	Statements int
	// Commits are those for which SQL Server writes its log to the disk: of transactions that changed a table that
	// other sessions can see.
	Commits int
	// Delayed are commits with DELAYED_DURABILITY = ON of such transactions. Where the database allows it, SQL Server
	// does not wait for the disk.
	Delayed int
}

// Work returns how much the server has done since it started.
func (s *Server) Work() Work { return Work(s.sessions.Work()) }
