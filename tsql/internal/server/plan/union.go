package plan

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
)

// union plans a set operation.
func (p *planner) union(u *unionRel, q request) (*physical, error) {
	all := u.op == "UNION" && u.all
	need := q.need.with(slotsOf(q.conds...))
	for _, k := range u.order {
		need = need.with(slotsOf(k.node))
	}
	if !all {
		for _, c := range u.columns {
			need.add(c.slot)
		}
	}
	pushed, outside := u.split(q.conds)
	x, err := p.branches(u, need, pushed, q)
	if err != nil {
		return nil, err
	}
	if u.op == "UNION" && !all {
		x = p.distinct(u.columns, x)
	}
	if len(u.order) > 0 {
		x = p.sorted(x, u.order, u, need)
	}
	if u.top != nil {
		x = p.limited(u.top, u.order, x, tupleOf(u, need))
	}
	return p.filtered(x, outside, nil), nil
}

// split separates the conditions that each branch can test for itself.
func (u *unionRel) split(conds []*node) (pushed, outside []*node) {
	for _, n := range conds {
		if u.op == "UNION" && u.top == nil && !n.hasSubquery() && !n.isVolatile() {
			pushed = append(pushed, n)
		} else {
			outside = append(outside, n)
		}
	}
	return pushed, outside
}

// branches plans the operands and puts them together.
func (p *planner) branches(u *unionRel, need set, conds []*node, q request) (*physical, error) {
	out := &physical{}
	inputs := make([]*physical, len(u.branches))
	for i, b := range u.branches {
		by := map[int]*node{}
		for k, c := range u.columns {
			by[c.slot] = b.values[k]
		}
		var inner request
		inner.goal = q.goal
		for _, n := range conds {
			inner.conds = append(inner.conds, n.replace(by))
		}
		for k, c := range u.columns {
			if need.has(c.slot) {
				inner.need.addAll(slotsOf(b.values[k]))
			}
		}
		x, err := p.plan(b.rel, inner)
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
func (p *planner) setOperator(u *unionRel, inputs []*physical, need set) (execute.Operator, error) {
	branches := make([]execute.Branch, len(inputs))
	for i, x := range inputs {
		op, err := x.build()
		if err != nil {
			return nil, err
		}
		branches[i].Input = op
		for k, c := range u.columns {
			if !need.has(c.slot) {
				continue
			}
			v, err := p.code(u.branches[i].values[k])
			if err != nil {
				return nil, err
			}
			branches[i].Assign = append(branches[i].Assign, execute.Assign{Slot: c.slot, Value: v.expr})
		}
	}
	if u.op == "UNION" {
		return &execute.Concat{Branches: branches, Text: "union all"}, nil
	}
	op := &execute.Minus{Left: branches[0], Right: branches[1], Both: u.op == "INTERSECT", Text: "except"}
	if op.Both {
		op.Text = "intersect"
	}
	var err error
	op.Keys, err = p.keys(keysOf(u.columns))
	return op, err
}

// recursive plans a common table expression that reads itself.
func (p *planner) recursive(u *recursiveRel, q request) *physical {
	branch := func(b unionBranch) (execute.Branch, error) {
		x, err := p.plan(b.rel, request{need: slotsOf(b.values...), goal: all})
		if err != nil {
			return execute.Branch{}, err
		}
		op, err := x.build()
		out := execute.Branch{Input: op}
		if err != nil {
			return out, err
		}
		for k, c := range u.columns {
			v, err := p.code(b.values[k])
			if err != nil {
				return out, err
			}
			out.Assign = append(out.Assign, execute.Assign{Slot: c.slot, Value: v.expr})
		}
		return out, nil
	}
	x := &physical{rows: 100, cost: 500}
	x.build = func() (execute.Operator, error) {
		op := &execute.Recursive{Work: u.work, Limit: u.limit, Text: "recursive union"}
		for _, c := range u.columns {
			op.Columns = append(op.Columns, c.slot)
		}
		var err error
		if op.Anchor, err = branch(u.anchor); err != nil {
			return nil, err
		}
		for _, s := range u.steps {
			b, err := branch(s)
			if err != nil {
				return nil, err
			}
			op.Steps = append(op.Steps, b)
		}
		return op, nil
	}
	rest, startup := splitStartup(q.conds, made(u))
	return p.filtered(x, rest, startup)
}
