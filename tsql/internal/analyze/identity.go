package analyze

import (
	"github.com/duroxide/duroxide-go/tsql/internal/builtin"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// selected types an item of a select list. IDENTITY is one in SELECT … INTO alone.
func (a *analyzer) selected(s *scope, q *syntax.Select, item syntax.SelectItem) typed {
	c, numbers := builtin.IsIdentity(item.X)
	if !numbers || q.Into == nil || item.Variable != nil {
		return a.expr(s, item.X)
	}
	id, err := builtin.ReadIdentity(c)
	if err != nil {
		return a.fail(s.env, c.Span, "", "%v", err)
	}
	return typed{Type: id.Type}
}

// numbered returns the identity column of the table of SELECT … INTO: the one that IDENTITY makes, or that of the only
// table which is read. It is -1 if there is none.
//
// The reference says that the property is not inherited by a column of a join, of a UNION, in an expression, or that is
// listed twice. A table has one identity column at most.
func (a *analyzer) numbered(s *scope, q *syntax.Select, out *result) int {
	found := a.inherited(q, out)
	for i, x := range out.items {
		if _, numbers := builtin.IsIdentity(x); !numbers {
			continue
		}
		if found >= 0 {
			a.fail(s.env, x.Range(), "leave one of them out, or write "+out.columns[found].Name+" + 0 AS "+out.columns[found].Name,
				"the table has an identity column already: %s", out.columns[found].Name)
			return found
		}
		found = i
	}
	return found
}

// inherited returns the column that is the identity column of the only table which a query reads, or -1.
func (a *analyzer) inherited(q *syntax.Select, out *result) int {
	if len(out.items) != len(out.columns) || len(q.From) != 1 || q.Distinct || out.selectScope == nil {
		return -1
	}
	read := out.selectScope
	if read.group != nil || len(read.Sources) != 1 || read.Sources[0].table == nil {
		return -1
	}
	found := -1
	for i, x := range out.items {
		if !a.isIdentityOf(read, x, out.columns[i].Name) {
			continue
		}
		if found >= 0 {
			return -1 // it is there twice
		}
		found = i
	}
	return found
}

// isIdentityOf reports whether an item of a select list, or a column of its star, is the identity column of the source.
func (a *analyzer) isIdentityOf(s *scope, x syntax.Expr, name string) bool {
	src := s.Sources[0]
	if x == nil {
		c := src.table.Column(name)
		return c != nil && c.Identity
	}
	ref, ok := syntax.Unparen(x).(*syntax.ColumnRef)
	if !ok {
		return false
	}
	at, ok := a.local(s, ref)
	return ok && src.definition(at.Column) != nil && src.definition(at.Column).Identity
}
