package plan

import (
	"math"
	"slices"

	"github.com/duroxide/duroxide-go/tsqltest/internal/execute"
	"github.com/duroxide/duroxide-go/tsqltest/internal/fault"
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
	if p.b.options.force || p.b.env.Chooser != nil {
		return best, nil
	}
	// x IN (query) can also be a join with the distinct rows of the query, which may come first.
	if other := p.unnested(g); other != nil {
		joined, err := p.group(other, q)
		if err == nil && total(joined, q) < total(best, q) {
			return joined, nil
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

// simplify makes inner joins of left joins whose missing rows a condition would leave out anyway, and computes what each
// leaf has to come after.
func (g *group) simplify() {
	for changed := true; changed; {
		changed = false
		for i, l := range g.leaves {
			if !l.maybe {
				continue
			}
			for _, n := range g.conds {
				if strict(n, l.made) {
					inner := *l
					inner.maybe, inner.on = false, nil
					g.conds = append(g.conds, l.on...)
					g.leaves[i], changed = &inner, true
					break
				}
			}
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
func (p *planner) group(g *group, q request) (*physical, error) {
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
	case p.b.options.force || p.b.env.Chooser != nil || len(g.leaves) > 10:
		out, err = p.stepwise(g, inner)
	default:
		out, err = p.exhaustive(g, inner)
	}
	if err != nil {
		return nil, err
	}
	return p.filtered(out, nil, startup), nil
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
			if err != nil {
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
		at = next[p.choose("join", ways, request{goal: all})]
	}
	return at.physical, nil
}

// exhaustive finds the best order of all, by what is best for each set of leaves: the cheapest way, and the cheapest one
// that comes in the order that is wished for.
func (p *planner) exhaustive(g *group, q request) (*physical, error) {
	full := uint64(1)<<len(g.leaves) - 1
	levels := map[uint64][]*state{0: {{}}}
	for mask := uint64(0); mask < full; mask++ {
		for _, s := range levels[mask] {
			for i, l := range g.leaves {
				if mask&(1<<i) != 0 || !g.ready(l, s.placed, mask == 0) {
					continue
				}
				list, err := p.extend(g, s, i, q)
				if err != nil {
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
		if total(s.physical, q) < total(best, q) {
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
	if allowed("LOOP") {
		x, err := j.loop()
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	j.equalities()
	if len(j.equal) > 0 && !inGroup(l.free, g.made).meets(s.placed) {
		if allowed("HASH") {
			x, err := j.hash()
			if err != nil {
				return nil, err
			}
			out = append(out, x)
		}
		if allowed("MERGE") && (l.hint == "MERGE" || p.b.options.joins != nil || p.b.env.Chooser != nil) {
			x, err := j.merge()
			if err != nil {
				return nil, err
			}
			out = append(out, x)
		}
	}
	if len(out) == 0 {
		return nil, fault.New(8622)
	}
	return out, nil
}

// joining is what the algorithms of one join have in common.
type joining struct {
	p             *planner
	left          *physical
	leaf          *leaf
	group         *group
	placed        set
	pushed, above []*node
	q             request

	equal []*node // of pushed, equalities of the two sides
	local []*node // of pushed, those that the right side can test alone
	rest  []*node
	left2 []sortKey
	right []sortKey
}

// kind is that of the operators.
func (j *joining) kind() execute.JoinKind {
	if j.leaf.maybe {
		return execute.LeftJoin
	}
	return execute.InnerJoin
}

// rows guesses how many rows come out, of those that the right side has for each of the left one.
func (j *joining) rows(each float64) float64 {
	out := j.left.rows * each
	if j.leaf.maybe {
		out = max(out, j.left.rows)
	}
	return out
}

// loop is nested loops: the right side is read anew for each row of the left one.
func (j *joining) loop() (*physical, error) {
	right, err := j.p.plan(j.leaf.rel, request{need: j.q.need, conds: j.pushed, goal: all})
	if err != nil {
		return nil, err
	}
	left := j.left
	x := &physical{rows: j.rows(right.rows), cost: left.cost + max(left.rows, 1)*right.cost, order: left.order, fixed: left.fixed}
	kind, leaf := j.kind(), j.leaf
	x.build = func() (execute.Operator, error) {
		a, err := left.build()
		if err != nil {
			return nil, err
		}
		b, err := right.build()
		if err != nil {
			return nil, err
		}
		return &execute.Loop{Left: a, Right: b, Kind: kind, Missing: tupleOf(leaf.rel, leaf.made), Text: kind.String() + " loop join"}, nil
	}
	return j.p.filtered(x, j.above, nil), nil
}

// equalities finds the conditions by which the two sides can be matched.
func (j *joining) equalities() {
	for _, n := range j.pushed {
		reads := inGroup(n.slots(), j.group.made)
		if !reads.meets(j.placed) {
			j.local = append(j.local, n)
			continue
		}
		if n.kind == isCompare && n.name == "=" {
			a, b := n.args[0], n.args[1]
			if inGroup(a.slots(), j.group.made).in(j.leaf.made) && a.slots().meets(j.leaf.made) {
				a, b = b, a
			}
			left, right := inGroup(a.slots(), j.group.made), inGroup(b.slots(), j.group.made)
			if !left.meets(j.leaf.made) && !left.empty() && right.in(j.leaf.made) && !right.empty() {
				j.equal = append(j.equal, n)
				ka, kb := *a, *b
				ka.typ, kb.typ = n.typ, n.typ
				j.left2, j.right = append(j.left2, sortKey{node: &ka}), append(j.right, sortKey{node: &kb})
				continue
			}
		}
		j.rest = append(j.rest, n)
	}
}

// needMatched are the slots that are read of the right side when it is matched with the left one above it.
func (j *joining) needMatched() set {
	return j.q.need.with(slotsOf(j.equal...)).with(slotsOf(j.rest...))
}

// hash is the hash join. Without a hint, the right side is the one that is kept, so that the order of the left one stays;
// with a hint SQL Server keeps the left one.
func (j *joining) hash() (*physical, error) {
	right, err := j.p.plan(j.leaf.rel, request{need: j.needMatched(), conds: j.local, goal: all})
	if err != nil {
		return nil, err
	}
	left, buildLeft := j.left, j.leaf.hint == "HASH"
	each := right.rows * math.Pow(0.02, float64(len(j.equal)))
	x := &physical{rows: j.rows(each), cost: left.cost + right.cost + 5 + (left.rows+right.rows)*0.05}
	if !buildLeft {
		x.order, x.fixed = left.order, left.fixed
	}
	kind, placed := j.kind(), j.placed
	x.build = func() (execute.Operator, error) { return j.buildHash(left, right, kind, buildLeft, placed) }
	return j.p.filtered(x, j.above, nil), nil
}

func (j *joining) buildHash(left, right *physical, kind execute.JoinKind, buildLeft bool, placed set) (execute.Operator, error) {
	a, b, leftKeys, rightKeys, on, err := j.sides(left, right)
	if err != nil {
		return nil, err
	}
	leftSide, rightSide := j.leftTuple(placed), tupleOf(j.leaf.rel, j.leaf.made)
	h := &execute.Hash{
		Build: b, Probe: a, BuildKeys: rightKeys, ProbeKeys: leftKeys, On: on, KeepProbe: kind == execute.LeftJoin,
		BuildSide: rightSide, ProbeSide: leftSide, Text: kind.String() + " hash join",
	}
	if buildLeft {
		h.Build, h.Probe, h.BuildKeys, h.ProbeKeys = a, b, leftKeys, rightKeys
		h.KeepBuild, h.KeepProbe = kind == execute.LeftJoin, false
		h.BuildSide, h.ProbeSide = leftSide, rightSide
		h.Text += " building left"
	}
	return h, nil
}

// sides makes the operators of both sides, their keys, and the other conditions.
func (j *joining) sides(left, right *physical) (a, b execute.Operator, leftKeys, rightKeys []execute.KeyPart, on []execute.Cond, err error) {
	if a, err = left.build(); err != nil {
		return
	}
	if b, err = right.build(); err != nil {
		return
	}
	if leftKeys, err = j.p.keys(j.left2); err != nil {
		return
	}
	if rightKeys, err = j.p.keys(j.right); err != nil {
		return
	}
	on, err = j.p.conds(j.rest)
	return
}

// leftTuple are the registers of the leaves that have come.
func (j *joining) leftTuple(placed set) execute.Tuple {
	t := execute.Tuple{Slots: placed.list()}
	for _, l := range j.group.leaves {
		if l != j.leaf && l.made.in(placed) {
			t.Rows = append(t.Rows, rowsIn(l.rel)...)
		}
	}
	return t
}

// merge is the merge join; what doesn't come in the order of the keys is sorted.
func (j *joining) merge() (*physical, error) {
	right, err := j.p.plan(j.leaf.rel, request{need: j.needMatched(), conds: j.local, order: j.right, goal: all})
	if err != nil {
		return nil, err
	}
	left := j.left
	if !satisfies(right, j.right) {
		right = j.p.sorted(right, j.right, j.leaf.rel, j.leaf.made)
	}
	if !satisfies(left, j.left2) {
		left = j.sortedLeft(left)
	}
	each := right.rows * math.Pow(0.02, float64(len(j.equal)))
	x := &physical{rows: j.rows(each), cost: left.cost + right.cost + (left.rows+right.rows)*0.05, order: left.order, fixed: left.fixed}
	kind := j.kind()
	x.build = func() (execute.Operator, error) {
		a, b, leftKeys, rightKeys, on, err := j.sides(left, right)
		if err != nil {
			return nil, err
		}
		return &execute.Merge{
			Left: a, Right: b, LeftKeys: leftKeys, RightKeys: rightKeys, On: on, Kind: kind,
			RightSide: tupleOf(j.leaf.rel, j.leaf.made), Text: kind.String() + " merge join",
		}, nil
	}
	return j.p.filtered(x, j.above, nil), nil
}

// full plans FULL JOIN. Neither side can test conditions of those who read the join.
func (p *planner) full(r *joinRel, q request) (*physical, error) {
	need := q.need.with(slotsOf(q.conds...)).with(slotsOf(r.on...))
	left, err := p.plan(r.x, request{need: need, goal: all})
	if err != nil {
		return nil, err
	}
	right, err := p.plan(r.y, request{need: need, goal: all})
	if err != nil {
		return nil, err
	}
	x, y := &leaf{rel: r.x, made: made(r.x)}, &leaf{rel: r.y, made: made(r.y)}
	g := &group{leaves: []*leaf{x, y}, made: x.made.with(y.made)}
	j := &joining{p: p, left: left, leaf: y, group: g, placed: x.made, pushed: r.on}
	j.equalities()
	out := &physical{rows: left.rows + right.rows, cost: left.cost + right.cost + 10}
	out.build = func() (execute.Operator, error) {
		if len(j.equal) == 0 || r.hint == "LOOP" {
			return p.fullLoop(r, left, right, x.made, y.made)
		}
		j.rest = append(j.rest, j.local...)
		a, b, leftKeys, rightKeys, on, err := j.sides(left, right)
		return &execute.Hash{
			Build: b, Probe: a, BuildKeys: rightKeys, ProbeKeys: leftKeys, On: on, KeepBuild: true, KeepProbe: true,
			BuildSide: tupleOf(r.y, y.made), ProbeSide: tupleOf(r.x, x.made), Text: "full hash join",
		}, err
	}
	rest, startup := splitStartup(q.conds, g.made)
	return p.filtered(out, rest, startup), nil
}

func (p *planner) fullLoop(r *joinRel, left, right *physical, leftMade, rightMade set) (execute.Operator, error) {
	a, err := left.build()
	if err != nil {
		return nil, err
	}
	b, err := right.build()
	if err != nil {
		return nil, err
	}
	op := &execute.FullLoop{
		Left: a, Right: b, LeftSide: tupleOf(r.x, leftMade), RightSide: tupleOf(r.y, rightMade), Text: "full loop join",
	}
	op.On, err = p.conds(r.on)
	return op, err
}

// sortedLeft sorts the left side by the keys.
func (j *joining) sortedLeft(left *physical) *physical {
	out := *left
	out.cost = left.cost + left.rows*math.Log2(left.rows+2)*0.05 + 1
	out.order = nil
	for _, k := range j.left2 {
		out.order = append(out.order, ordering{k.node.key(), false})
	}
	out.build = func() (execute.Operator, error) {
		op, err := left.build()
		if err != nil {
			return nil, err
		}
		s := &execute.Sort{Input: op, Tuple: j.leftTuple(j.placed), Text: "sort"}
		s.Keys, err = j.p.keys(j.left2)
		return s, err
	}
	return &out
}
