package plan

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
)

// block plans one SELECT. Conditions of those who read it are tested as far inside as that is the same.
func (p *planner) block(b *block, q request) (*physical, error) {
	inside, outside := b.split(q.conds)
	need := b.needs(q.need.with(slotsOf(outside...)))
	base, err := p.base(b, inside, need, q)
	if err != nil {
		return nil, err
	}
	x := base
	if b.group != nil {
		x = p.grouped(b, x)
		x = p.filtered(x, b.having, nil)
	}
	for _, w := range b.windows {
		x = p.windowed(b, w, x, need)
	}
	if b.distinct != nil {
		x = p.distinct(b.distinct, x)
	}
	if len(b.order) > 0 && !satisfies(x, b.order) {
		x = p.sorted(x, b.order, b, need)
	}
	if b.top != nil {
		x = p.limited(b.top, b.order, x, tupleOf(b, need))
	}
	if len(b.computes) > 0 {
		x = p.computed(b.computes, x, q.need.with(slotsOf(outside...)))
	}
	return p.filtered(x, outside, nil), nil
}

// split separates the conditions that may be tested before grouping and so on from the others.
func (b *block) split(conds []*node) (inside, outside []*node) {
	for _, n := range conds {
		if b.admits(n) {
			inside = append(inside, n)
		} else {
			outside = append(outside, n)
		}
	}
	return inside, outside
}

// admits reports whether a condition means the same if it is tested before everything else: it is about columns by
// which the block groups and partitions, if it does.
func (b *block) admits(n *node) bool {
	if b.top != nil || n.isVolatile() {
		return false
	}
	slots := n.slots()
	for _, c := range b.computes {
		if slots.has(c.slot) {
			return false
		}
	}
	within := func(keys []*node) bool {
		var columns set
		for _, k := range keys {
			if k.kind == isColumn {
				columns.add(k.slot)
			}
		}
		return inGroup(slots, made(b)).in(columns)
	}
	if b.group != nil {
		var keys []*node
		for _, k := range b.group.keys {
			keys = append(keys, k.node)
		}
		// Without GROUP BY there is a row also if no row meets the condition.
		if len(keys) == 0 || b.group.sets != nil || !within(keys) {
			return false
		}
	}
	for _, w := range b.windows {
		if !within(w.partition) {
			return false
		}
	}
	return true
}

// needs are the slots that are read after the rows have been grouped.
func (b *block) needs(above set) set {
	need := above
	for _, c := range b.computes {
		if above.has(c.slot) {
			need = need.with(slotsOf(c.node))
		}
	}
	need = need.with(slotsOf(b.having...)).with(slotsOf(b.distinct...))
	for _, k := range b.order {
		need = need.with(slotsOf(k.node))
	}
	for _, w := range b.windows {
		need = need.with(slotsOf(w.partition...))
		for _, k := range w.order {
			need = need.with(slotsOf(k.node))
		}
		for _, c := range w.calls {
			need = need.with(slotsOf(c.args...))
		}
	}
	return need
}

// base plans FROM and WHERE.
func (p *planner) base(b *block, conds []*node, need set, q request) (*physical, error) {
	inner := request{goal: all}
	switch {
	case b.group != nil:
		for _, k := range b.group.keys {
			inner.need.addAll(slotsOf(k.node))
		}
		for _, c := range b.group.calls {
			inner.need.addAll(slotsOf(c.args...))
			for _, k := range c.order {
				inner.need.addAll(slotsOf(k.node))
			}
		}
		// What is grouped may still be read by what stands above and refers to the rows around the block.
		inner.need = inner.need.with(need)
		if k, ok := b.extreme(); ok {
			inner.order, inner.goal = []sortKey{k}, 1
			if k.node.nullable {
				conds = append(slices.Clip(conds), nullTest(k.node, true))
			}
		}
	default:
		inner.need = need
		b.wish(&inner, q)
	}
	return p.joins(b.from, append(slices.Clip(b.where), conds...), inner)
}

// wish says in what order the rows should come, and how many of them will be read.
func (b *block) wish(inner *request, q request) {
	switch {
	case len(b.windows) > 0:
		w := b.windows[0]
		inner.order = append(keysOf(w.partition), w.order...)
		if len(b.windows) == 1 && b.numbers(w) {
			inner.goal = min(q.goal, b.top.rowGoal())
		}
	case b.distinct != nil:
		inner.order = b.order
		if len(b.order) == 0 {
			inner.goal = min(q.goal, b.top.rowGoal())
		}
	case len(b.order) > 0:
		inner.order, inner.goal = b.order, min(q.goal, b.top.rowGoal())
	case b.top == nil:
		inner.order, inner.goal = q.order, q.goal
	default:
		inner.goal = min(q.goal, b.top.rowGoal())
	}
}

// numbers reports whether a window does nothing but number its rows.
func (b *block) numbers(w *windowSpec) bool {
	return !slices.ContainsFunc(w.calls, func(c *windowCall) bool { return !c.number })
}

