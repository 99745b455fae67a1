package planner

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
)

// block plans one SELECT. Conditions of those who read it are tested as far inside as that is the same.
func (p *planner) block(b *binder.Block, q request) (*physical, error) {
	inside, outside := splitBlock(b, q.conds)
	need := neededIn(b, q.need.With(binder.SlotsOf(outside...)))
	base, err := p.base(b, inside, need, q)
	if err != nil {
		return nil, err
	}
	x := base
	if b.Group != nil {
		x = p.grouped(b, x)
		x = p.filtered(x, b.Having, nil)
	}
	for _, w := range b.Windows {
		x = p.windowed(b, w, x, need)
	}
	if b.Distinct != nil {
		x = p.distinct(b.Distinct, x)
	}
	if len(b.Order) > 0 && !satisfies(x, b.Order) {
		x = p.sorted(x, b.Order, b, need)
	}
	if b.Top != nil {
		x = p.limited(b.Top, b.Order, x, tupleOf(b, need))
	}
	if len(b.Computes) > 0 {
		x = p.computed(b.Computes, x, q.need.With(binder.SlotsOf(outside...)))
	}
	return p.filtered(x, outside, nil), nil
}

// splitBlock separates the conditions that may be tested before grouping and so on from the others.
func splitBlock(b *binder.Block, conds []*binder.Node) (inside, outside []*binder.Node) {
	for _, n := range conds {
		if admits(b, n) {
			inside = append(inside, n)
		} else {
			outside = append(outside, n)
		}
	}
	return inside, outside
}

// admits reports whether a condition means the same if it is tested before everything else: it is about columns by
// which the block groups and partitions, if it does.
func admits(b *binder.Block, n *binder.Node) bool {
	if b.Top != nil || n.IsVolatile() {
		return false
	}
	slots := n.Slots()
	for _, c := range b.Computes {
		if slots.Has(c.Slot) {
			return false
		}
	}
	within := func(keys []*binder.Node) bool {
		var columns binder.Set
		for _, k := range keys {
			if k.Kind == binder.IsColumn {
				columns.Add(k.Slot)
			}
		}
		return inGroup(slots, binder.Made(b)).In(columns)
	}
	if b.Group != nil {
		var keys []*binder.Node
		for _, k := range b.Group.Keys {
			keys = append(keys, k.Node)
		}
		// Without GROUP BY there is a row also if no row meets the condition.
		if len(keys) == 0 || b.Group.Sets != nil || !within(keys) {
			return false
		}
	}
	for _, w := range b.Windows {
		if !within(w.Partition) {
			return false
		}
	}
	return true
}

// neededIn are the slots that are read after the rows have been grouped.
func neededIn(b *binder.Block, above binder.Set) binder.Set {
	need := above
	for _, c := range b.Computes {
		if above.Has(c.Slot) {
			need = need.With(binder.SlotsOf(c.Node))
		}
	}
	need = need.With(binder.SlotsOf(b.Having...)).With(binder.SlotsOf(b.Distinct...))
	for _, k := range b.Order {
		need = need.With(binder.SlotsOf(k.Node))
	}
	for _, w := range b.Windows {
		need = need.With(binder.SlotsOf(w.Partition...))
		for _, k := range w.Order {
			need = need.With(binder.SlotsOf(k.Node))
		}
		for _, c := range w.Calls {
			need = need.With(binder.SlotsOf(c.Args...))
		}
	}
	return need
}

// base plans FROM and WHERE.
func (p *planner) base(b *binder.Block, conds []*binder.Node, need binder.Set, q request) (*physical, error) {
	inner := request{goal: all}
	switch {
	case b.Group != nil:
		for _, k := range b.Group.Keys {
			inner.need.AddAll(binder.SlotsOf(k.Node))
		}
		for _, c := range b.Group.Calls {
			inner.need.AddAll(binder.SlotsOf(c.Args...))
			for _, k := range c.Order {
				inner.need.AddAll(binder.SlotsOf(k.Node))
			}
		}
		// What is grouped may still be read by what stands above and refers to the rows around the block.
		inner.need = inner.need.With(need)
		if k, ok := extreme(b); ok {
			inner.order, inner.goal = []binder.SortKey{k}, 1
			if k.Node.Nullable {
				conds = append(slices.Clip(conds), binder.NullTest(k.Node, true))
			}
		}
	default:
		inner.need = need
		wish(b, &inner, q)
	}
	return p.joins(b.From, append(slices.Clip(b.Where), conds...), inner)
}

