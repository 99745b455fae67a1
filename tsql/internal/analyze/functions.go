package analyze

import (
	"errors"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/builtin"
	"github.com/duroxide/duroxide-go/tsql/internal/lookup"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// invocation is a call of a built-in function with its typed arguments.
type invocation struct {
	call *syntax.Call
	name string // upper case
	args []typed
}

// known is the call as package builtin sees it.
func (c *invocation) known() *builtin.Call {
	args := make([]builtin.Argument, len(c.args))
	for i, t := range c.args {
		args[i] = t.known()
	}
	return &builtin.Call{Syntax: c.call, Name: c.name, Args: args}
}

// call types a call of a function.
func (a *analyzer) call(s *scope, c *syntax.Call) typed {
	f, ok := builtin.Lookup(c)
	if _, numbers := builtin.IsIdentity(c); numbers {
		return a.fail(s.env, c.Span, "number the rows by ROW_NUMBER() OVER (ORDER BY …)",
			"IDENTITY can stand only as a column of one SELECT … INTO")
	}
	if !ok {
		return a.userFunction(s, c)
	}
	in := &invocation{call: c, name: strings.ToUpper(c.Name.Parts[0].Value)}
	at := a.placement(s, c, f)
	if at == nil {
		return typed{}
	}
	fit := a.arguments(at, in, f)
	if builtin.Chooses(in.name) {
		in.unify()
	}
	if !fit || !a.clauses(s, c, f) || slices.ContainsFunc(in.args, typed.bad) {
		return typed{}
	}
	known := in.known()
	t, err := f.Type(known)
	if errors.Is(err, builtin.ErrOrdered) {
		return a.failGap(s.env, c.Span, "", "%s: not known to the generator; use PERCENTILE_CONT, which is float", in.name)
	}
	if err != nil {
		return a.fail(s.env, c.Span, "", "%v", err)
	}
	fails := s.env.lenient() && callFails(in, f)
	return typed{Type: t, Nullable: f.Nullable(known, s.rows(c)) || fails}
}

// rows says what is known about the rows that a call of an aggregate or a window function sees. A group has some.
func (s *scope) rows(c *syntax.Call) builtin.Rows {
	return builtin.Rows{
		Over: c.Over != nil, Framed: s.framed(c.Over), Empty: s.group == nil || s.group.whole || s.group.nullable,
	}
}

// unify lets parameters among the arguments of COALESCE and its like take the type of the others.
//
// In COALESCE (@p, o.note) the column tells the type of @p. The first argument of IIF is a condition and that of CHOOSE
// an index: neither is among the results.
func (c *invocation) unify() {
	skip := 0
	if c.name == "IIF" || c.name == "CHOOSE" {
		skip = 1
	}
	for i := skip; i < len(c.args); i++ {
		for j := i + 1; j < len(c.args); j++ {
			pair(c.args[i], c.args[j], c.call.Span)
		}
	}
}

// userFunction types a call of a scalar function that a script defines. T-SQL wants its schema written.
//
// Without a schema it would be looked up among the built-in functions alone, so that the likely mistake is a missing
// dbo.
func (a *analyzer) userFunction(s *scope, c *syntax.Call) typed {
	if parts := c.Name.Parts; len(parts) > 1 && a.isColumn(s, parts[:len(parts)-1]) {
		column := parts[:len(parts)-1]
		x := &syntax.ColumnRef{Span: column[0].Span.Until(column[len(column)-1].Span), Parts: column}
		return a.method(s, &syntax.Method{Span: c.Span, X: x, Name: parts[len(parts)-1], Args: c.Args})
	}
	if parts := c.Name.Parts; len(parts) == 2 && same(parts[0].Value, "$PARTITION") && len(c.Args) == 1 {
		a.expr(s, c.Args[0])
		return typed{Type: typeInt, Nullable: true} // the number of the partition
	}
	full, err := a.resolve(s.env, c.Name)
	if err != nil {
		return a.failName(s.env, c.Name.Span, "", "%v", err)
	}
	f := a.cat.Function(full)
	name := c.Name.Last().Value
	if f == nil {
		a.nameArguments(s, c)
	}
	switch {
	case f == nil && len(c.Name.Parts) == 1:
		a.failServer(s.env, c.Name.Span, "use another one, or wrap it in a function of a script",
			"function %s is not known to the generator", name)
		return a.meant(strings.ToUpper(name), builtin.Names)
	case f == nil && full.IsSystem():
		return a.failServer(s.env, c.Name.Span, "", "function %s is not known to the generator", full)
	case f == nil:
		a.failGap(s.env, c.Name.Span, defineIt, "no script defines a function %s", full)
		return a.meantObject(full)
	case len(c.Name.Parts) == 1:
		return a.failName(s.env, c.Name.Span, "write "+full.String(), "%s is no built-in function, and one of a script is called with its schema", name)
	case f.Def.Returns == nil:
		return a.fail(s.env, c.Name.Span, "read it in FROM", "%s returns a table", full)
	}
	a.functionArguments(s, c, f)
	if f.Returns.Kind == sqltype.Invalid {
		return typed{}
	}
	return typed{Type: f.Returns, Nullable: true}
}

// isColumn reports whether a qualified name is that of a column: what follows is then a method or a property of a CLR
// type.
func (a *analyzer) isColumn(s *scope, parts []syntax.Ident) bool {
	span := parts[0].Span.Until(parts[len(parts)-1].Span)
	ok := false
	a.quietly(func() { _, _, ok = a.find(s, &syntax.ColumnRef{Span: span, Parts: parts}) })
	return ok
}

// placement checks that a function may stand where it does, and returns the scope of its arguments; nil if not. Window
// functions belong to the select list and ORDER BY, aggregates also to HAVING, and neither takes its own kind.
//
// SUM (COUNT(*)) is refused, SUM (COUNT(*)) OVER () is right: the window is over the groups.
func (a *analyzer) placement(s *scope, c *syntax.Call, f builtin.Function) *scope {
	name := strings.ToUpper(c.Name.Parts[0].Value)
	bad := func(fix, format string, args ...any) *scope {
		a.fail(s.env, c.Span, fix, format, args...)
		return nil
	}
	switch {
	case c.Over != nil && (f.Use() == builtin.Row || f.Use() == builtin.Grouped || name == "STRING_AGG"):
		return bad("", "%s can't have OVER", name)
	case c.Over == nil && f.Use() == builtin.Window:
		return bad("add OVER (ORDER BY …)", "%s needs OVER", name)
	case c.Over != nil && !s.Clause.Windows():
		return bad("compute it in a derived table", "%s OVER can't stand in %s", name, s.Clause)
	case c.Over != nil:
		return s.in(lookup.InWindow) // an aggregate may be its argument, but no other window function
	case f.Use() == builtin.Grouped && s.group == nil:
		return bad("", "%s needs GROUP BY", name)
	case f.Use() == builtin.Group && s.InAggregate:
		return bad("", "%s stands in an aggregate", name)
	case f.Use() == builtin.Group && !s.Clause.Aggregates():
		return bad("compute it in a subquery", "%s can't stand in %s", name, s.Clause)
	case f.Use() == builtin.Group:
		inner := s.in(s.Clause)
		inner.InAggregate = true
		return inner
	default:
		return s
	}
}

// arguments types and checks the arguments of a call.
func (a *analyzer) arguments(s *scope, in *invocation, f builtin.Function) bool {
	if in.call.Star && builtin.TakesStar(in.name) {
		return true
	}
	kinds, fits := f.Kinds(len(in.call.Args))
	if in.call.Star || !fits {
		a.fail(s.env, in.call.Span, "", "%s takes %s, not %d", in.name, f.Takes(), len(in.call.Args))
		return false
	}
	ok := true
	for i, x := range in.call.Args {
		t, good := a.functionArgument(s, in.name, kinds[i], x)
		in.args = append(in.args, t)
		ok = ok && good
	}
	for _, key := range in.call.Keys {
		a.takes(s, key, nvarchar(4000), "a key of "+in.name)
	}
	return ok
}

// functionArgument types one argument and reports whether the call can be typed with it.
func (a *analyzer) functionArgument(s *scope, name string, kind builtin.Kind, x syntax.Expr) (typed, bool) {
	switch kind {
	case builtin.PartWord:
		if builtin.PartOf(x) == builtin.NoPart {
			a.fail(s.env, x.Range(), "write one such as DAY or MILLISECOND", "%s takes a part of a date here", name)
			return typed{}, false
		}
		return typed{Type: typeInt}, true
	case builtin.Condition:
		a.cond(s, x)
		return typed{Type: typeBit}, true
	case builtin.JSONWord:
		if _, ok := builtin.WordOf(x); !ok {
			a.fail(s.env, x.Range(), "", "%s takes one of %s here", name, strings.Join(builtin.JSONWords(), ", "))
			return typed{}, false
		}
		return typed{Type: typeInt}, true
	case builtin.Date:
		return a.dateArgument(s, name, x)
	default:
		return a.plainArgument(s, name, kind, x)
	}
}

// plainArgument types an argument that is an expression.
func (a *analyzer) plainArgument(s *scope, name string, kind builtin.Kind, x syntax.Expr) (typed, bool) {
	t := a.expr(s, x)
	if t.param != nil && t.bad() && kind.Parameter().Kind != sqltype.Invalid {
		t.param.see(use{Type: kind.Parameter(), at: x.Range()})
	}
	if t.bad() {
		// A parameter may get its type from the other arguments.
		return t, t.param != nil && kind == builtin.Anything
	}
	good := kind.Accepts(t.Type)
	if !good {
		a.fail(s.env, x.Range(), "CAST it", "%s takes %s, not %s", name, kind.Wants(), t.Type)
	}
	return t, good
}

// dateArgument types a date. A number is one too, of days since 1900: as a constant it is part of well-known idioms,
// such as DATEADD(month, DATEDIFF(month, 0, d), 0), and anything else is hardly meant.
func (a *analyzer) dateArgument(s *scope, name string, x syntax.Expr) (typed, bool) {
	t := a.expr(s, x)
	switch {
	case t.bad() || t.isNull():
		return t, !t.bad()
	case !builtin.Date.Accepts(t.Type):
		a.fail(s.env, x.Range(), "CAST it", "%s takes %s, not %s", name, builtin.Date.Wants(), t.Type)
		return t, false
	case t.Type.IsNumeric() && !isConstant(x):
		a.fail(s.env, x.Range(), "CAST it to datetime if that is meant", "%s takes a date or time; of %s it makes days since 1900", name, t.Type)
		return t, false
	default:
		return t, true
	}
}

// isConstant reports whether an expression is a literal, perhaps with a sign.
func isConstant(x syntax.Expr) bool {
	x = syntax.Unparen(x)
	if sign, ok := x.(*syntax.Unary); ok {
		x = syntax.Unparen(sign.X)
	}
	_, ok := x.(*syntax.Literal)
	return ok
}

// clauses checks what follows the arguments: OVER, WITHIN GROUP, DISTINCT.
func (a *analyzer) clauses(s *scope, c *syntax.Call, f builtin.Function) bool {
	name := strings.ToUpper(c.Name.Parts[0].Value)
	if c.Distinct && (f.Use() != builtin.Group || name == "STRING_AGG") {
		a.fail(s.env, c.Span, "", "%s can't have DISTINCT", name)
		return false
	}
	if c.Distinct && c.Over != nil {
		a.fail(s.env, c.Span, "", "DISTINCT can't be combined with OVER")
		return false
	}
	if len(c.WithinGroup) > 0 {
		inner := s.in(s.Clause)
		inner.InAggregate = c.Over == nil
		for _, item := range c.WithinGroup {
			a.expr(inner, item.X)
		}
	}
	if c.Over != nil {
		a.window(s, c.Over)
		if f.Use() == builtin.Window && !s.ordered(c.Over) && len(c.WithinGroup) == 0 {
			a.fail(s.env, c.Over.Span, "add ORDER BY", "%s needs an order", name)
			return false
		}
	}
	return true
}

// windowsOf returns a window and the named ones that it is made of.
func (s *scope) windowsOf(w *syntax.Window) []*syntax.Window {
	all := []*syntax.Window{w}
	for w.Name != "" && len(all) <= len(s.Windows) { // a ring of names is an error elsewhere
		named := s.Window(w.Name, same)
		if named == nil {
			break
		}
		w = named
		all = append(all, w)
	}
	return all
}

// ordered reports whether a window has an order or is not known to have none, and framed whether
// ROWS or RANGE makes a part of it that need not have rows: it begins and ends before the present row, or after it.
func (s *scope) ordered(w *syntax.Window) bool {
	all := s.windowsOf(w)
	return all[len(all)-1].Name != "" || slices.ContainsFunc(all, func(w *syntax.Window) bool { return len(w.OrderBy) > 0 })
}

func (s *scope) framed(w *syntax.Window) bool {
	return w != nil && slices.ContainsFunc(s.windowsOf(w), func(w *syntax.Window) bool {
		return strings.Count(w.Frame, "PRECEDING") > 1 || strings.Count(w.Frame, "FOLLOWING") > 1
	})
}

// window checks OVER (…). In a grouped query it sees the groups, aggregates included.
//
// An ORDER BY without ROWS or RANGE means RANGE up to the present row, which is never empty.
func (a *analyzer) window(s *scope, w *syntax.Window) {
	inner := s.in(lookup.InWindow)
	if w.Name != "" && s.Window(w.Name, same) == nil {
		a.failName(s.env, w.Span, "", "no WINDOW clause defines %s", w.Name)
	}
	for _, x := range w.PartitionBy {
		a.expr(inner, x)
	}
	for _, item := range w.OrderBy {
		if lit, ok := syntax.Unparen(item.X).(*syntax.Literal); ok && lit.Kind == syntax.IntLiteral {
			a.fail(s.env, lit.Span, "order by a column, or by (SELECT NULL)", "a number means no column in a window")
			continue
		}
		a.expr(inner, item.X)
	}
}
