package analyze

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
)

// maxStates bounds the automaton. Real procedures have a handful of states.
const maxStates = 2000

// An automaton is a graph seen from the client, who knows nothing but the names of the columns of the sets that came so
// far. From each state at most one edge has given names, and every state leads to a final one. It has cycles where
// statements in loops send sets.
//
// It comes about in three stages:
//
//   - determinise: a state is the set of all nodes at which control may stand after what the client has seen. Two
//     statements that may come next and have the same columns are one edge: nobody can tell them apart.
//   - results: edges that the same statement can be the sender of are one field of the result, so that a set with an
//     optional one before it has one field and not two. A field takes one set of a call at most, or all of a loop.
//   - flow: states that are followed by the same are made one, which gives the smallest table to generate.
//
// A worked example, from the text to the states:
//
//	IF @x = 1
//	    SELECT 1 AS a;      -- sender 0
//	ELSE
//	    SELECT 2 AS a;      -- sender 1
//	IF @x = 2
//	    SELECT 3 AS b;      -- sender 2
//	SELECT 4 AS b;          -- sender 3
//
// The graph, with the entry 0, the exit 1, and links that send written with the sender:
//
//	0 -0-> 2 -> 4     0 -1-> 3 -> 4     4 -2-> 5 -> 6     4 -> 6     6 -3-> 7 -> 1
//
// determinise begins with the subset {0}. Both ways out of it look alike, a set with a column a, and lead to where
// control stands at 4 or, past the second IF, at 6: one state {4,6}. From there a b may come from sender 2, after which
// control is at 6, or from sender 3, after which it is at the exit: again one edge, to the state {1,6}, where the call
// may end or sender 3 be next:
//
//	{0} -a(0,1)-> {4,6} -b(2,3)-> {1,6} -b(3)-> {1}
//
// So a client that has seen a b does not know yet whether it was the optional one; that shows when the call ends or
// goes on. This is what tells the automaton from the graph, and why fields are assigned to its edges and not to
// statements: the first b of a call is always there, the second one Maybe.
//
// results makes three fields: a, of both its senders, and two for b. Sender 3 could have made one of the two, but a
// call can take both edges. flow has nothing to merge here. It has where two subsets differ and the same fields follow
// all the same, as when gen:result gives the sets c of two branches one name:
//
//	IF … BEGIN SELECT a …; SELECT c …; END ELSE BEGIN SELECT b …; SELECT c …; END
//
// Subsets can be exponentially many in theory, which maxStates bounds; in practice there are fewer than statements.
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

// label renders what a client can see of a set: the number and the names of its columns, whatever their case.
//
// Types are left out on purpose. A client could tell int from nvarchar by the description of the columns, but the two
// would then be two fields for what a reader of the procedure takes for one result, more often by mistake than by
// intent. Names are quoted because a column may be called "a,b".
func label(columns []Column) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = strconv.Quote(catalog.Fold(c.Name))
	}
	return strings.Join(names, ",")
}

// determinise makes the automaton by the subset construction. It gives up beyond maxStates.
//
// A subset is written as the key of a map, which is all that comparing subsets takes; closure returns them sorted, so
// that one subset has one key.
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
	// A procedure that sends nothing ends with this one state, which holds the exit.
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
//
// Leaving the others out is more than tidiness: two subsets that differ only in points that nothing depends on would be
// two states, and a long procedure of IFs without sets would have many.
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
//
// For the state {4,6} of the example above it returns b with the senders 2 and 3 and the nodes 5 and 7.
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

// flow returns the smallest automaton of the same fields, its states numbered in the order in which they are reached.
//
// Numbering by the order of reaching makes the generated table stable: a change in one place of a procedure leaves the
// numbers before it alone.
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
//
// It begins with one class, and takes apart in rounds the states of a class that differ in whether they are final, or
// in the fields and classes that their edges have, until a round finds nothing. States of a cycle need the rounds: what
// follows one is known when what follows the others is.
func (m *automaton) minimise() ([]int, []State) {
	out := make([][]step, len(m.final))
	for _, e := range m.edges {
		out[e.from] = append(out[e.from], e)
	}
	class := make([]int, len(m.final))
	for count := 0; ; {
		states, next := m.classes(out, class)
		if len(states) == count {
			return class, states
		}
		class, count = next, len(states)
	}
}

// classes makes one state of those that look alike if their edges lead to the given classes.
func (m *automaton) classes(out [][]step, class []int) (states []State, next []int) {
	known := map[string]int{}
	next = make([]int, len(m.final))
	for s := range m.final {
		state := State{Final: m.final[s]}
		for _, e := range out[s] {
			state.Edges = append(state.Edges, Edge{Set: e.field, To: class[e.to]})
		}
		slices.SortFunc(state.Edges, func(a, b Edge) int { return cmp.Compare(a.Set, b.Set) })
		key := fmt.Sprint(class[s], state)
		c, seen := known[key]
		if !seen {
			c = len(states)
			known[key] = c
			states = append(states, state)
		}
		next[s] = c
	}
	return states, next
}
