package analyze

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/builtin"
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// scalar types an expression that stands outside a query.
//
// Its own scope has no tables: DECLARE @n int = (SELECT …) reads some in a subquery, which has a scope of its own.
func (a *analyzer) scalar(e *env, x syntax.Expr) typed {
	return a.expr(&scope{env: e}, x)
}

// operand is an expression with what is known about it.
type operand struct {
	x syntax.Expr
	typed
}

// expr types a scalar expression. In a grouped query, one that is written as in GROUP BY is the grouped value.
func (a *analyzer) expr(s *scope, x syntax.Expr) typed {
	if s.group != nil && !s.InAggregate && len(s.group.items) > 0 {
		if t, ok := s.group.items[a.fingerprint(s, x)]; ok {
			return t
		}
	}
	switch x := x.(type) {
	case *syntax.Literal:
		return a.literal(s, x)
	case *syntax.Paren:
		return a.expr(s, x.X)
	case *syntax.Variable:
		return a.variable(s.env, x)
	case *syntax.SystemVariable:
		return a.systemVariable(s, x)
	case *syntax.ColumnRef:
		if t, ok := a.property(s, x); ok {
			return t
		}
		return a.column(s, x)
	case *syntax.Unary:
		return a.unary(s, x)
	case *syntax.Binary:
		return a.binary(s, x)
	case *syntax.Case:
		return a.caseExpr(s, x)
	case *syntax.Cast:
		return a.cast(s, x)
	case *syntax.Method:
		return a.method(s, x)
	case *syntax.Call:
		return a.call(s, x)
	case *syntax.Subquery:
		return a.scalarSubquery(s, x)
	case *syntax.NextValue:
		return a.nextValue(s, x)
	case *syntax.AtTimeZone:
		return a.atTimeZone(s, x)
	case *syntax.Collate:
		return a.collate(s, x)
	default:
		return a.fail(s.env, x.Range(), "use CASE WHEN … THEN 1 ELSE 0 END", "a condition stands where a value is expected")
	}
}

// literal types a constant.
//
// Numbers have the least type: 1 is int, 3000000000 is numeric(10, 0) and not bigint, 1.50 is numeric(3, 2), 1e0 is
// float. Text is as long as it is written.
func (a *analyzer) literal(s *scope, x *syntax.Literal) typed {
	t := typed{literal: x}
	var err error
	switch x.Kind {
	case syntax.NullLiteral:
		t.Type, t.Nullable = sqltype.Type{Kind: sqltype.Null}, true
	case syntax.IntLiteral:
		t.Type, err = sqltype.IntLiteral(x.Value)
	case syntax.DecimalLiteral:
		t.Type, err = sqltype.DecimalLiteral(x.Value)
	case syntax.FloatLiteral:
		t.Type = sqltype.FloatLiteral()
	case syntax.MoneyLiteral:
		t.Type = sqltype.MoneyLiteral()
	case syntax.StringLiteral:
		t.Type = sqltype.StringLiteral(x.Value, false)
	case syntax.NStringLiteral:
		t.Type = sqltype.StringLiteral(x.Value, true)
	case syntax.BinaryLiteral:
		t.Type, err = sqltype.BinaryLiteral(x.Value)
	default:
		return a.fail(s.env, x.Span, "", "DEFAULT can't stand here")
	}
	if err != nil {
		return a.fail(s.env, x.Span, "", "%v", err)
	}
	return t
}

// variable types @v. In an annotated query, one that nothing declares is a parameter.
func (a *analyzer) variable(e *env, x *syntax.Variable) typed {
	if v, ok := e.variable(x.Name); ok {
		return typed{Type: v.Type, Nullable: !e.facts.has(x.Name)}
	}
	if _, ok := e.table(x.Name); ok {
		return a.failName(e, x.Span, "read it in FROM", "%s is a table variable", x.Name)
	}
	if strings.HasPrefix(x.Name, "@@") { // one of the server's, more likely
		a.failServer(e, x.Span, "", "%s is not declared, and not known to the generator", x.Name)
		return a.meant(strings.ToUpper(x.Name), func() []string { return append(e.names(), builtin.Variables()...) })
	}
	if p := e.infer.use(x.Name, x.Span); p != nil {
		return typed{Type: p.Type, Nullable: p.null(), param: p}
	}
	a.failName(e, x.Span, "declare it", "variable %s isn't declared", x.Name)
	return a.meant(x.Name, e.names)
}

