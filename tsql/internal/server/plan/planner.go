package plan

import (
	"fmt"
	"math"

	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
)

// planner makes operators of relations. It works on numbers and on what orders come of them; operators are made only of
// what has been chosen in the end.
type planner struct {
	b *binder
	// known are the ways that have been found. A view in a chain of joins is asked for again with each set of those
	// before it, and so is each view in it: without this, time grows exponentially with the depth of views.
	known map[wanted]remembered
}

// wanted is what identifies a request for a relation.
type wanted struct {
	rel     rel
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
	need  set     // the slots that are read above
	conds []*node // the conditions that the rows must meet
	order []sortKey
	goal  float64 // how many rows are likely to be read; infinite for all
}

// all is a goal that no plan can be clever about.
var all = math.Inf(1)

// plan finds the best way to get the rows of a relation.
func (p *planner) plan(r rel, q request) (*physical, error) {
	list, err := p.alternatives(r, q)
	if err != nil {
		return nil, err
	}
	return list[p.choose("path", list, q)], nil
}

// alternatives are the ways to get the rows of a relation. There is at least one.
func (p *planner) alternatives(r rel, q request) ([]*physical, error) {
	if _, simple := r.(*tableRel); simple || p.b.env.Chooser != nil {
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
		out = fmt.Appendf(out, " by %p %t", k.node, k.desc)
	}
	return string(out)
}

