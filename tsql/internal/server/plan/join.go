package plan

import (
	"errors"
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
)

// leaf is a part of a chain of joins that is read as a whole.
type leaf struct {
	rel  rel
	made set
	// maybe says that it is the right side of a LEFT JOIN, with the conditions of ON; after are the slots of its left
	// side.
	maybe bool
	on    []*node
	after set
	hint  string
	free  set // what it reads of the others, as the right side of APPLY does
}

// group is a chain of joins taken apart, so that it can be put together in another order.
type group struct {
	leaves []*leaf
	conds  []*node
	made   set
}

// flatten takes a relation apart.
func (g *group) flatten(r rel, hint string) {
	switch r := r.(type) {
	case oneRel:
	case *joinRel:
		switch r.kind {
		case "INNER":
			g.flatten(r.x, hint)
			g.flatten(r.y, r.hint)
			g.conds = append(g.conds, r.on...)
		case "LEFT":
			left := &group{}
			left.flatten(r.x, hint)
			if len(left.leaves) == 0 {
				left.add(&leaf{rel: oneRel{}}) // the one row has to be there to be kept
			}
			g.leaves = append(g.leaves, left.leaves...)
			g.conds = append(g.conds, left.conds...)
			after := set(nil)
			for _, l := range left.leaves {
				after.addAll(l.made)
			}
			g.add(&leaf{rel: r.y, maybe: true, on: r.on, after: after, hint: r.hint})
		default:
			g.add(&leaf{rel: r, hint: hint})
		}
	case *block:
		if r.simple() && len(r.computes) == 0 && len(r.order) == 0 {
			g.flatten(r.from, hint)
			g.conds = append(g.conds, r.where...)
			return
		}
		g.add(&leaf{rel: r, hint: hint})
	default:
		g.add(&leaf{rel: r, hint: hint})
	}
}

func (g *group) add(l *leaf) {
	l.made = made(l.rel)
	l.free = free(l.rel)
	g.leaves = append(g.leaves, l)
}

// joins plans a relation that may be a chain of joins. Where are conditions on its rows.
func (p *planner) joins(r rel, where []*node, q request) (*physical, error) {
	g := &group{}
	g.flatten(r, "")
	g.conds = append(append(g.conds, where...), q.conds...)
	best, err := p.group(g, q)
	if err != nil {
		return nil, err
	}
	if p.b.options.force || p.b.options.steady {
		return best, nil
	}
	// x IN (query) can also be a join with the distinct rows of the query, which may come first.
	if other := p.unnested(g); other != nil {
		joined, err := p.group(other, q)
		if err == nil {
			ways := []*physical{best, joined}
			return ways[p.choose("unnest", ways, q)], nil
		}
	}
	return best, nil
}

// unnested replaces conditions x IN (query) by joins; nil if there are none.
func (p *planner) unnested(g *group) *group {
	out := &group{leaves: append([]*leaf(nil), g.leaves...)}
	for _, n := range g.conds {
		if n.sub == nil || n.sub.member == nil {
			out.conds = append(out.conds, n)
			continue
		}
		m := n.sub.member
		slot := p.b.newSlot()
		key := *columnNode(slot, m.column.typ, true)
		key.label = m.column.label
		// The rows are told apart as they are compared.
		column := *m.column
		column.typ = m.equal.typ
		q := &block{from: m.rel, computes: []computed{{slot, m.column}}, distinct: []*node{&column}}
		out.add(&leaf{rel: q})
		out.conds = append(out.conds, compareNode("=", m.equal.args[0], &key, m.equal.typ))
	}
	if len(out.leaves) == len(g.leaves) {
		return nil
	}
	return out
}

// simplify makes inner joins of left joins whose missing rows a condition would leave out anyway, and computes what
// each leaf has to come after.
func (g *group) simplify() {
	for changed := true; changed; {
		changed = false
		for i, l := range g.leaves {
			if !l.maybe || !slices.ContainsFunc(g.conds, func(n *node) bool { return strict(n, l.made) }) {
				continue
			}
			inner := *l
			inner.maybe, inner.on = false, nil
			g.conds = append(g.conds, l.on...)
			g.leaves[i], changed = &inner, true
		}
	}
	for _, l := range g.leaves {
		g.made.addAll(l.made)
	}
}