// systemVariable types @@name.
//
// @@ROWCOUNT and @@IDENTITY are functions in truth, with types of their own and no declaration.
func (a *analyzer) systemVariable(s *scope, x *syntax.SystemVariable) typed {
	v, ok := builtin.Variable(strings.ToUpper(x.Name))
	if !ok {
		a.failServer(s.env, x.Span, "", "%s is not known to the generator", x.Name)
		return a.meant(strings.ToUpper(x.Name), builtin.Variables)
	}
	return typed{Type: v.Type, Nullable: v.Nullable}
}

// unary types + - ~, which change no NULL, though - of the least number can fail.
func (a *analyzer) unary(s *scope, x *syntax.Unary) typed {
	t := a.expr(s, x.X)
	if t.bad() {
		return typed{param: t.param} // a sign in front of it doesn't change its type
	}
	result, err := sqltype.Unary(x.Op, t.Type)
	if err != nil {
		return a.fail(s.env, x.Span, "", "%v", err)
	}
	fails := x.Op == "-" && t.literal == nil && s.env.lenient()
	return typed{Type: result, Nullable: t.Nullable || fails}
}

// binary types arithmetic and concatenation. The length of a parameter beside a string could be anything.
//
// NULL on either side makes NULL, for + of text as well: refusedOptions keeps CONCAT_NULL_YIELDS_NULL on.
func (a *analyzer) binary(s *scope, x *syntax.Binary) typed {
	l, r := a.expr(s, x.X), a.expr(s, x.Y)
	pairNumbers(l, r, x.Span)
	if l.bad() || r.bad() {
		return typed{}
	}
	result, err := sqltype.Arithmetic(x.Op, literally(l, r), literally(r, l))
	if err != nil {
		return a.fail(s.env, x.Span, "", "%v", err) // it says what to do
	}
	t := typed{Type: result, Nullable: l.Nullable || r.Nullable}
	t.Nullable = t.Nullable || s.env.lenient() && binaryFails(x.Op, l, r, t)
	return t
}

// literally returns the type of an operand for arithmetic with another one: an integer literal has just its digits when
// it meets a decimal.
//
// Otherwise it would count as the decimal(10, 0) that every int is:
//
//	total * 2        -- total is decimal(10, 2): with decimal(1, 0) it is decimal(12, 2), not decimal(21, 2)
func literally(t, other typed) sqltype.Type {
	if t.literal != nil && t.literal.Kind == syntax.IntLiteral && other.Type.Kind == sqltype.Decimal {
		if digits, err := sqltype.IntLiteralBesideDecimal(t.literal.Value); err == nil {
			return digits
		}
	}
	return t.Type
}

// caseExpr types CASE. Without ELSE it may be NULL.
//
// CASE x WHEN y compares, so that parameters learn in both directions; the results are united as in COALESCE.
func (a *analyzer) caseExpr(s *scope, x *syntax.Case) typed {
	var input typed
	if x.Input != nil {
		input = a.expr(s, x.Input)
	}
	var results []operand
	for _, arm := range x.Whens {
		if x.Input != nil {
			a.comparable(s.env, input, a.expr(s, arm.When), arm.When.Range())
		} else {
			a.cond(s, arm.When)
		}
		results = append(results, operand{arm.Then, a.expr(s, arm.Then)})
	}
	if x.Else != nil {
		results = append(results, operand{x.Else, a.expr(s, x.Else)})
	}
	t := a.unite(s.env, results)
	if t.isNull() {
		return a.fail(s.env, x.Span, "CAST one of them", "every result of this CASE is NULL, which has no type")
	}
	t.Nullable = t.Nullable || x.Else == nil
	return t
}

