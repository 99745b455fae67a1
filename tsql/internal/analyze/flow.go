package analyze

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
)

// ruleShape is the id of findings about the result sets of a body: their order, their columns, what cannot be told
// apart.
const ruleShape = "shape"

// maxSets bounds how many statements of one procedure, those of the procedures it calls included, may yield sets. Calls
// are followed into their callees, so a few procedures that call each other twice would multiply without end.
//
// The number is far above what a client could make use of, and small enough that the algorithms below, some of them
// quadratic in it, are not felt.
const maxSets = 200

// A graph is the flow of control of a body as far as result sets go. Its nodes are points between statements; a link
// leads from one to another, and either sends one set to the client or nothing. Any path from the entry to the exit is
// taken for possible: conditions are not evaluated, not even constant ones.
//
// A path that ends in an error has no way to the exit and so drops out of the answer by itself: its caller gets an
// error, whatever came before.
//
// The body
//
//	IF @x = 1 SELECT 1 AS a;
//	SELECT 2 AS b;
//
// becomes (0 is the entry, 1 the exit)
//
//	0 -a-> 2 -> 3        the branch, then the point where both ways come together
//	0 -> 3               the way around it
//	3 -b-> 4 -> 1
//
// Being wrong in one direction is harmless: a way that is never taken costs the client a Maybe. A way that is missed
// would be a set that the client does not expect.
type graph struct {
	// by node: where it leads
	links [][]link
	sets  []sender // in the order of the walk
}

// A sender is a statement that sends a set.
type sender struct {
	ResultSet
	by     site // the statement of this body: the EXEC for a set of a procedure that it calls
	caught int  // where an error among its rows leads: the beginning of the CATCH around, or nowhere
}

// A link is one way from a node to another.
type link struct {
	to int
	// A set is on a link and not on a node, because a link is what happens: its beginning is where the set has not been
	// sent, its end where it has.
	set int // index into graph.sets; noSet when nothing is sent
}

// An index is used rather than a pointer so that a link can be compared: pass makes no link twice.
const noSet = -1

// Every graph has these two nodes.
const (
	entry = iota // before the first statement
	exit         // after the last, or after RETURN
)

// nowhere is the node of code that no path reaches, such as what follows RETURN. Links from and to it are not made.
const nowhere = -1

func newGraph() *graph {
	return &graph{links: make([][]link, 2)}
}

// node adds a point.
func (g *graph) node() int {
	g.links = append(g.links, nil)
	return len(g.links) - 1
}

// pass lets control go from one point to another without sending anything.
//
// A link to itself would say nothing, and one to or from nowhere belongs to code that is never run.
func (g *graph) pass(from, to int) {
	l := link{to: to, set: noSet}
	if from != nowhere && to != nowhere && from != to && !slices.Contains(g.links[from], l) {
		g.links[from] = append(g.links[from], l)
	}
}

// send lets a set be sent on the way from one point to another.
//
// Unlike pass, it is never a repetition: two statements between the same points are two senders.
func (g *graph) send(from, to int, set sender) {
	if from == nowhere || to == nowhere {
		return
	}
	g.sets = append(g.sets, set)
	g.links[from] = append(g.links[from], link{to: to, set: len(g.sets) - 1})
}

// splice puts a copy of the callee's graph between two points, for the call at by. Every point of the copy also leads
// to caught, unless that is nowhere: a callee can fail anywhere.
//
// The callee's own CATCH blocks stay what they are: an error there leads to them first. That every point leads to
// caught besides is more than can happen, and cannot be told from the graph: an error in the CATCH itself does leave
// the callee.
//
// Without a CATCH around, sets on the way to an error are left out of the copy: the call that sent them fails. With one
// they count, since the caller goes on. A set in a procedure that is called in a TRY:
//
//	BEGIN TRY EXEC dbo.one; END TRY BEGIN CATCH SELECT 2 AS b; END CATCH
//	-- a, or a b if dbo.one fails after its set, or b
func (g *graph) splice(callee *graph, by site, from, to, caught int) {
	if from == nowhere {
		return
	}
	// The callee's entry and exit are the caller's points; all others are new.
	live := callee.live()
	at := make([]int, len(callee.links))
	for n := range callee.links {
		switch n {
		case entry:
			at[n] = from
		case exit:
			at[n] = to
		default:
			at[n] = g.node()
			g.pass(at[n], caught)
		}
	}
	for n, links := range callee.links {
		for _, l := range links {
			switch {
			case l.set == noSet:
				g.pass(at[n], at[l.to])
			case caught != nowhere || live[n] && live[l.to]:
				// With a CATCH around the call, a set counts even if the callee then fails.
				set := callee.sets[l.set]
				if set.by = by; set.caught == nowhere {
					set.caught = caught
				} else {
					set.caught = at[set.caught]
				}
				g.send(at[n], at[l.to], set)
			}
		}
	}
}

// reach marks the nodes that can be reached from one, itself included. next lists the neighbours of a node.
//
// It serves for graphs and automata, forward and backward; that is why it takes the neighbours as a function.
func reach(from, nodes int, next func(int) []int) []bool {
	seen := make([]bool, nodes)
	seen[from] = true
	for todo := []int{from}; len(todo) > 0; {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, m := range next(n) {
			if !seen[m] {
				seen[m] = true
				todo = append(todo, m)
			}
		}
	}
	return seen
}

// after lists where the links of a node lead.
func (g *graph) after(n int) []int {
	var to []int
	for _, l := range g.links[n] {
		to = append(to, l.to)
	}
	return to
}

// live marks the nodes that lie on a path from the entry to the exit.
//
// The rest is of two kinds: code that is never reached, and code that always ends in an error. Neither says anything
// about a call that succeeds.
func (g *graph) live() []bool {
	// Forward from the entry, backward from the exit; what both reach is live.
	back := make([][]int, len(g.links))
	for n, links := range g.links {
		for _, l := range links {
			back[l.to] = append(back[l.to], n)
		}
	}
	live := reach(entry, len(g.links), g.after)
	ends := reach(exit, len(g.links), func(n int) []int { return back[n] })
	for n := range live {
		live[n] = live[n] && ends[n]
	}
	return live
}

// returns reports whether any call comes to an end without an error.
func (g *graph) returns() bool { return g.live()[entry] }

// cutShort weakens the sets of one row whose error a CATCH swallows: the server has sent their columns by then, but no
// row, and the call succeeds.
//
// The server sends the columns of SELECT 1 / @zero AS a before it computes the row. In
//
//	BEGIN TRY SELECT 1 / @zero AS a; END TRY BEGIN CATCH PRINT N'oh'; END CATCH
//
// a client sees a set with a column a and no row, then success.
func (g *graph) cutShort() {
	live := g.live()
	for i := range g.sets {
		if s := &g.sets[i]; s.Rows == One && s.caught != nowhere && live[s.caught] {
			s.Rows = Optional
		}
	}
}

// shape says what a client of the body sees: the result sets and in which order they can come. What a client could not
// make sense of is reported to found, and the answer is then empty.
//
// After a finding the flow is that of a procedure that sends nothing, so that the stages after this one have something
// that is whole; no code is generated from it.
func (g *graph) shape(found *diag.List) ([]ResultSet, Flow) {
	g.cutShort()
	m, ok := g.determinise()
	if !ok {
		first := g.sets[0].by
		found.Add(first.file, first.span, ruleShape, "split the procedure",
			"the result sets from here on can come in more than %d different orders", maxStates)
		return nil, Flow{States: []State{{Final: true}}}
	}
	results := m.results(g.sets, found)
	return results, m.flow()
}