// ready reports whether a leaf can come next, given the slots of those that have come.
func (g *group) ready(l *leaf, placed set, first bool) bool {
	if first && l.maybe {
		return false
	}
	reads := l.free
	if l.maybe {
		reads = reads.with(l.after).with(slotsOf(l.on...).without(l.made))
	}
	for _, slot := range reads.list() {
		if g.made.has(slot) && !placed.has(slot) {
			return false
		}
	}
	return true
}

// state is a way to join some of the leaves.
type state struct {
	*physical

	mask   uint64
	placed set
}

// group finds the order and the algorithms of a chain of joins.
func (p *planner) group(from *group, q request) (*physical, error) {
	g := &group{leaves: slices.Clone(from.leaves), conds: slices.Clone(from.conds)}
	g.simplify()
	conds, startup := splitStartup(g.conds, g.made)
	g.conds = conds
	inner := request{need: q.need, order: q.order, goal: q.goal}
	var out *physical
	var err error
	switch {
	case len(g.leaves) == 0:
		out = &physical{rows: 1, cost: 0.1, build: func() (execute.Operator, error) { return execute.One{}, nil }}
		out = p.filtered(out, conds, nil)
	case p.b.options.force || p.b.env.Chooser != nil || len(g.leaves) > 8:
		if out, err = p.stepwise(g, inner); err != nil && impossible(err) && !p.b.options.force && len(g.leaves) <= 8 {
			out, err = p.exhaustive(g, inner) // what came first has led nowhere
		}
	default:
		out, err = p.exhaustive(g, inner)
	}
	if err != nil {
		return nil, err
	}
	return p.filtered(out, nil, startup), nil
}

// impossible reports whether hints have left no plan: another order of leaves may have one.
func impossible(err error) bool {
	e, ok := errors.AsType[*fault.Error](err)
	return ok && e.Number == 8622
}

// stepwise takes one leaf after the other: in the order of the text, or as the chooser says, or greedily.
func (p *planner) stepwise(g *group, q request) (*physical, error) {
	at := &state{}
	for range g.leaves {
		var next []*state
		for i, l := range g.leaves {
			if at.mask&(1<<i) != 0 || !g.ready(l, at.placed, at.mask == 0) {
				continue
			}
			list, err := p.extend(g, at, i, q)
			if err != nil && !impossible(err) {
				return nil, err
			}
			next = append(next, list...)
			if p.b.options.force {
				break
			}
		}
		if len(next) == 0 {
			return nil, fault.New(8622)
		}
		ways := make([]*physical, len(next))
		for i, s := range next {
			ways[i] = s.physical
		}
		wish := request{goal: all}
		if p.b.options.steady {
			wish.order = q.order
		}
		at = next[p.choose("join", ways, wish)]
	}
	return at.physical, nil
}

// exhaustive finds the best order of all, by what is best for each set of leaves: the cheapest way, and the cheapest
// one that comes in the order that is wished for.
func (p *planner) exhaustive(g *group, q request) (*physical, error) {
	full := uint64(1)<<len(g.leaves) - 1
	levels := map[uint64][]*state{0: {{}}}
	for mask := range full {
		for _, s := range levels[mask] {
			for i, l := range g.leaves {
				if mask&(1<<i) != 0 || !g.ready(l, s.placed, mask == 0) {
					continue
				}
				list, err := p.extend(g, s, i, q)
				if err != nil && !impossible(err) {
					return nil, err
				}
				for _, next := range list {
					levels[next.mask] = keepBest(levels[next.mask], next, q)
				}
			}
		}
		delete(levels, mask)
	}
	if len(levels[full]) == 0 {
		return nil, fault.New(8622)
	}
	best := levels[full][0].physical
	for _, s := range levels[full][1:] {
		if p.total(s.physical, q) < p.total(best, q) {
			best = s.physical
		}
	}
	return best, nil
}

