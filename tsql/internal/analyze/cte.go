package analyze

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// with makes the common table expressions of a query known in s, one after the other.
//
// A reference to itself is allowed in one form: the last part of a UNION ALL. All others see what is defined before:
//
//	WITH up AS (
//	    SELECT id, parent FROM dbo.node WHERE id = @id                             -- the anchor
//	    UNION ALL
//	    SELECT n.id, n.parent FROM dbo.node AS n JOIN up ON up.parent = n.id       -- the recursive part
//	)
func (a *analyzer) with(s *scope, list []*syntax.CTE) {
	for i, c := range list {
		for _, other := range list[:i] {
			if same(other.Name.Value, c.Name.Value) {
				a.failName(s.env, c.Name.Span, "", "two common table expressions are called %s", c.Name.Value)
			}
		}
		var rel relation
		if set := recursive(c); set != nil {
			rel = a.recursion(s, c, set)
		} else {
			rel = a.subquery(s, c.Query)
			a.rename(s.env, &rel, c.Columns)
		}
		if !rel.bad {
			rel.bad = !a.checkNames(s.env, rel.columns, "of "+c.Name.Value)
		}
		s.ctes = &cte{name: c.Name.Value, rel: &rel, outer: s.ctes}
	}
}

// recursive returns the UNION ALL of a common table expression that reads itself: the last one, if several parts do.
func recursive(c *syntax.CTE) *syntax.SetOperation {
	return recursivePart(c, c.Query.Body)
}

// recursivePart returns a set operation whose second query reads the common table expression, or else nil.
func recursivePart(c *syntax.CTE, body syntax.QueryBody) *syntax.SetOperation {
	set, ok := body.(*syntax.SetOperation)
	if !ok {
		return nil
	}
	for ref := range syntax.All[*syntax.TableRef](set.Y) {
		if len(ref.Name.Parts) == 1 && same(ref.Name.Parts[0].Value, c.Name.Value) {
			return set
		}
	}
	return nil
}

// recursion types a common table expression that reads itself. The anchor gives the types, which those of the other
// part must equal. A column is not null when that holds for the anchor, and for the other part given that it holds for
// the rows before; what turns out otherwise is nullable, and the other part is typed again. There may be several other
// parts.
func (a *analyzer) recursion(s *scope, c *syntax.CTE, set *syntax.SetOperation) relation {
	var parts []syntax.QueryBody
	first, all := set.X, true
	for ; set != nil; set = recursivePart(c, first) {
		first, parts = set.X, append(parts, set.Y)
		if set.Op != "UNION" || !set.All {
			a.fail(s.env, set.Span, "write UNION ALL", "a common table expression that reads itself needs UNION ALL")
			all = false
		}
	}
	slices.Reverse(parts)
	anchor := a.body(s, first).relation
	anchor.rows, anchor.keys, anchor.bad = Many, nil, anchor.bad || !all
	a.rename(s.env, &anchor, c.Columns)
	if anchor.bad {
		if a.names != nil {
			a.steps(s, c, &anchor, parts)
		}
		return anchor
	}
	for {
		steps, found := a.steps(s, c, &anchor, parts)
		if widened(anchor, steps) {
			continue
		}
		*a.found = append(*a.found, found...)
		for _, step := range steps {
			anchor.bad = !a.checkStep(s.env, c, anchor, step) || anchor.bad
		}
		return anchor
	}
}

// steps types the parts of a common table expression that read it, for what is known of its rows.
func (a *analyzer) steps(s *scope, c *syntax.CTE, anchor *relation, parts []syntax.QueryBody) (steps []relation, found diag.List) {
	inner := *s
	inner.ctes = &cte{name: c.Name.Value, rel: anchor, outer: s.ctes}
	found = a.quietly(func() {
		for _, part := range parts {
			steps = append(steps, a.body(&inner, part).relation)
		}
	})
	return steps, found
}

// widened makes the columns nullable that are in one of the steps, and reports whether there was one.
func widened(anchor relation, steps []relation) bool {
	changed := false
	for _, step := range steps {
		if step.bad || len(step.columns) != len(anchor.columns) {
			continue
		}
		for i, column := range step.columns {
			if column.Nullable && !anchor.columns[i].Nullable {
				anchor.columns[i].Nullable, changed = true, true
			}
		}
	}
	return changed
}

// checkStep checks that the recursive part has the anchor's columns.
//
// The server does not widen: nvarchar(10) in the anchor and nvarchar(20) in the other part is error 240, the usual
// answer to which is a CAST in the anchor.
func (a *analyzer) checkStep(e *env, c *syntax.CTE, anchor, step relation) bool {
	if step.bad {
		return false
	}
	if len(step.columns) != len(anchor.columns) {
		a.fail(e, c.Name.Span, "", "the anchor of %s has %s, its recursive part %d",
			c.Name.Value, diag.Count(len(anchor.columns), "column"), len(step.columns))
		return false
	}
	ok := true
	for i, column := range step.columns {
		if want := anchor.columns[i]; column.Type != want.Type {
			a.fail(e, column.Span, "CAST one of them",
				"column %s of %s is %s in the anchor and %s in the recursive part", want.Name, c.Name.Value, want.Type, column.Type)
			ok = false
		}
	}
	return ok
}
