package analyze

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// condition checks a condition that stands outside a query.
func (a *analyzer) condition(e *env, x syntax.Expr) {
	a.cond(&scope{env: e}, x)
}

// cond checks a condition.
func (a *analyzer) cond(s *scope, x syntax.Expr) {
	switch x := x.(type) {
	case *syntax.Paren:
		a.cond(s, x.X)
	case *syntax.Not:
		a.cond(s, x.X)
	case *syntax.Logical:
		a.cond(s, x.X)
		a.cond(s, x.Y)
	case *syntax.Compare:
		a.comparable(s.env, a.expr(s, x.X), a.expr(s, x.Y), x.Span)
	case *syntax.Between:
		v := a.expr(s, x.X)
		a.comparable(s.env, v, a.expr(s, x.Low), x.Low.Range())
		a.comparable(s.env, v, a.expr(s, x.High), x.High.Range())
	case *syntax.In:
		a.in(s, x)
	case *syntax.Quantified:
		a.comparable(s.env, a.expr(s, x.X), a.single(s, x.Query), x.Span)
	case *syntax.Like:
		a.like(s, x)
	case *syntax.IsNull:
		a.expr(s, x.X)
	case *syntax.Exists:
		// The columns mean nothing, but what they name must be there.
		inner := *s
		inner.Exists = true
		a.subqueryValues(&inner, x.Query)
	case *syntax.UpdateTest:
		a.updateTest(s, x)
	case *syntax.Call:
		a.fullText(s, x)
	default:
		if t := a.expr(s, x); !t.bad() {
			a.fail(s.env, x.Range(), "compare it: … = 1", "a value stands where a condition is expected")
		}
	}
}

// comparable checks that two operands can be compared; a parameter takes the type of what it is compared with.
func (a *analyzer) comparable(e *env, x, y typed, at diag.Span) {
	pair(x, y, at)
	if x.bad() || y.bad() || x.isNull() || y.isNull() {
		return
	}
	if err := sqltype.Comparable(x.Type, y.Type); err != nil {
		a.fail(e, at, "CAST one of them", "%v", err)
	}
}

// in checks x IN (…). The list is compared element by element, so that each finding is at its own.
//
// NOT IN with a NULL in the list is never true, which is a matter of values and left alone here.
func (a *analyzer) in(s *scope, x *syntax.In) {
	v := a.expr(s, x.X)
	if x.Query != nil {
		a.comparable(s.env, v, a.single(s, x.Query), x.Span)
		return
	}
	for _, item := range x.List {
		a.comparable(s.env, v, a.expr(s, item), item.Range())
	}
}

// single types a subquery that must have one column.
func (a *analyzer) single(s *scope, q *syntax.Query) typed {
	out := a.subqueryValues(s, q)
	if len(out.columns) == 1 {
		return out.values[0]
	}
	if out.bad {
		return typed{}
	}
	return a.fail(s.env, q.Span, "", "this subquery must have one column, not %d", len(out.columns))
}

// like checks x LIKE pattern.
func (a *analyzer) like(s *scope, x *syntax.Like) {
	v, pattern := a.expr(s, x.X), a.expr(s, x.Pattern)
	if x.Escape != nil {
		a.takes(s, x.Escape, nvarchar(1), "ESCAPE")
	}
	switch {
	case pattern.bad() && v.tells() && v.Type.IsCharacter():
		a.likePattern(s, x.Pattern, v.Type)
	case v.param != nil && pattern.tells() && pattern.Type.IsCharacter():
		v.param.see(use{Type: textOf(pattern.Type, sqltype.Max), at: x.X.Range()})
	}
	for _, o := range []operand{{x.X, v}, {x.Pattern, pattern}} {
		if o.bad() || o.isNull() {
			continue
		}
		if err := sqltype.Assignable(o.Type, typeNVarCharMax); err != nil {
			a.fail(s.env, o.x.Range(), "CAST it to nvarchar", "LIKE takes text, not %s", o.Type)
		}
	}
}

// updateTest checks UPDATE (column) of a trigger.
func (a *analyzer) updateTest(s *scope, x *syntax.UpdateTest) {
	t := s.env.trigger
	if t == nil {
		a.fail(s.env, x.Span, "", "UPDATE (…) is known only in a trigger")
		return
	}
	if t.Column(x.Column.Value) == nil {
		a.failName(s.env, x.Column.Span, addColumn, "%s has no column %s", t.Name, x.Column.Value)
	}
}

// fullText checks CONTAINS and FREETEXT, the only functions that are conditions.
//
// They take columns, or lists of them, that have a full-text index; whether there is one is for the server to say.
func (a *analyzer) fullText(s *scope, x *syntax.Call) {
	name := strings.ToUpper(x.Name.Last().Value)
	if len(x.Name.Parts) != 1 || name != "CONTAINS" && name != "FREETEXT" {
		if t := a.expr(s, x); !t.bad() {
			a.fail(s.env, x.Span, "compare it: … = 1", "a value stands where a condition is expected")
		}
		return
	}
	for _, arg := range x.Args {
		a.expr(s, arg)
	}
}