// extreme reports whether the block is MIN or MAX of one expression: then the first row in its order decides.
func (b *block) extreme() (sortKey, bool) {
	if len(b.group.keys) > 0 || b.group.sets != nil || len(b.group.calls) != 1 || len(b.group.grouping) > 0 {
		return sortKey{}, false
	}
	c := b.group.calls[0]
	if c.name != "MIN" && c.name != "MAX" || c.args[0].kind != isColumn {
		return sortKey{}, false
	}
	return sortKey{node: c.args[0], desc: c.name == "MAX"}, true
}

// grouped groups rows.
func (p *planner) grouped(b *block, x *physical) *physical {
	out := &physical{rows: 1, cost: x.cost + x.rows*0.05}
	if len(b.group.keys) > 0 {
		out.rows = max(1, x.rows*0.3)
	}
	first := false
	if k, ok := b.extreme(); ok && satisfies(x, []sortKey{k}) {
		first = true
		out.cost = x.cost * min(1, 1/max(x.rows, 1))
	}
	out.build = func() (execute.Operator, error) {
		input, err := x.build()
		if err != nil {
			return nil, err
		}
		return p.aggregate(b.group, input, first)
	}
	return out
}

func (p *planner) aggregate(g *grouped, input execute.Operator, first bool) (execute.Operator, error) {
	a := &execute.Aggregate{Input: input, Sets: g.sets, Grouping: g.grouping, First: first, Text: "aggregate"}
	if first {
		a.Text = "first row"
	}
	for _, k := range g.keys {
		keys, err := p.keys([]sortKey{{node: k.node}})
		if err != nil {
			return nil, err
		}
		a.Keys = append(a.Keys, execute.GroupKey{KeyPart: keys[0], Slot: k.slot})
	}
	for _, c := range g.calls {
		args, err := p.codes(c.args)
		if err != nil {
			return nil, err
		}
		call := execute.Call{New: c.make, Args: operands(args), Slot: c.slot}
		if call.Order, err = p.keys(c.order); err != nil {
			return nil, err
		}
		if len(c.order) == 0 {
			call.Order = nil
		}
		a.Calls = append(a.Calls, call)
	}
	return a, nil
}

// windowed computes window functions.
func (p *planner) windowed(b *block, w *windowSpec, x *physical, need set) *physical {
	order := append(keysOf(w.partition), w.order...)
	sorted := satisfies(x, order)
	out := &physical{rows: x.rows, cost: x.cost + x.rows*0.1, fixed: x.fixed, order: x.order}
	if !sorted {
		out.cost = p.total(x, request{order: order, goal: all})
		out.order = nil
		for _, k := range order {
			out.order = append(out.order, ordering{k.node.key(), k.desc})
		}
	}
	out.build = func() (execute.Operator, error) {
		input, err := x.build()
		if err != nil {
			return nil, err
		}
		op := &execute.Window{Input: input, Sorted: sorted, Tuple: tupleOf(b, need), Text: "window"}
		if op.Partition, err = p.keys(keysOf(w.partition)); err != nil {
			return nil, err
		}
		if op.Order, err = p.keys(w.order); err != nil {
			return nil, err
		}
		for _, c := range w.calls {
			args, err := p.codes(c.args)
			if err != nil {
				return nil, err
			}
			op.Calls = append(op.Calls, c.make(args))
		}
		return op, nil
	}
	return out
}

// distinct leaves out repeated rows.
func (p *planner) distinct(columns []*node, x *physical) *physical {
	out := *x
	out.rows, out.cost = max(1, x.rows*0.5), x.cost+x.rows*0.05
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
func (p *planner) limited(t *topRel, order []sortKey, x *physical, tuple execute.Tuple) *physical {
	out := *x
	if goal := t.rowGoal(); goal < x.rows {
		out.rows = max(goal, 0.1)
		out.cost = x.cost * min(1, goal/max(x.rows, 1))
	}
	out.build = func() (execute.Operator, error) {
		input, err := x.build()
		if err != nil {
			return nil, err
		}
		op := &execute.Top{Input: input, Fetch: t.fetch, Percent: t.percent, Text: "top"}
		for _, e := range []struct {
			node *node
			to   *execute.Expr
		}{{t.count, &op.Count}, {t.skip, &op.Skip}} {
			if e.node != nil {
				c, err := p.code(e.node)
				if err != nil {
					return nil, err
				}
				*e.to = c.expr
			}
		}
		if t.percent {
			op.Tuple = tuple
		}
		if t.ties {
			op.Ties, err = p.keys(order)
		}
		return op, err
	}
	return &out
}

// computed puts computed columns into their slots.
func (p *planner) computed(list []computed, x *physical, need set) *physical {
	out := *x
	out.cost += x.rows * 0.01
	out.build = func() (execute.Operator, error) {
		input, err := x.build()
		if err != nil {
			return nil, err
		}
		op := &execute.Compute{Input: input, Text: "compute"}
		for _, c := range list {
			if !need.has(c.slot) {
				continue
			}
			v, err := p.code(c.node)
			if err != nil {
				return nil, err
			}
			op.Assign = append(op.Assign, execute.Assign{Slot: c.slot, Value: v.expr})
		}
		if len(op.Assign) == 0 {
			return input, nil
		}
		return op, nil
	}
	return &out
}
