package planner

import (
	"fmt"
	"math"

	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
)

// planner makes operators of relations. It works on numbers and on what orders come of them; operators are made only of
// what has been chosen in the end.
type planner struct {
	b *binder.Binder
	// known are the ways that have been found. A view in a chain of joins is asked for again with each set of those
	// before it, and so is each view in it: without this, time grows exponentially with the depth of views.
	known map[wanted]remembered
	// compiled are the rules of tables that are changed.
	compiled map[*binder.Rules]*rules
	plans    []execute.Operator // of subqueries, by number
	whole    execute.Operator   // of the statement itself
}

// newPlanner makes the planner of a statement, with the binder of it.
func newPlanner(env *binder.Env) *planner { return &planner{b: binder.New(env)} }

// wanted is what identifies a request for a relation.
type wanted struct {
	rel     binder.Rel
	request string // with the addresses of nodes
}

// remembered are the ways to get what was wanted. The request keeps its nodes from being freed, so that no other node
// gets their addresses.
type remembered struct {
	list []*physical
	request
}

// ordering is a key by which rows come sorted.
type ordering struct {
	key  string // of a node
	desc bool
}

// physical is a way to get the rows of a relation.
type physical struct {
	rows, cost float64
	// order is how the rows come sorted. Columns in fixed have the same value in all rows.
	order []ordering
	fixed map[string]bool
	build func() (execute.Operator, error)
}

// request says what is wanted of a relation.
type request struct {
	need  binder.Set     // the slots that are read above
	conds []*binder.Node // the conditions that the rows must meet
	order []binder.SortKey
	goal  float64 // how many rows are likely to be read; infinite for all
}

// all is a goal that no plan can be clever about.
var all = math.Inf(1)

// plan finds the best way to get the rows of a relation.
func (p *planner) plan(r binder.Rel, q request) (*physical, error) {
	list, err := p.alternatives(r, q)
	if err != nil {
		return nil, err
	}
	return list[p.choose("path", list, q)], nil
}

// alternatives are the ways to get the rows of a relation. There is at least one.
func (p *planner) alternatives(r binder.Rel, q request) ([]*physical, error) {
	if _, simple := r.(*binder.TableRel); simple || p.b.Env.Chooser != nil {
		return p.find(r, q)
	}
	key := wanted{r, q.text()}
	if known, ok := p.known[key]; ok {
		return known.list, nil
	}
	list, err := p.find(r, q)
	if err == nil {
		if p.known == nil {
			p.known = map[wanted]remembered{}
		}
		p.known[key] = remembered{list, q}
	}
	return list, err
}

// text writes a request as text that differs from that of any other.
func (q request) text() string {
	out := fmt.Appendf(nil, "%x %g", q.need, q.goal)
	for _, n := range q.conds {
		out = fmt.Appendf(out, " %p", n)
	}
	for _, k := range q.order {
		out = fmt.Appendf(out, " by %p %t", k.Node, k.Desc)
	}
	return string(out)
}

// find is alternatives for what has not been asked before.
func (p *planner) find(r binder.Rel, q request) ([]*physical, error) {
	switch r := r.(type) {
	case *binder.TableRel:
		return p.paths(r, q)
	case *binder.Block:
		return p.one(p.block(r, q))
	case *binder.JoinRel:
		if r.Kind == "FULL" {
			return p.one(p.full(r, q))
		}
		return p.one(p.joins(r, nil, q))
	case *binder.UnionRel:
		return p.one(p.union(r, q))
	case *binder.RecursiveRel:
		return p.one(p.recursive(r, q), nil)
	case *binder.RowsRel:
		return p.one(p.rowsOf(r, q), nil)
	case *binder.SystemRel:
		return p.one(p.system(r, q), nil)
	default:
		out := &physical{rows: 1, cost: oneRowCost, build: func() (execute.Operator, error) { return execute.One{}, nil }}
		return p.one(p.filtered(out, q.conds, nil), nil)
	}
}

func (p *planner) one(x *physical, err error) ([]*physical, error) { return []*physical{x}, err }