// find is alternatives for what has not been asked before.
func (p *planner) find(r rel, q request) ([]*physical, error) {
	switch r := r.(type) {
	case *tableRel:
		return p.paths(r, q)
	case *block:
		return p.one(p.block(r, q))
	case *joinRel:
		if r.kind == "FULL" {
			return p.one(p.full(r, q))
		}
		return p.one(p.joins(r, nil, q))
	case *unionRel:
		return p.one(p.union(r, q))
	case *recursiveRel:
		return p.one(p.recursive(r, q), nil)
	case *rowsRel:
		return p.one(p.rowsOf(r, q), nil)
	case *systemRel:
		return p.one(p.system(r, q), nil)
	default:
		out := &physical{rows: 1, cost: 0.1, build: func() (execute.Operator, error) { return execute.One{}, nil }}
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
	if c := p.b.env.Chooser; c != nil {
		return c.Choose(what, costs)
	}
	return best
}

// unsteady is more than any way costs.
const unsteady = 1e30

// total is what a way costs with the sorting that it needs.
func (p *planner) total(x *physical, q request) float64 {
	if !satisfies(x, q.order) {
		if p.b.options.steady {
			return unsteady + x.cost
		}
		return x.cost + x.rows*math.Log2(x.rows+2)*0.05 + 1
	}
	return x.cost * min(1, q.goal/max(x.rows, 1))
}

// satisfies reports whether rows come in an order.
func satisfies(x *physical, order []sortKey) bool {
	at := 0
	for _, k := range order {
		key := k.node.key()
		if x.fixed[key] || k.node.constant() || k.node.kind == isVariable {
			continue
		}
		for at < len(x.order) && x.fixed[x.order[at].key] {
			at++
		}
		if at == len(x.order) || x.order[at].key != key || x.order[at].desc != k.desc {
			return false
		}
		at++
	}
	return true
}

// code compiles a node, and plans the subqueries in it.
func (p *planner) code(n *node) (code, error) {
	if n.sub != nil {
		return p.subquery(n.sub)
	}
	args := make([]code, len(n.args))
	for i, a := range n.args {
		var err error
		if args[i], err = p.code(a); err != nil {
			return code{}, err
		}
	}
	if n.truth != nil {
		return code{cond: n.truth(args)}, nil
	}
	return code{expr: n.value(args)}, nil
}

// codes compiles several nodes.
func (p *planner) codes(list []*node) ([]code, error) {
	out := make([]code, len(list))
	for i, n := range list {
		var err error
		if out[i], err = p.code(n); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// conds compiles conditions.
func (p *planner) conds(list []*node) ([]execute.Cond, error) {
	codes, err := p.codes(list)
	out := make([]execute.Cond, len(codes))
	for i, c := range codes {
		out[i] = c.cond
	}
	return out, err
}

// keys compiles keys of sorting and grouping.
func (p *planner) keys(list []sortKey) ([]execute.KeyPart, error) {
	out := make([]execute.KeyPart, len(list))
	for i, k := range list {
		c, err := p.code(k.node)
		if err != nil {
			return nil, err
		}
		out[i] = execute.KeyPart{Value: c.expr, Type: p.b.keyType(k.node.typ), Desc: k.desc}
	}
	return out, nil
}

// keysOf makes keys of nodes.
func keysOf(list []*node) []sortKey {
	out := make([]sortKey, len(list))
	for i, n := range list {
		out[i] = sortKey{node: n}
	}
	return out
}

// subquery plans a subquery and makes the code of the expression that it is.
func (p *planner) subquery(s *subquery) (code, error) {
	if s.document != nil {
		return p.documentCode(s)
	}
	goal := all
	if s.goal > 0 {
		goal = s.goal
	}
	x, err := p.plan(s.rel, request{need: slotsOf(s.need...), goal: goal})
	if err != nil {
		return code{}, err
	}
	op, err := x.build()
	if err != nil {
		return code{}, err
	}
	need, err := p.codes(s.need)
	if err != nil {
		return code{}, err
	}
	sub := p.numbered(op)
	if !s.constant() {
		return s.code(sub, need), nil
	}
	return p.once(s, sub, need)
}

// once makes the code of a subquery that does not depend on the rows around it: it is executed once.
func (p *planner) once(s *subquery, sub *execute.Subquery, need []code) (code, error) {
	number := p.b.newOnce()
	if s.member != nil {
		equal := s.member.equal
		args, err := p.codes(equal.args)
		if err != nil {
			return code{}, err
		}
		return code{cond: sub.Member(number, execute.KeyPart{Value: args[0].expr, Type: equal.typ}, args[1].expr)}, nil
	}
	out := s.code(sub, need)
	switch {
	case !s.slotsOfNeed().empty():
		return out, nil // ANY and ALL compare with the row around
	case out.cond != nil:
		out.cond = execute.OnceTrue(number, out.cond)
	default:
		out.expr = execute.Once(number, out.expr)
	}
	return out, nil
}

// slotsOfNeed are the slots around the subquery that what is read of its rows needs.
func (s *subquery) slotsOfNeed() set { return slotsOf(s.need...).without(made(s.rel)) }

// numbered gives a subquery's plan its number.
func (p *planner) numbered(op execute.Operator) *execute.Subquery {
	n := p.b.shape.Subqueries
	p.b.shape.Subqueries++
	p.b.plans = append(p.b.plans, op)
	return &execute.Subquery{Number: n, Plan: op}
}

// selectivity guesses which part of the rows meets a condition.
func selectivity(n *node) float64 {
	switch n.kind {
	case isCompare:
		switch n.name {
		case "=":
			return 0.1
		case "<>":
			return 0.9
		default:
			return 0.4
		}
	case isNullTest:
		return 0.2
	case isNotNull:
		return 0.8
	case isNot:
		return 1 - selectivity(n.args[0])
	case isOr:
		sum := 0.0
		for _, a := range n.args {
			sum += selectivity(a)
		}
		return min(sum, 0.9)
	default:
		return 0.5
	}
}

// filtered puts conditions on top of a way. Those in startup do not depend on the rows.
func (p *planner) filtered(x *physical, conds, startup []*node) *physical {
	if len(conds) == 0 && len(startup) == 0 {
		return x
	}
	out := *x
	for _, n := range conds {
		out.rows *= selectivity(n)
		out.cost += 0.01 * x.rows
	}
	for range startup {
		out.cost *= 0.9
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
func splitStartup(conds []*node, made set) (rest, startup []*node) {
	for _, n := range conds {
		if n.slots().meets(made) || n.isVolatile() {
			rest = append(rest, n)
		} else {
			startup = append(startup, n)
		}
	}
	return rest, startup
}

// sorted puts a sort on top of a way.
func (p *planner) sorted(x *physical, order []sortKey, r rel, need set) *physical {
	out := *x
	out.cost = x.cost + x.rows*math.Log2(x.rows+2)*0.05 + 1
	out.order = nil
	for _, k := range order {
		out.order = append(out.order, ordering{k.node.key(), k.desc})
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
func tupleOf(r rel, need set) execute.Tuple {
	t := execute.Tuple{}
	m := made(r)
	for _, slot := range need.list() {
		if m.has(slot) {
			t.Slots = append(t.Slots, slot)
		}
	}
	t.Rows = rowsIn(r)
	return t
}

// rowsIn are the registers for the rows themselves in a relation.
func rowsIn(r rel) []int {
	switch r := r.(type) {
	case *tableRel:
		if r.row >= 0 {
			return []int{r.row}
		}
	case *joinRel:
		return append(rowsIn(r.x), rowsIn(r.y)...)
	case *block:
		return rowsIn(r.from)
	}
	return nil
}

// rowsOf plans what makes its rows by itself.
func (p *planner) rowsOf(r *rowsRel, q request) *physical {
	need := q.need.with(slotsOf(q.conds...))
	x := &physical{rows: r.rows, cost: r.rows * 0.2}
	x.build = func() (execute.Operator, error) {
		args, err := p.codes(r.args)
		if err != nil {
			return nil, err
		}
		return r.make(args, need), nil
	}
	rest, startup := splitStartup(q.conds, made(r))
	return p.filtered(x, rest, startup)
}
