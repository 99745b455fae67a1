package analyze

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/sqltype"
)

// maxStates bounds the automaton. Real procedures have a handful of states.
const maxStates = 2000

// An automaton is a graph seen from the client, who knows nothing but the names of the columns of the sets that came so
// far. From each state at most one edge has given names. It has no cycles, and every state leads to a final one.
//
// It comes about in three stages:
//
//   - determinise: a state is the set of all nodes at which control may stand after what the client has seen. Two
//     statements that may come next and have the same columns are one edge: nobody can tell them apart.
//   - results: edges that the same statement can be the sender of are one field of the result, so that a set with an
//     optional one before it has one field and not two. A field takes one set of a call at most.
//   - flow: states that are followed by the same are made one, which gives the smallest table to generate.
//
// An example: IF … SELECT 1 AS a; SELECT 2 AS b; has the edges 0 -a-> 1, 1 -b-> 2 and 0 -b-> 2. The two edges b have one
// sender and are one field, always there; a is flagged Maybe.
type automaton struct {
	final []bool // of each state; state 0 is the beginning
	edges []step // ordered by the state they leave
}

// A step is an edge of the automaton before it is known which field of the result it fills.
type step struct {
	from, to int
	label    string // the names of the columns
	sets     []int  // the statements that can be the sender: indices into graph.sets, ascending
	field    int    // index into Procedure.Results; set by results
}

// label renders what a client can see of a set: the number and the names of its columns.
func label(columns []Column) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = strconv.Quote(c.Name)
	}
	return strings.Join(names, ",")
}

// determinise makes the automaton by the subset construction. It gives up beyond maxStates.
func (g *graph) determinise() (*automaton, bool) {
	live := g.live()
	if !live[entry] {
		return &automaton{final: []bool{false}}, true
	}
	m := &automaton{}
	// The graph's live part alone counts: a set on the way to an error belongs to no call that succeeds.
	var subsets [][]int // of each state: the nodes that control may stand at, as far as they matter
	number := map[string]int{}
	state := func(nodes []int) int {
		nodes = g.closure(nodes, live)
		key := fmt.Sprint(nodes)
		s, known := number[key]
		if !known {
			s = len(subsets)
			number[key] = s
			subsets = append(subsets, nodes)
			m.final = append(m.final, slices.Contains(nodes, exit))
		}
		return s
	}
	// States are made while edges are: the loop ends when no edge leads to a new one.
	state([]int{entry})
	for s := 0; s < len(subsets) && s <= maxStates; s++ {
		for _, next := range g.leaving(subsets[s], live) {
			m.edges = append(m.edges, step{from: s, to: state(next.to), label: next.label, sets: next.sets})
		}
	}
	return m, len(subsets) <= maxStates
}

// closure returns, sorted, the live nodes that can be reached from some without sending anything, leaving out those
// that neither send nor are the exit.
func (g *graph) closure(from []int, live []bool) []int {
	seen := make([]bool, len(g.links))
	var keep []int
	for todo := slices.Clone(from); len(todo) > 0; {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[n] || !live[n] {
			continue
		}
		seen[n] = true
		sends := n == exit
		for _, l := range g.links[n] {
			if l.set == noSet {
				todo = append(todo, l.to)
			} else if live[l.to] {
				sends = true
			}
		}
		if sends {
			keep = append(keep, n)
		}
	}
	slices.Sort(keep)
	return keep
}

// A leave is one way out of a subset of nodes.
type leave struct {
	label string
	to    []int
	sets  []int
}

// leaving groups the sets that may come next by what the client sees of them, in the order of the statements.
func (g *graph) leaving(nodes []int, live []bool) []leave {
	by := map[string]*leave{}
	for _, n := range nodes {
		for _, l := range g.links[n] {
			if l.set == noSet || !live[l.to] {
				continue
			}
			name := label(g.sets[l.set].Columns)
			if by[name] == nil {
				by[name] = &leave{label: name}
			}
			by[name].to = append(by[name].to, l.to)
			by[name].sets = append(by[name].sets, l.set)
		}
	}
	// The order of the statements, not that of the map: two runs must number the states alike.
	var out []leave
	for _, l := range by {
		slices.Sort(l.sets)
		l.sets = slices.Compact(l.sets)
		out = append(out, *l)
	}
	slices.SortFunc(out, func(a, b leave) int { return cmp.Compare(a.sets[0], b.sets[0]) })
	return out
}