// choose picks one of several ways.
func (p *planner) choose(what string, list []*physical, q request) int {
	if len(list) == 1 {
		return 0
	}
	costs := make([]float64, len(list))
	best := 0
	for i, x := range list {
		costs[i] = p.total(x, q)
		if costs[i] < costs[best] {
			best = i
		}
	}
	if c := p.b.Env.Chooser; c != nil {
		return c.Choose(what, costs)
	}
	return best
}

// total is what a way costs with the sorting that it needs.
func (p *planner) total(x *physical, q request) float64 {
	if !satisfies(x, q.order) {
		if p.b.Options.Steady {
			return unsteadyCost + x.cost
		}
		return sortedCost(x)
	}
	return x.cost * min(1, q.goal/max(x.rows, 1))
}

// satisfies reports whether rows come in an order.
func satisfies(x *physical, order []binder.SortKey) bool {
	at := 0
	for _, k := range order {
		key := k.Node.Key()
		if x.fixed[key] || k.Node.Constant() || k.Node.Kind == binder.IsVariable {
			continue
		}
		for at < len(x.order) && x.fixed[x.order[at].key] {
			at++
		}
		if at == len(x.order) || x.order[at].key != key || x.order[at].desc != k.Desc {
			return false
		}
		at++
	}
	return true
}

// code compiles a node, and plans the subqueries in it.
func (p *planner) code(n *binder.Node) (binder.Code, error) {
	if n.Sub != nil {
		return p.subquery(n.Sub)
	}
	args := make([]binder.Code, len(n.Args))
	for i, a := range n.Args {
		var err error
		if args[i], err = p.code(a); err != nil {
			return binder.Code{}, err
		}
	}
	if n.Truth != nil {
		return binder.Code{Cond: n.Truth(args)}, nil
	}
	return binder.Code{Expr: n.Value(args)}, nil
}