// unite returns the type that all operands convert to, that of the highest precedence with room for all. It is nullable
// if one of them is.
//
// For CASE … THEN 1 ELSE N'one' END that is int, by precedence, though 'one' fails to convert in the first row that
// takes it.
func (a *analyzer) unite(e *env, list []operand) typed {
	for i := range list {
		for j := range list {
			if list[i].param != nil && list[i].bad() && i != j {
				pair(list[i].typed, list[j].typed, list[i].x.Range())
			}
		}
	}
	var out typed
	for i, o := range list {
		if o.bad() {
			return typed{}
		}
		if i == 0 {
			out = typed{Type: o.Type, Nullable: o.Nullable, literal: o.literal}
			if len(list) > 1 {
				out.literal = nil
			}
			continue
		}
		t, err := unionTypes(out, o.typed)
		if err != nil {
			return a.fail(e, o.x.Range(), "CAST them to one type", "%v", err)
		}
		out.Type, out.Nullable = t, out.Nullable || o.Nullable
	}
	return out
}

// unionTypes is sqltype.Union of two expressions.
func unionTypes(x, y typed) (sqltype.Type, error) { return sqltype.Union(x.Type, y.Type) }

// cast types CAST, CONVERT and PARSE. The TRY forms yield NULL for what can't be converted.
//
// A parameter below CAST has the type that it is cast to: CAST (@p AS date) is how an author says what @p is.
func (a *analyzer) cast(s *scope, x *syntax.Cast) typed {
	t := a.expr(s, x.X)
	var style typed // NULL makes the result NULL
	if x.Style != nil {
		style = a.expr(s, x.Style)
	}
	want, err := a.cat.CastType(x.Type)
	if err != nil {
		return a.fail(s.env, x.Type.Span, catalog.Advice(err), "%v", err)
	}
	if t.param != nil && t.bad() {
		t.param.see(use{Type: want, at: x.Span})
	}
	if !t.bad() && !t.isNull() {
		if err := sqltype.Castable(t.Type, want); err != nil {
			return a.fail(s.env, x.Span, "", "%v", err)
		}
	}
	if strings.HasSuffix(x.Func, "PARSE") && (want.IsCharacter() || want.IsBinary() || want.Kind == sqltype.UniqueIdentifier) {
		return a.fail(s.env, x.Span, "use CAST", "%s makes numbers and dates of text, not %s", x.Func, want)
	}
	// What is converted matters for NULL only, and something was said about it if it is bad.
	fails := s.env.lenient() && t.literal == nil && conversionFails(t.Type, want)
	return typed{Type: want, Nullable: t.Nullable || style.Nullable || strings.HasPrefix(x.Func, "TRY_") || fails}
}

// scalarSubquery types a query that stands for one value: NULL when it has no row.
//
// An aggregate without GROUP BY always has its row, so that (SELECT COUNT(*) FROM …) is never NULL.
func (a *analyzer) scalarSubquery(s *scope, x *syntax.Subquery) typed {
	if f := x.Query.For; f != nil && f.Kind != "BROWSE" {
		return a.document(s, x.Query)
	}
	out := a.subqueryValues(s, x.Query)
	if len(out.columns) != 1 {
		if out.bad {
			return typed{}
		}
		return a.fail(s.env, x.Span, "", "a subquery that stands for a value has one column, not %d", len(out.columns))
	}
	c := out.columns[0]
	return typed{Type: c.Type, Nullable: c.Nullable || out.rows != One, param: out.values[0].param}
}

// document types SELECT … FOR JSON and FOR XML as a value: NULL when the query has no row. JSON takes its keys from
// the names of the columns.
func (a *analyzer) document(s *scope, q *syntax.Query) typed {
	out := a.queryIn(s, q)
	if out.bad {
		return typed{}
	}
	if q.For.Kind == "JSON" {
		if !a.checkNames(s.env, out.columns, "of FOR JSON") {
			return typed{}
		}
		return typed{Type: typeNVarCharMax, Nullable: out.rows != One}
	}
	if yieldsXML(q.For) {
		return typed{Type: typeXML, Nullable: true}
	}
	return typed{Type: typeNVarCharMax, Nullable: true}
}

// nextValue types NEXT VALUE FOR a sequence.
func (a *analyzer) nextValue(s *scope, x *syntax.NextValue) typed {
	if x.Over != nil {
		a.window(s, x.Over)
	}
	name, err := a.resolve(s.env, x.Sequence)
	if err != nil {
		return a.failName(s.env, x.Sequence.Span, "", "%v", err)
	}
	seq := a.cat.Sequence(name)
	if seq == nil {
		a.failGap(s.env, x.Sequence.Span, defineIt, "no script defines a sequence %s", name)
		return a.meantObject(name)
	}
	return typed{Type: seq.Type}
}