// results decides which steps fill the same field of the result, and returns the fields in the order of the text.
func (m *automaton) results(sets []sender, found *diag.List) []ResultSet {
	groups := m.group(sets)
	results := make([]ResultSet, len(groups))
	for i, group := range groups {
		for _, e := range group {
			m.edges[e].field = i
		}
	}
	for i, group := range groups {
		var senders []int
		for _, e := range group {
			senders = append(senders, m.edges[e].sets...)
		}
		slices.Sort(senders)
		senders = slices.Compact(senders)
		results[i] = merge(sets, senders, m.apart(i, senders), found)
		results[i].Maybe = m.avoids(i)
	}
	oneNameEach(results, found)
	return results
}

// group partitions the steps into fields. Steps belong together when the same statement, or statements that gen:result
// gives the same name, can be the sender; but never two steps that one call can take both.
func (m *automaton) group(sets []sender) [][]int {
	akin := map[string][]int{} // steps that have the columns and a sender, or the name of one, in common
	groups := make([][]int, len(m.edges))
	of := make([]int, len(m.edges))
	for e, step := range m.edges {
		groups[e], of[e] = []int{e}, e
		for _, s := range step.sets {
			akin[fmt.Sprint(s)] = append(akin[fmt.Sprint(s)], e)
			if name := sets[s].Name; name != "" {
				akin[name+" "+step.label] = append(akin[name+" "+step.label], e)
			}
		}
	}
	// Whether two groups can become one depends on all of their steps, so the order matters; it is that of the keys.
	apart := m.exclusive()
	for _, key := range slices.Sorted(maps.Keys(akin)) {
		for i, x := range akin[key] {
			for _, y := range akin[key][i+1:] {
				into, from := min(of[x], of[y]), max(of[x], of[y])
				if into == from || !all(groups[into], groups[from], apart) {
					continue
				}
				for _, e := range groups[from] {
					of[e] = into
				}
				groups[into] = append(groups[into], groups[from]...)
				groups[from] = nil
			}
		}
	}
	groups = slices.DeleteFunc(groups, func(g []int) bool { return len(g) == 0 })
	slices.SortStableFunc(groups, func(a, b []int) int {
		return slices.Compare(m.edges[a[0]].sets, m.edges[b[0]].sets)
	})
	return groups
}

// exclusive returns the relation of steps that no call takes both.
func (m *automaton) exclusive() func(x, y int) bool {
	next := make([][]int, len(m.final))
	for _, e := range m.edges {
		next[e.from] = append(next[e.from], e.to)
	}
	reaches := make([][]bool, len(m.final))
	for s := range m.final {
		reaches[s] = reach(s, len(m.final), func(s int) []int { return next[s] })
	}
	return func(x, y int) bool {
		a, b := m.edges[x], m.edges[y]
		return !reaches[a.to][b.from] && !reaches[b.to][a.from]
	}
}

// all reports whether a relation holds for all pairs.
func all(xs, ys []int, holds func(x, y int) bool) bool {
	for _, x := range xs {
		for _, y := range ys {
			if !holds(x, y) {
				return false
			}
		}
	}
	return true
}

// avoids reports whether a call can succeed without filling a field.
func (m *automaton) avoids(field int) bool {
	// What is left when the field's edges are taken away: does a way to an end remain?
	next := make([][]int, len(m.final))
	for _, e := range m.edges {
		if e.field != field {
			next[e.from] = append(next[e.from], e.to)
		}
	}
	seen := reach(0, len(m.final), func(s int) []int { return next[s] })
	for s, ok := range seen {
		if ok && m.final[s] {
			return true
		}
	}
	return false
}

// apart reports whether a call fills no other field with what the senders of one send: they could all have one name.
func (m *automaton) apart(field int, senders []int) bool {
	return !slices.ContainsFunc(m.edges, func(e step) bool {
		return e.field != field && slices.ContainsFunc(e.sets, func(s int) bool { return slices.Contains(senders, s) })
	})
}

// merge makes one field of the sets that a client cannot tell apart. They must agree on the types of their columns.
func merge(sets []sender, senders []int, apart bool, found *diag.List) ResultSet {
	first := sets[senders[0]]
	fix := "give one of them a column more"
	if apart {
		fix += ", or use one name for both"
	}
	out := first.ResultSet
	out.Columns = slices.Clone(out.Columns)
	for _, i := range senders[1:] {
		other := sets[i]
		if out.Name == "" {
			out.Name = other.Name
		} else if other.Name != "" && other.Name != out.Name {
			found.Add(other.by.file, other.by.span, ruleShape, fix,
				"a client cannot tell this result set from %s at %s: both have the columns %s", out.Name, first.by, names(out.Columns))
		}
		for c := range out.Columns {
			if !widen(&out.Columns[c], other.Columns[c]) {
				found.Add(other.by.file, other.by.span, ruleShape, "cast them to one type, or name the columns differently",
					"column %s is %s here and %s at %s, and a client cannot tell the two result sets apart",
					out.Columns[c].Name, other.Columns[c].Type, out.Columns[c].Type, first.by)
				return out
			}
		}
		// Cardinalities are ordered from the weakest: many, optional, one.
		out.Rows = min(out.Rows, other.Rows)
		out.Stream = out.Stream || other.Stream
	}
	out.Stream = out.Stream && out.Rows == Many
	return out
}

