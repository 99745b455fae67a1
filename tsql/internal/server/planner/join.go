package planner

import (
	"errors"
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
)

// leaf is a part of a chain of joins that is read as a whole.
type leaf struct {
	rel  binder.Rel
	made binder.Set
	// maybe says that it is the right side of a LEFT JOIN, with the conditions of ON; after are the slots of its left
	// side.
	maybe bool
	on    []*binder.Node
	after binder.Set
	hint  string
	free  binder.Set // what it reads of the others, as the right side of APPLY does
}

// group is a chain of joins taken apart, so that it can be put together in another order.
type group struct {
	leaves []*leaf
	conds  []*binder.Node
	made   binder.Set
}

// flatten takes a relation apart.
func (g *group) flatten(r binder.Rel, hint string) {
	switch r := r.(type) {
	case binder.OneRel:
	case *binder.JoinRel:
		switch r.Kind {
		case "INNER":
			g.flatten(r.X, hint)
			g.flatten(r.Y, r.Hint)
			g.conds = append(g.conds, r.On...)
		case "LEFT":
			left := &group{}
			left.flatten(r.X, hint)
			if len(left.leaves) == 0 {
				left.add(&leaf{rel: binder.OneRel{}}) // the one row has to be there to be kept
			}
			g.leaves = append(g.leaves, left.leaves...)
			g.conds = append(g.conds, left.conds...)
			after := binder.Set(nil)
			for _, l := range left.leaves {
				after.AddAll(l.made)
			}
			g.add(&leaf{rel: r.Y, maybe: true, on: r.On, after: after, hint: r.Hint})
		default:
			g.add(&leaf{rel: r, hint: hint})
		}
	case *binder.Block:
		if r.Simple() && len(r.Computes) == 0 && len(r.Order) == 0 {
			g.flatten(r.From, hint)
			g.conds = append(g.conds, r.Where...)
			return
		}
		g.add(&leaf{rel: r, hint: hint})
	default:
		g.add(&leaf{rel: r, hint: hint})
	}
}

func (g *group) add(l *leaf) {
	l.made = binder.Made(l.rel)
	l.free = binder.Free(l.rel)
	g.leaves = append(g.leaves, l)
}

// joins plans a relation that may be a chain of joins. Where are conditions on its rows.
func (p *planner) joins(r binder.Rel, where []*binder.Node, q request) (*physical, error) {
	g := &group{}
	g.flatten(r, "")
	g.conds = append(append(g.conds, where...), q.conds...)
	best, err := p.group(g, q)
	if err != nil {
		return nil, err
	}
	if p.b.Options.Force || p.b.Options.Steady {
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
		if n.Sub == nil || n.Sub.Member == nil {
			out.conds = append(out.conds, n)
			continue
		}
		m := n.Sub.Member
		slot := p.b.NewSlot()
		key := *binder.ColumnNode(slot, m.Column.Type, true)
		key.Label = m.Column.Label
		// The rows are told apart as they are compared.
		column := *m.Column
		column.Type = m.Equal.Type
		q := &binder.Block{From: m.Rel, Computes: []binder.Computed{{Slot: slot, Node: m.Column}}, Distinct: []*binder.Node{&column}}
		out.add(&leaf{rel: q})
		out.conds = append(out.conds, binder.CompareNode("=", m.Equal.Args[0], &key, m.Equal.Type))
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
			if !l.maybe || !slices.ContainsFunc(g.conds, func(n *binder.Node) bool { return strict(n, l.made) }) {
				continue
			}
			inner := *l
			inner.maybe, inner.on = false, nil
			g.conds = append(g.conds, l.on...)
			g.leaves[i], changed = &inner, true
		}
	}
	for _, l := range g.leaves {
		g.made.AddAll(l.made)
	}
}

// ready reports whether a leaf can come next, given the slots of those that have come.
func (g *group) ready(l *leaf, placed binder.Set, first bool) bool {
	if first && l.maybe {
		return false
	}
	reads := l.free
	if l.maybe {
		reads = reads.With(l.after).With(binder.SlotsOf(l.on...).Without(l.made))
	}
	for _, slot := range reads.List() {
		if g.made.Has(slot) && !placed.Has(slot) {
			return false
		}
	}
	return true
}

// state is a way to join some of the leaves.
type state struct {
	*physical

	mask   uint64
	placed binder.Set
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
		out = &physical{rows: 1, cost: oneRowCost, build: func() (execute.Operator, error) { return execute.One{}, nil }}
		out = p.filtered(out, conds, nil)
	case p.b.Options.Force || p.b.Env.Chooser != nil || len(g.leaves) > mostLeaves:
		if out, err = p.stepwise(g, inner); err != nil && impossible(err) && !p.b.Options.Force && len(g.leaves) <= mostLeaves {
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
			if p.b.Options.Force {
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
		if p.b.Options.Steady {
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
	placed := s.placed.With(l.made)
	var conds []*binder.Node
	for _, n := range g.conds {
		reads := inGroup(n.Slots(), g.made)
		if reads.In(placed) && (s.mask == 0 || !reads.In(s.placed)) {
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
func (g *group) needs(l *leaf, tested []*binder.Node, above binder.Set) binder.Set {
	need := above
	for _, n := range g.conds {
		if l.maybe || !slices.Contains(tested, n) {
			need = need.With(binder.SlotsOf(n))
		}
	}
	for _, other := range g.leaves {
		if other != l {
			need = need.With(binder.SlotsOf(other.on...)).With(other.free)
		}
	}
	return need
}

// inGroup are the slots that the group writes.
func inGroup(slots, made binder.Set) binder.Set {
	var out binder.Set
	for _, slot := range slots.List() {
		if made.Has(slot) {
			out.Add(slot)
		}
	}
	return out
}

// joinWays are the algorithms by which a leaf can be joined. Conds are the conditions that can be tested with it.
func (p *planner) joinWays(g *group, s *state, l *leaf, conds []*binder.Node, q request) ([]*physical, error) {
	pushed, above := conds, []*binder.Node(nil)
	if l.maybe {
		pushed, above = l.on, conds
	}
	j := &joining{p: p, left: s.physical, leaf: l, group: g, placed: s.placed, pushed: pushed, above: above, q: q}
	allowed := func(algorithm string) bool {
		if l.hint != "" {
			return l.hint == algorithm
		}
		return p.b.Options.Joins == nil || p.b.Options.Joins[algorithm]
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
	matches := len(j.equal) > 0 && !inGroup(l.free, g.made).Meets(s.placed)
	if matches {
		if err := try("HASH", j.hash); err != nil {
			return nil, err
		}
	}
	if matches && (l.hint == "MERGE" || p.b.Options.Joins != nil || p.b.Env.Chooser != nil) {
		if err := try("MERGE", j.merge); err != nil {
			return nil, err
		}
	}
	if len(out) == 0 {
		return nil, fault.New(8622)
	}
	return out, nil
}
