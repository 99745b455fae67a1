package planner

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
)

// union plans a set operation.
func (p *planner) union(u *binder.UnionRel, q request) (*physical, error) {
	all := u.Op == "UNION" && u.All
	need := q.need.With(binder.SlotsOf(q.conds...))
	for _, k := range u.Order {
		need = need.With(binder.SlotsOf(k.Node))
	}
	if !all {
		for _, c := range u.Columns {
			need.Add(c.Slot)
		}
	}
	pushed, outside := splitUnion(u, q.conds)
	x, err := p.branches(u, need, pushed, q)
	if err != nil {
		return nil, err
	}
	if u.Op == "UNION" && !all {
		x = p.distinct(u.Columns, x)
	}
	if len(u.Order) > 0 {
		x = p.sorted(x, u.Order, u, need)
	}
	if u.Top != nil {
		x = p.limited(u.Top, u.Order, x, tupleOf(u, need))
	}
	return p.filtered(x, outside, nil), nil
}

// splitUnion separates the conditions that each branch can test for itself.
func splitUnion(u *binder.UnionRel, conds []*binder.Node) (pushed, outside []*binder.Node) {
	for _, n := range conds {
		if u.Op == "UNION" && u.Top == nil && !n.HasSubquery() && !n.IsVolatile() {
			pushed = append(pushed, n)
		} else {
			outside = append(outside, n)
		}
	}
	return pushed, outside
}

// branches plans the operands and puts them together.
func (p *planner) branches(u *binder.UnionRel, need binder.Set, conds []*binder.Node, q request) (*physical, error) {
	out := &physical{}
	inputs := make([]*physical, len(u.Branches))
	for i, b := range u.Branches {
		by := map[int]*binder.Node{}
		for k, c := range u.Columns {
			by[c.Slot] = b.Values[k]
		}
		var inner request
		inner.goal = q.goal
		for _, n := range conds {
			inner.conds = append(inner.conds, n.Replace(by))
		}
		for k, c := range u.Columns {
			if need.Has(c.Slot) {
				inner.need.AddAll(binder.SlotsOf(b.Values[k]))
			}
		}
		x, err := p.plan(b.Rel, inner)
		if err != nil {
			return nil, err
		}
		inputs[i] = x
		out.rows += x.rows
		out.cost += x.cost
	}
	out.build = func() (execute.Operator, error) { return p.setOperator(u, inputs, need) }
	return out, nil
}

// setOperator makes the operator of a set operation.
func (p *planner) setOperator(u *binder.UnionRel, inputs []*physical, need binder.Set) (execute.Operator, error) {
	branches := make([]execute.Branch, len(inputs))
	for i, x := range inputs {
		op, err := x.build()
		if err != nil {
			return nil, err
		}
		branches[i].Input = op
		for k, c := range u.Columns {
			if !need.Has(c.Slot) {
				continue
			}
			v, err := p.code(u.Branches[i].Values[k])
			if err != nil {
				return nil, err
			}
			branches[i].Assign = append(branches[i].Assign, execute.Assign{Slot: c.Slot, Value: v.Expr})
		}
	}
	if u.Op == "UNION" {
		return &execute.Concat{Branches: branches, Text: "union all"}, nil
	}
	op := &execute.Minus{Left: branches[0], Right: branches[1], Both: u.Op == "INTERSECT", Text: "except"}
	if op.Both {
		op.Text = "intersect"
	}
	var err error
	op.Keys, err = p.keys(keysOf(u.Columns))
	return op, err
}

// recursive plans a common table expression that reads itself.
func (p *planner) recursive(u *binder.RecursiveRel, q request) *physical {
	branch := func(b binder.UnionBranch) (execute.Branch, error) {
		op, codes, err := p.read(b.Rel, b.Values, all)
		if err != nil {
			return execute.Branch{}, err
		}
		out := execute.Branch{Input: op}
		for k, c := range u.Columns {
			out.Assign = append(out.Assign, execute.Assign{Slot: c.Slot, Value: codes[k].Expr})
		}
		return out, nil
	}
	x := &physical{rows: recursiveRows, cost: recursiveCost}
	x.build = func() (execute.Operator, error) {
		op := &execute.Recursive{Work: u.Work, Limit: u.Limit, Text: "recursive union"}
		for _, c := range u.Columns {
			op.Columns = append(op.Columns, c.Slot)
		}
		var err error
		if op.Anchor, err = branch(u.Anchor); err != nil {
			return nil, err
		}
		for _, s := range u.Steps {
			b, err := branch(s)
			if err != nil {
				return nil, err
			}
			op.Steps = append(op.Steps, b)
		}
		return op, nil
	}
	rest, startup := splitStartup(q.conds, binder.Made(u))
	return p.filtered(x, rest, startup)
}