// wish says in what order the rows should come, and how many of them will be read.
func wish(b *binder.Block, inner *request, q request) {
	switch {
	case len(b.Windows) > 0:
		w := b.Windows[0]
		inner.order = append(keysOf(w.Partition), w.Order...)
		if len(b.Windows) == 1 && numbers(w) {
			inner.goal = min(q.goal, rowGoal(b.Top))
		}
	case b.Distinct != nil:
		inner.order = b.Order
		if len(b.Order) == 0 {
			inner.goal = min(q.goal, rowGoal(b.Top))
		}
	case len(b.Order) > 0:
		inner.order, inner.goal = b.Order, min(q.goal, rowGoal(b.Top))
	case b.Top == nil:
		inner.order, inner.goal = q.order, q.goal
	default:
		inner.goal = min(q.goal, rowGoal(b.Top))
	}
}

// numbers reports whether a window does nothing but number its rows.
func numbers(w *binder.WindowSpec) bool {
	return !slices.ContainsFunc(w.Calls, func(c *binder.WindowCall) bool { return !c.Number })
}

// extreme reports whether the block is MIN or MAX of one expression: then the first row in its order decides.
func extreme(b *binder.Block) (binder.SortKey, bool) {
	if len(b.Group.Keys) > 0 || b.Group.Sets != nil || len(b.Group.Calls) != 1 || len(b.Group.Grouping) > 0 {
		return binder.SortKey{}, false
	}
	c := b.Group.Calls[0]
	if c.Name != "MIN" && c.Name != "MAX" || c.Args[0].Kind != binder.IsColumn {
		return binder.SortKey{}, false
	}
	return binder.SortKey{Node: c.Args[0], Desc: c.Name == "MAX"}, true
}

// grouped groups rows.
func (p *planner) grouped(b *binder.Block, x *physical) *physical {
	out := &physical{rows: 1, cost: x.cost + x.rows*groupCost}
	if len(b.Group.Keys) > 0 {
		out.rows = max(1, x.rows*groupPart)
	}
	first := false
	if k, ok := extreme(b); ok && satisfies(x, []binder.SortKey{k}) {
		first = true
		out.cost = x.cost * min(1, 1/max(x.rows, 1))
	}
	out.build = func() (execute.Operator, error) {
		input, err := x.build()
		if err != nil {
			return nil, err
		}
		return p.aggregate(b.Group, input, first)
	}
	return out
}

func (p *planner) aggregate(g *binder.Grouped, input execute.Operator, first bool) (execute.Operator, error) {
	a := &execute.Aggregate{Input: input, Sets: g.Sets, Grouping: g.Grouping, First: first, Text: "aggregate"}
	if first {
		a.Text = "first row"
	}
	for _, k := range g.Keys {
		keys, err := p.keys([]binder.SortKey{{Node: k.Node}})
		if err != nil {
			return nil, err
		}
		a.Keys = append(a.Keys, execute.GroupKey{KeyPart: keys[0], Slot: k.Slot})
	}
	for _, c := range g.Calls {
		args, err := p.codes(c.Args)
		if err != nil {
			return nil, err
		}
		call := execute.Call{New: c.Make, Args: binder.Operands(args), Slot: c.Slot}
		if call.Order, err = p.keys(c.Order); err != nil {
			return nil, err
		}
		if len(c.Order) == 0 {
			call.Order = nil
		}
		a.Calls = append(a.Calls, call)
	}
	return a, nil
}

