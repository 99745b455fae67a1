package planner

import (
	"math"

	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
)

// joining is what the algorithms of one join have in common.
type joining struct {
	p             *planner
	left          *physical
	leaf          *leaf
	group         *group
	placed        binder.Set
	pushed, above []*binder.Node
	q             request

	equal []*binder.Node // of pushed, equalities of the two sides
	local []*binder.Node // of pushed, those that the right side can test alone
	rest  []*binder.Node
	left2 []binder.SortKey
	right []binder.SortKey
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
		reads := inGroup(n.Slots(), j.group.made)
		if !reads.Meets(j.placed) {
			j.local = append(j.local, n)
			continue
		}
		if n.Kind == binder.IsCompare && n.Name == "=" {
			a, b := n.Args[0], n.Args[1]
			if inGroup(a.Slots(), j.group.made).In(j.leaf.made) && a.Slots().Meets(j.leaf.made) {
				a, b = b, a
			}
			left, right := inGroup(a.Slots(), j.group.made), inGroup(b.Slots(), j.group.made)
			if !left.Meets(j.leaf.made) && !left.Empty() && right.In(j.leaf.made) && !right.Empty() {
				j.equal = append(j.equal, n)
				ka, kb := *a, *b
				ka.Type, kb.Type = n.Type, n.Type
				j.left2, j.right = append(j.left2, binder.SortKey{Node: &ka}), append(j.right, binder.SortKey{Node: &kb})
				continue
			}
		}
		j.rest = append(j.rest, n)
	}
}

// needMatched are the slots that are read of the right side when it is matched with the left one above it.
func (j *joining) needMatched() binder.Set {
	return j.q.need.With(binder.SlotsOf(j.equal...)).With(binder.SlotsOf(j.rest...))
}

// hash is the hash join. Without a hint, the right side is the one that is kept, so that the order of the left one
// stays; with a hint SQL Server keeps the left one.
func (j *joining) hash() (*physical, error) {
	right, err := j.p.plan(j.leaf.rel, request{need: j.needMatched(), conds: j.local, goal: all})
	if err != nil {
		return nil, err
	}
	left, buildLeft := j.left, j.leaf.hint == "HASH"
	each := right.rows * math.Pow(joinKeyPart, float64(len(j.equal)))
	x := &physical{rows: j.rows(each), cost: left.cost + right.cost + hashCost + (left.rows+right.rows)*matchCost}
	if !buildLeft {
		x.order, x.fixed = left.order, left.fixed
	}
	kind, placed := j.kind(), j.placed
	x.build = func() (execute.Operator, error) { return j.buildHash(left, right, kind, buildLeft, placed) }
	return j.p.filtered(x, j.above, nil), nil
}

func (j *joining) buildHash(left, right *physical, kind execute.JoinKind, buildLeft bool, placed binder.Set) (execute.Operator, error) {
	in, err := j.sides(left, right)
	if err != nil {
		return nil, err
	}
	leftSide, rightSide := j.leftTuple(placed), tupleOf(j.leaf.rel, j.leaf.made)
	h := &execute.Hash{
		Build: in.right, Probe: in.left, BuildKeys: in.rightKeys, ProbeKeys: in.leftKeys, On: in.on, KeepProbe: kind == execute.LeftJoin,
		BuildSide: rightSide, ProbeSide: leftSide, Text: kind.String() + " hash join",
	}
	if buildLeft {
		h.Build, h.Probe, h.BuildKeys, h.ProbeKeys = in.left, in.right, in.leftKeys, in.rightKeys
		h.KeepBuild, h.KeepProbe = kind == execute.LeftJoin, false
		h.BuildSide, h.ProbeSide = leftSide, rightSide
		h.Text += " building left"
	}
	return h, nil
}

// sides are the operators of both sides of a join, the keys by which their rows are matched, and the other conditions.
type sides struct {
	left, right         execute.Operator
	leftKeys, rightKeys []execute.KeyPart
	on                  []execute.Cond
}