// widen makes a column hold the values of another as well.
func widen(c *Column, other Column) bool {
	t, ok := wider(c.Type, other.Type)
	c.Type = t
	c.Nullable = c.Nullable || other.Nullable
	return ok
}

// A site is a place in a file.
type site struct {
	file *diag.File
	span diag.Span
}

// String renders a place in a message about another place.
func (s site) String() string {
	line, column := s.file.Position(s.span.From)
	return fmt.Sprintf("%s:%d:%d", s.file.Name, line, column)
}

// names lists columns in a message.
func names(columns []Column) string {
	var out []string
	for _, c := range columns {
		out = append(out, c.Name)
	}
	return strings.Join(out, ", ")
}

// wider returns the type that holds the values of two types of one kind: the greater length, scale, and number of digits
// before the point. Types of two kinds have none, though T-SQL would convert one to the other within a statement: what
// arrives at the client is a value of either kind.
func wider(a, b sqltype.Type) (sqltype.Type, bool) {
	switch {
	case a == b || b.Kind == sqltype.Invalid:
		return a, true
	case a.Kind == sqltype.Invalid:
		return b, true
	case a.Kind != b.Kind:
		return a, false
	}
	if a.Length == sqltype.Max || b.Length == sqltype.Max {
		a.Length = sqltype.Max
	} else {
		a.Length = max(a.Length, b.Length)
	}
	// decimal(5,1) and decimal(4,3) have 4 and 1 digits before the point: decimal(7,3) holds both.
	whole := max(a.Precision-a.Scale, b.Precision-b.Scale)
	a.Scale = max(a.Scale, b.Scale)
	if a.Kind == sqltype.Decimal {
		a.Precision = whole + a.Scale
		return a, a.Precision <= 38
	}
	return a, true
}

// oneNameEach reports fields that gen:result gives the same name although one call can fill both.
func oneNameEach(results []ResultSet, found *diag.List) {
	first := map[string]ResultSet{}
	for _, r := range results {
		if r.Name == "" {
			continue
		}
		if other, taken := first[r.Name]; taken {
			found.Add(r.File, r.Span, ruleShape, "give it another name with -- gen:result (above the EXEC, if it comes from a procedure called twice)",
				"the result set at %s is also called %s", site{other.File, other.Span}, r.Name)
			continue
		}
		first[r.Name] = r
	}
}

// flow returns the smallest automaton of the same fields, its states numbered in the order in which they are reached.
func (m *automaton) flow() Flow {
	class, states := m.minimise()
	order := []int{class[0]}
	number := map[int]int{class[0]: 0}
	var flow Flow
	for i := 0; i < len(order); i++ {
		state := State{Final: states[order[i]].Final}
		for _, e := range states[order[i]].Edges {
			if _, known := number[e.To]; !known {
				number[e.To] = len(order)
				order = append(order, e.To)
			}
			state.Edges = append(state.Edges, Edge{Set: e.Set, To: number[e.To]})
		}
		flow.States = append(flow.States, state)
	}
	return flow
}

// minimise finds the states that are followed by the same. It returns the class of each state and one state for each
// class, whose edges lead to classes.
func (m *automaton) minimise() ([]int, []State) {
	out := make([][]step, len(m.final))
	for _, e := range m.edges {
		out[e.from] = append(out[e.from], e)
	}
	// A state's class is known once those of its successors are, and there are no cycles: depth first, classes by what
	// follows.
	class := make([]int, len(m.final))
	known := map[string]int{}
	var states []State
	done := make([]bool, len(m.final))
	var visit func(s int)
	visit = func(s int) {
		if done[s] {
			return
		}
		done[s] = true
		state := State{Final: m.final[s]}
		for _, e := range out[s] {
			visit(e.to)
			state.Edges = append(state.Edges, Edge{Set: e.field, To: class[e.to]})
		}
		slices.SortFunc(state.Edges, func(a, b Edge) int { return cmp.Compare(a.Set, b.Set) })
		key := fmt.Sprint(state)
		c, seen := known[key]
		if !seen {
			c = len(states)
			known[key] = c
			states = append(states, state)
		}
		class[s] = c
	}
	visit(0)
	return class, states
}