// windowed computes window functions.
func (p *planner) windowed(b *binder.Block, w *binder.WindowSpec, x *physical, need binder.Set) *physical {
	order := append(keysOf(w.Partition), w.Order...)
	sorted := satisfies(x, order)
	out := &physical{rows: x.rows, cost: x.cost + x.rows*windowCost, fixed: x.fixed, order: x.order}
	if !sorted {
		out.cost = p.total(x, request{order: order, goal: all})
		out.order = nil
		for _, k := range order {
			out.order = append(out.order, ordering{k.Node.Key(), k.Desc})
		}
	}
	out.build = func() (execute.Operator, error) {
		input, err := x.build()
		if err != nil {
			return nil, err
		}
		op := &execute.Window{Input: input, Sorted: sorted, Tuple: tupleOf(b, need), Text: "window"}
		if op.Partition, err = p.keys(keysOf(w.Partition)); err != nil {
			return nil, err
		}
		if op.Order, err = p.keys(w.Order); err != nil {
			return nil, err
		}
		for _, c := range w.Calls {
			args, err := p.codes(c.Args)
			if err != nil {
				return nil, err
			}
			op.Calls = append(op.Calls, c.Make(args))
		}
		return op, nil
	}
	return out
}

// distinct leaves out repeated rows.
func (p *planner) distinct(columns []*binder.Node, x *physical) *physical {
	out := *x
	out.rows, out.cost = max(1, x.rows*distinctPart), x.cost+x.rows*groupCost
	out.build = func() (execute.Operator, error) {
		input, err := x.build()
		if err != nil {
			return nil, err
		}
		op := &execute.Distinct{Input: input, Text: "distinct"}
		op.Keys, err = p.keys(keysOf(columns))
		return op, err
	}
	return &out
}

// limited is TOP, OFFSET and FETCH.
func (p *planner) limited(t *binder.TopRel, order []binder.SortKey, x *physical, tuple execute.Tuple) *physical {
	out := *x
	if goal := rowGoal(t); goal < x.rows {
		out.rows = max(goal, fewestGoal)
		out.cost = x.cost * min(1, goal/max(x.rows, 1))
	}
	out.build = func() (execute.Operator, error) {
		input, err := x.build()
		if err != nil {
			return nil, err
		}
		op := &execute.Top{Input: input, Fetch: t.Fetch, Percent: t.Percent, Text: "top"}
		for _, e := range []struct {
			node *binder.Node
			to   *execute.Expr
		}{{t.Count, &op.Count}, {t.Skip, &op.Skip}} {
			if e.node != nil {
				c, err := p.code(e.node)
				if err != nil {
					return nil, err
				}
				*e.to = c.Expr
			}
		}
		if t.Percent {
			op.Tuple = tuple
		}
		if t.Ties {
			op.Ties, err = p.keys(order)
		}
		return op, err
	}
	return &out
}

// computed puts computed columns into their slots.
func (p *planner) computed(list []binder.Computed, x *physical, need binder.Set) *physical {
	out := *x
	out.cost += x.rows * conditionCost
	out.build = func() (execute.Operator, error) {
		input, err := x.build()
		if err != nil {
			return nil, err
		}
		op := &execute.Compute{Input: input, Text: "compute"}
		for _, c := range list {
			if !need.Has(c.Slot) {
				continue
			}
			v, err := p.code(c.Node)
			if err != nil {
				return nil, err
			}
			op.Assign = append(op.Assign, execute.Assign{Slot: c.Slot, Value: v.Expr})
		}
		if len(op.Assign) == 0 {
			return input, nil
		}
		return op, nil
	}
	return &out
}

// rowGoal is how many rows TOP asks for, if that is known.
func rowGoal(t *binder.TopRel) float64 {
	if t == nil || t.Count == nil || t.Percent {
		return all
	}
	v, ok := t.Count.ConstantValue()
	if !ok || v.IsNull() {
		return topRows
	}
	return float64(v.Int())
}