// sides makes both sides.
func (j *joining) sides(left, right *physical) (in sides, err error) {
	if in.left, err = left.build(); err != nil {
		return in, err
	}
	if in.right, err = right.build(); err != nil {
		return in, err
	}
	if in.leftKeys, err = j.p.keys(j.left2); err != nil {
		return in, err
	}
	if in.rightKeys, err = j.p.keys(j.right); err != nil {
		return in, err
	}
	in.on, err = j.p.conds(j.rest)
	return in, err
}

// leftTuple are the registers of the leaves that have come.
func (j *joining) leftTuple(placed binder.Set) execute.Tuple {
	t := execute.Tuple{Slots: placed.List()}
	for _, l := range j.group.leaves {
		if l != j.leaf && l.made.In(placed) {
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
	each := right.rows * math.Pow(joinKeyPart, float64(len(j.equal)))
	x := &physical{rows: j.rows(each), cost: left.cost + right.cost + (left.rows+right.rows)*matchCost, order: left.order, fixed: left.fixed}
	kind := j.kind()
	x.build = func() (execute.Operator, error) {
		in, err := j.sides(left, right)
		if err != nil {
			return nil, err
		}
		return &execute.Merge{
			Left: in.left, Right: in.right, LeftKeys: in.leftKeys, RightKeys: in.rightKeys, On: in.on, Kind: kind,
			RightSide: tupleOf(j.leaf.rel, j.leaf.made), Text: kind.String() + " merge join",
		}, nil
	}
	return j.p.filtered(x, j.above, nil), nil
}

// full plans FULL JOIN. Neither side can test conditions of those who read the join.
func (p *planner) full(r *binder.JoinRel, q request) (*physical, error) {
	need := q.need.With(binder.SlotsOf(q.conds...)).With(binder.SlotsOf(r.On...))
	left, err := p.plan(r.X, request{need: need, goal: all})
	if err != nil {
		return nil, err
	}
	right, err := p.plan(r.Y, request{need: need, goal: all})
	if err != nil {
		return nil, err
	}
	x, y := &leaf{rel: r.X, made: binder.Made(r.X)}, &leaf{rel: r.Y, made: binder.Made(r.Y)}
	g := &group{leaves: []*leaf{x, y}, made: x.made.With(y.made)}
	j := &joining{p: p, left: left, leaf: y, group: g, placed: x.made, pushed: r.On}
	j.equalities()
	out := &physical{rows: left.rows + right.rows, cost: left.cost + right.cost + fullCost}
	out.build = func() (execute.Operator, error) {
		if len(j.equal) == 0 || r.Hint == "LOOP" {
			return p.fullLoop(r, left, right, x.made, y.made)
		}
		j.rest = append(j.rest, j.local...)
		in, err := j.sides(left, right)
		if err != nil {
			return nil, err
		}
		return &execute.Hash{
			Build: in.right, Probe: in.left, BuildKeys: in.rightKeys, ProbeKeys: in.leftKeys, On: in.on, KeepBuild: true, KeepProbe: true,
			BuildSide: tupleOf(r.Y, y.made), ProbeSide: tupleOf(r.X, x.made), Text: "full hash join",
		}, nil
	}
	rest, startup := splitStartup(q.conds, g.made)
	return p.filtered(out, rest, startup), nil
}

func (p *planner) fullLoop(r *binder.JoinRel, left, right *physical, leftMade, rightMade binder.Set) (execute.Operator, error) {
	a, err := left.build()
	if err != nil {
		return nil, err
	}
	b, err := right.build()
	if err != nil {
		return nil, err
	}
	op := &execute.Hash{ // without keys, as there are none
		Build: b, Probe: a, KeepBuild: true, KeepProbe: true, BuildSide: tupleOf(r.Y, rightMade), ProbeSide: tupleOf(r.X, leftMade),
		Text: "full loop join",
	}
	op.On, err = p.conds(r.On)
	return op, err
}

// sortedLeft sorts the left side by the keys.
func (j *joining) sortedLeft(left *physical) *physical {
	out := *left
	out.cost = sortedCost(left)
	out.order = nil
	for _, k := range j.left2 {
		out.order = append(out.order, ordering{k.Node.Key(), false})
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