// codes compiles several nodes.
func (p *planner) codes(list []*binder.Node) ([]binder.Code, error) {
	out := make([]binder.Code, len(list))
	for i, n := range list {
		var err error
		if out[i], err = p.code(n); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// conds compiles conditions.
func (p *planner) conds(list []*binder.Node) ([]execute.Cond, error) {
	codes, err := p.codes(list)
	out := make([]execute.Cond, len(codes))
	for i, c := range codes {
		out[i] = c.Cond
	}
	return out, err
}

// keys compiles keys of sorting and grouping.
func (p *planner) keys(list []binder.SortKey) ([]execute.KeyPart, error) {
	out := make([]execute.KeyPart, len(list))
	for i, k := range list {
		c, err := p.code(k.Node)
		if err != nil {
			return nil, err
		}
		out[i] = execute.KeyPart{Value: c.Expr, Type: p.b.Collated(k.Node.Type), Desc: k.Desc}
	}
	return out, nil
}

// keysOf makes keys of nodes.
func keysOf(list []*binder.Node) []binder.SortKey {
	out := make([]binder.SortKey, len(list))
	for i, n := range list {
		out[i] = binder.SortKey{Node: n}
	}
	return out
}

// subquery plans a subquery and makes the code of the expression that it is.
func (p *planner) subquery(s *binder.Subquery) (binder.Code, error) {
	if s.Document != nil {
		return p.documentCode(s)
	}
	goal := all
	if s.Goal > 0 {
		goal = s.Goal
	}
	op, need, err := p.read(s.Rel, s.Need, goal)
	if err != nil {
		return binder.Code{}, err
	}
	sub := p.numbered(op)
	if !s.Constant() {
		return s.Code(sub, need), nil
	}
	return p.once(s, sub, need)
}

// once makes the code of a subquery that does not depend on the rows around it: it is executed once.
func (p *planner) once(s *binder.Subquery, sub *execute.Subquery, need []binder.Code) (binder.Code, error) {
	number := p.b.NewOnce()
	if s.Member != nil {
		equal := s.Member.Equal
		args, err := p.codes(equal.Args)
		if err != nil {
			return binder.Code{}, err
		}
		return binder.Code{Cond: sub.Member(number, execute.KeyPart{Value: args[0].Expr, Type: equal.Type}, args[1].Expr)}, nil
	}
	out := s.Code(sub, need)
	switch {
	case !s.SlotsOfNeed().Empty():
		return out, nil // ANY and ALL compare with the row around
	case out.Cond != nil:
		out.Cond = execute.OnceTrue(number, out.Cond)
	default:
		out.Expr = execute.Once(number, out.Expr)
	}
	return out, nil
}

// numbered gives a subquery's plan its number.
func (p *planner) numbered(op execute.Operator) *execute.Subquery {
	n := p.b.Shape.Subqueries
	p.b.Shape.Subqueries++
	p.plans = append(p.plans, op)
	return &execute.Subquery{Number: n, Plan: op}
}

// filtered puts conditions on top of a way. Those in startup do not depend on the rows.
func (p *planner) filtered(x *physical, conds, startup []*binder.Node) *physical {
	if len(conds) == 0 && len(startup) == 0 {
		return x
	}
	out := *x
	for _, n := range conds {
		out.rows *= selectivity(n)
		out.cost += conditionCost * x.rows
	}
	for range startup {
		out.cost *= startupPart
	}
	build := x.build
	out.build = func() (execute.Operator, error) {
		op, err := build()
		if err != nil {
			return nil, err
		}
		f := &execute.Filter{Input: op, Text: "filter"}
		if f.Conditions, err = p.conds(conds); err != nil {
			return nil, err
		}
		f.Startup, err = p.conds(startup)
		return f, err
	}
	return &out
}

// splitStartup separates the conditions that do not depend on a relation's rows.
func splitStartup(conds []*binder.Node, made binder.Set) (rest, startup []*binder.Node) {
	for _, n := range conds {
		if n.Slots().Meets(made) || n.IsVolatile() {
			rest = append(rest, n)
		} else {
			startup = append(startup, n)
		}
	}
	return rest, startup
}

// sorted puts a sort on top of a way.
func (p *planner) sorted(x *physical, order []binder.SortKey, r binder.Rel, need binder.Set) *physical {
	out := *x
	out.cost = sortedCost(x)
	out.order = nil
	for _, k := range order {
		out.order = append(out.order, ordering{k.Node.Key(), k.Desc})
	}
	out.build = func() (execute.Operator, error) {
		op, err := x.build()
		if err != nil {
			return nil, err
		}
		s := &execute.Sort{Input: op, Tuple: tupleOf(r, need), Text: "sort"}
		s.Keys, err = p.keys(order)
		return s, err
	}
	return &out
}

// tupleOf are the registers to keep of a relation's rows.
func tupleOf(r binder.Rel, need binder.Set) execute.Tuple {
	t := execute.Tuple{}
	m := binder.Made(r)
	for _, slot := range need.List() {
		if m.Has(slot) {
			t.Slots = append(t.Slots, slot)
		}
	}
	t.Rows = rowsIn(r)
	return t
}

// rowsIn are the registers for the rows themselves in a relation.
func rowsIn(r binder.Rel) []int {
	switch r := r.(type) {
	case *binder.TableRel:
		if r.Row >= 0 {
			return []int{r.Row}
		}
	case *binder.JoinRel:
		return append(rowsIn(r.X), rowsIn(r.Y)...)
	case *binder.Block:
		return rowsIn(r.From)
	}
	return nil
}

// rowsOf plans what makes its rows by itself.
func (p *planner) rowsOf(r *binder.RowsRel, q request) *physical {
	need := q.need.With(binder.SlotsOf(q.conds...))
	x := &physical{rows: r.Rows, cost: r.Rows * madeRowCost}
	x.build = func() (execute.Operator, error) {
		args, err := p.codes(r.Args)
		if err != nil {
			return nil, err
		}
		return r.Make(args, need), nil
	}
	rest, startup := splitStartup(q.conds, binder.Made(r))
	return p.filtered(x, rest, startup)
}