// atTimeZone types x AT TIME ZONE zone: a datetimeoffset with the fractional digits of x.
func (a *analyzer) atTimeZone(s *scope, x *syntax.AtTimeZone) typed {
	t := a.expr(s, x.X)
	zone := a.takes(s, x.Zone, typeSysname, "the name of a time zone")
	if t.bad() || zone.bad() {
		return typed{}
	}
	result, err := builtin.AtTimeZone(t.Type)
	if err != nil {
		return a.fail(s.env, x.X.Range(), "CAST it to datetime2", "%v", err)
	}
	return typed{Type: result, Nullable: t.Nullable || zone.Nullable}
}

// collate types x COLLATE name, which changes comparisons and no type.
func (a *analyzer) collate(s *scope, x *syntax.Collate) typed {
	t := a.expr(s, x.X)
	if t.bad() || t.isNull() {
		return typed{Type: t.Type, Nullable: t.Nullable, param: t.param}
	}
	if !t.Type.IsCharacter() {
		return a.fail(s.env, x.Span, "", "COLLATE is for text, not for %s", t.Type)
	}
	return typed{Type: t.Type, Nullable: t.Nullable}
}

// takes types an expression for a place that takes one type, such as TOP. What converts by itself will do.
//
// It says the type of a parameter: TOP (@n) makes @n a bigint.
func (a *analyzer) takes(s *scope, x syntax.Expr, want sqltype.Type, what string) typed {
	t := a.expr(s, x)
	if t.param != nil && t.bad() {
		t.param.see(use{Type: want, at: x.Range()})
		return t
	}
	if t.bad() || t.isNull() {
		return t
	}
	if err := sqltype.Assignable(t.Type, want); err != nil {
		return a.fail(s.env, x.Range(), castAdvice(t.Type, want), "%s is %s: %v", what, want, err)
	}
	return t
}

// castAdvice says to write a CAST where there is one.
func castAdvice(from, to sqltype.Type) string {
	if sqltype.Castable(from, to) != nil {
		return ""
	}
	return "CAST it to " + to.String()
}

// functionArguments checks a call of a function that a script defines.
func (a *analyzer) functionArguments(s *scope, c *syntax.Call, f *catalog.Function) {
	if len(c.Args) != len(f.Params) {
		fix := ""
		if len(c.Args) < len(f.Params) && f.Params[len(c.Args)].Default != nil {
			fix = "pass DEFAULT for what may be left out"
		}
		a.fail(s.env, c.Span, fix, "%s takes %s, not %d", f.Name, diag.Count(len(f.Params), "argument"), len(c.Args))
		return
	}
	for i, arg := range c.Args {
		p := f.Params[i]
		if lit, ok := arg.(*syntax.Literal); ok && lit.Kind == syntax.DefaultLiteral {
			if p.Default == nil {
				a.fail(s.env, lit.Span, "", "%s of %s has no default", p.Name, f.Name)
			}
			continue
		}
		if p.Table != nil {
			a.tableArgument(s, arg, p)
			continue
		}
		a.argument(s.env, a.expr(s, arg), p.Type, false, arg.Range(), p.Name+" of "+f.Name.String())
	}
}

// tableArgument checks a table-valued argument: a variable of the very table type.
func (a *analyzer) tableArgument(s *scope, arg syntax.Expr, p catalog.Param) {
	v, ok := arg.(*syntax.Variable)
	if !ok {
		a.fail(s.env, arg.Range(), "", "%s is a table: pass a variable of type %s", p.Name, p.Table.Name)
		return
	}
	s.env.infer.takesTable(v.Name, v.Span)
	t, ok := s.env.table(v.Name)
	switch {
	case !ok:
		a.failName(s.env, v.Span, "declare it", "table variable %s isn't declared", v.Name)
		a.meant(v.Name, s.env.names)
	case t.Name.Key() != p.Table.Name.Key():
		a.fail(s.env, v.Span, "", "%s is a %s, not a %s", p.Name, p.Table.Name, t.Name)
	}
}
