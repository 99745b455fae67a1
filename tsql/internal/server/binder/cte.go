package binder

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// cte is a common table expression; those that were defined before it follow. Each reference to it binds its query
// anew.
type cte struct {
	def    *syntax.CTE
	outer  *cte
	binder *Binder
	// work are the columns of an expression in whose recursive part the reference stands.
	work []OutColumn
	// uses counts the references of the recursive part.
	uses *int
}

// find looks a common table expression up.
func (c *cte) find(b *Binder, name string) *cte {
	for ; c != nil; c = c.outer {
		if b.Same(c.def.Name.Value, name) {
			return c
		}
	}
	return nil
}

// with makes the common table expressions of a query known in s. Those that nothing refers to are bound too, for what
// is wrong in them.
func (b *Binder) with(s *scope, list []*syntax.CTE) error {
	for i, def := range list {
		for _, other := range list[:i] {
			if b.Same(other.Name.Value, def.Name.Value) {
				return fault.New(239, def.Name.Value)
			}
		}
		s.ctes = &cte{def: def, outer: s.ctes, binder: b}
	}
	return nil
}

// cteSource binds a reference to a common table expression.
func (b *Binder) cteSource(c *cte, maybe bool) (*Source, error) {
	name := c.def.Name.Value
	if c.work != nil {
		*c.uses++
		if *c.uses > 1 {
			return nil, fault.New(253, name)
		}
		return b.named(OneRel{}, c.work, name, nil, maybe)
	}
	if b.depth > maxDepth {
		return nil, fault.New(8631)
	}
	s := &scope{ctes: c.outer}
	if set := recursive(b, c.def, c.def.Query.Body); set != nil {
		r, columns, err := b.recursion(c, set)
		if err != nil {
			return nil, err
		}
		return b.named(r, columns, name, nil, maybe)
	}
	r, columns, err := b.subquery(s, c.def.Query, false)
	if err != nil {
		return nil, err
	}
	return b.named(r, columns, name, c.def.Columns, maybe)
}

// recursive returns a set operation whose second query reads the common table expression; nil if there is none.
func recursive(b *Binder, def *syntax.CTE, body syntax.QueryBody) *syntax.SetOperation {
	set, ok := body.(*syntax.SetOperation)
	if !ok {
		return nil
	}
	if reads(b, def, set.Y) {
		return set
	}
	return nil
}

// reads reports whether a part of a common table expression reads the expression.
func reads(b *Binder, def *syntax.CTE, in syntax.Node) bool {
	for ref := range syntax.All[*syntax.TableRef](in) {
		if len(ref.Name.Parts) == 1 && b.Same(ref.Name.Parts[0].Value, def.Name.Value) {
			return true
		}
	}
	return false
}

func isSet(body syntax.QueryBody) bool {
	_, ok := body.(*syntax.SetOperation)
	return ok
}

// readsBelow reports whether a recursive part reads the expression in a subquery.
func (b *Binder) readsBelow(def *syntax.CTE, part syntax.Node) bool {
	found := false
	syntax.Walk(part, func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.Subquery, *syntax.Exists, *syntax.In, *syntax.Quantified:
			found = found || reads(b, def, n)
			return false
		}
		return !found
	})
	return found
}

// repeatable refuses what a recursive part may not have.
func repeatable(r Rel, name string) error {
	q, ok := r.(*Block)
	switch {
	case !ok:
		return nil
	case q.Distinct != nil:
		return fault.New(460, name)
	case q.Top != nil:
		return fault.New(461, name)
	case q.Group != nil:
		return fault.New(467, name)
	case hasOuterJoin(q.From):
		return fault.New(462, name)
	default:
		return nil
	}
}

func hasOuterJoin(r Rel) bool {
	j, ok := r.(*JoinRel)
	return ok && (j.Kind != "INNER" || hasOuterJoin(j.X) || hasOuterJoin(j.Y))
}

// recursion binds a common table expression that reads itself: an anchor, and one or more parts behind UNION ALL that
// read it. The anchor gives the types, which those of the other parts must equal.
func (b *Binder) recursion(c *cte, set *syntax.SetOperation) (Rel, []OutColumn, error) {
	name := c.def.Name.Value
	var parts []syntax.QueryBody
	first := syntax.QueryBody(set)
	for ; set != nil; set = recursive(b, c.def, first) {
		first, parts = set.X, append(parts, set.Y)
		if set.Op != "UNION" || !set.All {
			return nil, nil, fault.New(252, name)
		}
	}
	slices.Reverse(parts)
	if !isSet(first) && reads(b, c.def, first) {
		return nil, nil, fault.New(246, name)
	}
	s := &scope{ctes: c.outer}
	anchor, err := b.side(s, first)
	if err != nil {
		return nil, nil, err
	}
	r := &RecursiveRel{Anchor: UnionBranch{Rel: anchor.Rel}, Limit: 100}
	if b.Options.limited {
		r.Limit = b.Options.recursion
	}
	columns, work, err := b.recursiveColumns(c, anchor, r)
	if err != nil {
		return nil, nil, err
	}
	for _, part := range parts {
		uses := 0
		if b.readsBelow(c.def, part) {
			return nil, nil, fault.New(465)
		}
		inner := &scope{ctes: &cte{def: c.def, outer: c.outer, binder: b, work: work, uses: &uses}}
		step, err := b.side(inner, part)
		if err != nil {
			return nil, nil, err
		}
		if err := repeatable(step.Rel, name); err != nil {
			return nil, nil, err
		}
		if len(step.Columns) != len(columns) {
			return nil, nil, fault.New(205)
		}
		branch := UnionBranch{Rel: step.Rel}
		for i, col := range step.Columns {
			n := col.Node
			if want := columns[i].Node.Type; n.Type.Type != want.Type && n.Type.Kind != "null" {
				return nil, nil, fault.New(240, columns[i].name, name)
			}
			branch.Values = append(branch.Values, b.become(n, columns[i].Node.Type))
		}
		r.Steps = append(r.Steps, branch)
	}
	return r, columns, nil
}

// recursiveColumns gives the columns their slots: those that are read outside, and those in which the recursive parts
// find the row that they go on from.
func (b *Binder) recursiveColumns(c *cte, anchor *Selected, r *RecursiveRel) (columns, work []OutColumn, err error) {
	names := c.def.Columns
	switch {
	case len(names) == 0:
	case len(names) < len(anchor.Columns):
		return nil, nil, fault.New(8158, c.def.Name.Value)
	case len(names) > len(anchor.Columns):
		return nil, nil, fault.New(8159, c.def.Name.Value)
	}
	for i, col := range anchor.Columns {
		t := untyped(col.Node.Type)
		if len(names) > 0 {
			col.name = names[i].Value
		}
		out, in := ColumnNode(b.NewSlot(), t, true), ColumnNode(b.NewSlot(), t, true)
		out.Label, in.Label = col.Node.Label, col.Node.Label
		r.Columns, r.Work = append(r.Columns, out), append(r.Work, in.Slot)
		r.Anchor.Values = append(r.Anchor.Values, b.become(col.Node, t))
		columns = append(columns, OutColumn{name: col.name, Node: out, computed: true})
		work = append(work, OutColumn{name: col.name, Node: in, computed: true})
	}
	return columns, work, nil
}