// keepBest adds a way to a list unless there is a better one.
func keepBest(list []*state, s *state, q request) []*state {
	sorted := len(q.order) > 0 && satisfies(s.physical, q.order)
	out := list[:0:0]
	for _, other := range list {
		otherSorted := len(q.order) > 0 && satisfies(other.physical, q.order)
		if other.cost <= s.cost && (otherSorted || !sorted) {
			return list
		}
		if s.cost <= other.cost && (sorted || !otherSorted) {
			continue
		}
		out = append(out, other)
	}
	return append(out, s)
}

// extend joins one more leaf to what there is.
func (p *planner) extend(g *group, s *state, i int, q request) ([]*state, error) {
	l := g.leaves[i]
	placed := s.placed.with(l.made)
	var conds []*node
	for _, n := range g.conds {
		reads := inGroup(n.slots(), g.made)
		if reads.in(placed) && (s.mask == 0 || !reads.in(s.placed)) {
			conds = append(conds, n)
		}
	}
	q.need = g.needs(l, conds, q.need)
	next := func(x *physical) *state { return &state{physical: x, mask: s.mask | 1<<i, placed: placed} }
	if s.mask == 0 {
		list, err := p.alternatives(l.rel, request{need: q.need, conds: conds, order: q.order, goal: q.goal})
		var out []*state
		for _, x := range list {
			out = append(out, next(x))
		}
		return out, err
	}
	ways, err := p.joinWays(g, s, l, conds, q)
	var out []*state
	for _, x := range ways {
		out = append(out, next(x))
	}
	return out, err
}

// needs are the slots that others read: what stands above, the other leaves, and the conditions but for those that are
// tested with the leaf.
func (g *group) needs(l *leaf, tested []*node, above set) set {
	need := above
	for _, n := range g.conds {
		if l.maybe || !slices.Contains(tested, n) {
			need = need.with(slotsOf(n))
		}
	}
	for _, other := range g.leaves {
		if other != l {
			need = need.with(slotsOf(other.on...)).with(other.free)
		}
	}
	return need
}

// inGroup are the slots that the group writes.
func inGroup(slots, made set) set {
	var out set
	for _, slot := range slots.list() {
		if made.has(slot) {
			out.add(slot)
		}
	}
	return out
}

// joinWays are the algorithms by which a leaf can be joined. Conds are the conditions that can be tested with it.
func (p *planner) joinWays(g *group, s *state, l *leaf, conds []*node, q request) ([]*physical, error) {
	pushed, above := conds, []*node(nil)
	if l.maybe {
		pushed, above = l.on, conds
	}
	j := &joining{p: p, left: s.physical, leaf: l, group: g, placed: s.placed, pushed: pushed, above: above, q: q}
	allowed := func(algorithm string) bool {
		if l.hint != "" {
			return l.hint == algorithm
		}
		return p.b.options.joins == nil || p.b.options.joins[algorithm]
	}
	var out []*physical
	try := func(algorithm string, join func() (*physical, error)) error {
		if !allowed(algorithm) {
			return nil
		}
		x, err := join()
		if impossible(err) {
			return nil // a hint such as FORCESEEK may leave only another algorithm
		}
		if err == nil {
			out = append(out, x)
		}
		return err
	}
	if err := try("LOOP", j.loop); err != nil {
		return nil, err
	}
	j.equalities()
	matches := len(j.equal) > 0 && !inGroup(l.free, g.made).meets(s.placed)
	if matches {
		if err := try("HASH", j.hash); err != nil {
			return nil, err
		}
	}
	if matches && (l.hint == "MERGE" || p.b.options.joins != nil || p.b.env.Chooser != nil) {
		if err := try("MERGE", j.merge); err != nil {
			return nil, err
		}
	}
	if len(out) == 0 {
		return nil, fault.New(8622)
	}
	return out, nil
}
