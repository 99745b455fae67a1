package analyze

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/internal/tsql/diag"
	"github.com/duroxide/duroxide-go/internal/tsql/sqltype"
	"github.com/duroxide/duroxide-go/internal/tsql/syntax"
)

// builtin is a built-in function. The tables in builtins.go hold all that the generator knows; of any other function it
// doesn't know the type, and says so even below a CAST: whether the name exists at all is part of the question.
type builtin struct {
	// args has a letter per argument, as in argumentKinds. What follows a ? may be left out, and a final * repeats the
	// argument before it.
	args   string
	result rule
	null   nullRule
	use    usage
}

// rule computes the type of a call of which the arguments are known.
//
// An error is the text of the finding; the function's name is put in front of it if it is not in it.
type rule func(c *invocation) (sqltype.Type, error)

// nullRule says when a call may be NULL.
//
// Most functions are NULL if an argument is. Those that can be NULL of values that are not (JSON_VALUE of a document
// without the path), and those that never are (COUNT, CONCAT), say so in their row.
type nullRule int

const (
	nullIfAny  nullRule = iota // when an argument is NULL
	nullIfAll                  // when all arguments are NULL
	nullAlways                 // also otherwise: for input without an answer, or in contexts where there is none
	nullNever
	nullIfFirst // when the first argument is NULL
	nullOddly   // when an argument is NULL, or is no literal and so may have no answer
)

// usage tells functions of one row from those of many.
//
// It decides where a call may stand, and what rows its arguments see.
type usage int

const (
	ofRow     usage = iota
	ofGroup         // an aggregate, or with OVER a window function
	ofWindow        // only with OVER
	ofGrouped       // GROUPING: its argument is a grouped column
)

// invocation is a call with its typed arguments.
type invocation struct {
	call *syntax.Call
	name string // upper case
	args []typed
}

// builtins is all families in one.
var builtins = allBuiltins()

func allBuiltins() map[string]builtin {
	all := map[string]builtin{}
	for _, family := range []map[string]builtin{
		aggregateFunctions, windowFunctions, conditionalFunctions, stringFunctions, dateFunctions, mathFunctions,
		jsonFunctions, systemFunctions, securityFunctions, errorFunctions, cryptoFunctions,
	} {
		maps.Copy(all, family)
	}
	return all
}

// lookupBuiltin returns the function that an unqualified name calls.
//
// A qualified name is that of a function of the scripts, or a method: T-SQL finds no built-in under dbo.
func lookupBuiltin(c *syntax.Call) (builtin, bool) {
	if len(c.Name.Parts) != 1 {
		return builtin{}, false
	}
	f, ok := builtins[strings.ToUpper(c.Name.Parts[0].Value)]
	return f, ok
}

// isAggregate reports calls of aggregates.
//
// MAX (x) OVER () counts here too; that OVER keeps the rows apart is for the caller to look at.
func isAggregate(c *syntax.Call) bool {
	f, ok := lookupBuiltin(c)
	return ok && f.use == ofGroup
}

// call types a call of a function.
func (a *analyzer) call(s *scope, c *syntax.Call) typed {
	f, ok := lookupBuiltin(c)
	if !ok {
		return a.userFunction(s, c)
	}
	in := &invocation{call: c, name: strings.ToUpper(c.Name.Parts[0].Value)}
	at := a.placement(s, c, f)
	if at == nil {
		return typed{}
	}
	fit := a.arguments(at, in, f)
	if _, ok := conditionalFunctions[in.name]; ok {
		in.unify()
	}
	if !fit || !a.clauses(s, c, f) || slices.ContainsFunc(in.args, typed.bad) {
		return typed{}
	}
	t, err := f.result(in)
	if err == nil {
		err = checkDatePart(in)
	}
	if errors.Is(err, errPercentile) {
		return a.failGap(s.env, c.Span, "", "%s", prefixed(in.name, err.Error()))
	}
	if err != nil {
		return a.fail(s.env, c.Span, "", "%s", prefixed(in.name, err.Error()))
	}
	return typed{Type: t, Nullable: a.nullableCall(s, in, f)}
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

// prefixed puts the name of a function before a message that doesn't say it.
func prefixed(name, message string) string {
	if strings.Contains(message, name) {
		return message
	}
	return name + ": " + message
}

// userFunction types a call of a scalar function that a script defines. T-SQL wants its schema written.
//
// Without a schema it would be looked up among the built-in functions alone, so that the likely mistake is a missing
// dbo.
func (a *analyzer) userFunction(s *scope, c *syntax.Call) typed {
	if parts := c.Name.Parts; len(parts) > 1 && a.isColumn(s, parts[:len(parts)-1]) {
		return a.fail(s.env, c.Span, "CAST the column to text, or leave it to the client", "methods of columns (%s) aren't known to the generator", refText(parts))
	}
	full, err := a.resolve(s.env, c.Name)
	if err != nil {
		return a.failName(s.env, c.Name.Span, "", "%v", err)
	}
	f := a.cat.Function(full)
	name := lastPart(c.Name).Value
	switch {
	case f == nil && len(c.Name.Parts) == 1:
		return a.failGap(s.env, c.Name.Span, suggestOr(name, slices.Collect(maps.Keys(builtins)), "use another one, or wrap it in a function of a script"),
			"function %s is not known to the generator", name)
	case f == nil:
		return a.failGap(s.env, c.Name.Span, a.nearest(full), "no script defines a function %s", full)
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

// suggestOr is suggest with another fix for names that are near to nothing.
func suggestOr(name string, candidates []string, fix string) string {
	slices.Sort(candidates)
	if s := suggest(strings.ToUpper(name), candidates); s != "" {
		return s
	}
	return fix
}

// placement checks that a function may stand where it does, and returns the scope of its arguments; nil if not. Window
// functions belong to the select list and ORDER BY, aggregates also to HAVING, and neither takes its own kind.
//
// SUM (COUNT(*)) is refused, SUM (COUNT(*)) OVER () is right: the window is over the groups.
func (a *analyzer) placement(s *scope, c *syntax.Call, f builtin) *scope {
	name := strings.ToUpper(c.Name.Parts[0].Value)
	bad := func(fix, format string, args ...any) *scope {
		a.fail(s.env, c.Span, fix, format, args...)
		return nil
	}
	switch {
	case c.Over != nil && (f.use == ofRow || f.use == ofGrouped || name == "STRING_AGG"):
		return bad("", "%s can't have OVER", name)
	case c.Over == nil && f.use == ofWindow:
		return bad("add OVER (ORDER BY …)", "%s needs OVER", name)
	case c.Over != nil && !s.clause.windows():
		return bad("compute it in a derived table", "%s OVER can't stand in %s", name, s.clause)
	case c.Over != nil:
		return s.in(inWindow) // an aggregate may be its argument, but no other window function
	case f.use == ofGrouped && s.group == nil:
		return bad("", "%s needs GROUP BY", name)
	case f.use == ofGroup && s.inAggregate:
		return bad("", "%s stands in an aggregate", name)
	case f.use == ofGroup && !s.clause.aggregates():
		return bad("compute it in a subquery", "%s can't stand in %s", name, s.clause)
	case f.use == ofGroup:
		inner := s.in(s.clause)
		inner.inAggregate = true
		return inner
	default:
		return s
	}
}

// argumentKind is what an argument must be.
type argumentKind struct {
	want  string       // as a message says it
	param sqltype.Type // of a parameter in its place; Invalid if it could have several
	to    sqltype.Type // what it must convert to without CAST; Invalid if anything will do
}

// argumentKinds are the letters of builtin.args. Others are read by functionArgument itself: p is a word such as DAY, w
// one of JSON's, c a condition, and d a date.
var argumentKinds = map[byte]argumentKind{
	'a': {},
	's': {want: "text", to: typeNVarCharMax},
	'n': {want: "a number", to: typeFloat},
	'i': {want: "a whole number", param: typeInt, to: typeBigInt},
	'j': {want: "JSON text", param: typeNVarCharMax, to: typeNVarCharMax},
	'k': {want: "a name", param: typeSysname, to: typeNVarCharMax},
	'b': {want: "text or binary data"},
}

// arguments types and checks the arguments of a call.
func (a *analyzer) arguments(s *scope, in *invocation, f builtin) bool {
	if in.call.Star && (in.name == "COUNT" || in.name == "COUNT_BIG" || strings.HasSuffix(in.name, "CHECKSUM")) {
		return true
	}
	kinds, fits := f.kinds(len(in.call.Args))
	if in.call.Star || !fits {
		a.fail(s.env, in.call.Span, "", "%s takes %s, not %d", in.name, f.takes(), len(in.call.Args))
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
func (a *analyzer) functionArgument(s *scope, name string, kind byte, x syntax.Expr) (typed, bool) {
	switch kind {
	case 'p':
		if partOfDate(x) == noPart {
			a.fail(s.env, x.Range(), "write one such as DAY or MILLISECOND", "%s takes a part of a date here", name)
			return typed{}, false
		}
		return typed{Type: typeInt}, true
	case 'c':
		a.cond(s, x)
		return typed{Type: typeBit}, true
	case 'w':
		ref, ok := x.(*syntax.ColumnRef)
		if !ok || len(ref.Parts) != 1 || !slices.Contains(jsonKinds, strings.ToUpper(ref.Parts[0].Value)) {
			a.fail(s.env, x.Range(), "", "%s takes one of %s here", name, strings.Join(jsonKinds, ", "))
			return typed{}, false
		}
		return typed{Type: typeInt}, true
	case 'd':
		return a.dateArgument(s, name, x)
	}
	k := argumentKinds[kind]
	t := a.expr(s, x)
	if t.param != nil && t.bad() && k.param.Kind != sqltype.Invalid {
		t.param.see(use{Type: k.param, at: x.Range()})
	}
	if t.bad() || t.isNull() || k.want == "" {
		// A parameter may get its type from the other arguments.
		return t, !t.bad() || t.param != nil && kind == 'a'
	}
	good := t.Type.IsCharacter() || t.Type.IsBinary()
	if kind != 'b' {
		good = sqltype.Assignable(t.Type, k.to) == nil
	}
	if !good {
		a.fail(s.env, x.Range(), "CAST it", "%s takes %s, not %s", name, k.want, t.Type)
	}
	return t, good
}

// jsonKinds are the words that ISJSON takes.
var jsonKinds = []string{"VALUE", "ARRAY", "OBJECT", "SCALAR"}

// dateArgument types a date. A number is one too, of days since 1900: as a constant it is part of well-known idioms, such
// as DATEADD(month, DATEDIFF(month, 0, d), 0), and anything else is hardly meant.
func (a *analyzer) dateArgument(s *scope, name string, x syntax.Expr) (typed, bool) {
	t := a.expr(s, x)
	switch {
	case t.bad() || t.isNull():
		return t, !t.bad()
	case !t.Type.IsNumeric():
		if sqltype.Assignable(t.Type, dateTimeOffset(7)) == nil {
			return t, true
		}
		a.fail(s.env, x.Range(), "CAST it", "%s takes a date or time, not %s", name, t.Type)
		return t, false
	case isConstant(x):
		return t, true
	default:
		a.fail(s.env, x.Range(), "CAST it to datetime if that is meant", "%s takes a date or time; of %s it makes days since 1900", name, t.Type)
		return t, false
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

// kinds returns the letter of each of n arguments, and whether the function takes so many.
func (f builtin) kinds(n int) (string, bool) {
	required, optional, _ := strings.Cut(f.args, "?")
	all := required + optional
	if repeated, ok := strings.CutSuffix(all, "*"); ok {
		all = repeated
		for len(all) < n {
			all += repeated[len(repeated)-1:]
		}
	}
	if n < len(strings.TrimSuffix(required, "*")) || n > len(all) {
		return "", false
	}
	return all[:n], true
}

// takes says how many arguments the function takes.
func (f builtin) takes() string {
	required, optional, _ := strings.Cut(f.args, "?")
	n := len(strings.TrimSuffix(required, "*"))
	switch {
	case strings.HasSuffix(f.args, "*"):
		return "at least " + diag.Count(n, "argument")
	case optional != "":
		return fmt.Sprintf("%d to %s", n, diag.Count(n+len(optional), "argument"))
	default:
		return diag.Count(n, "argument")
	}
}

// clauses checks what follows the arguments: OVER, WITHIN GROUP, DISTINCT.
func (a *analyzer) clauses(s *scope, c *syntax.Call, f builtin) bool {
	name := strings.ToUpper(c.Name.Parts[0].Value)
	if c.Distinct && (f.use != ofGroup || name == "STRING_AGG") {
		a.fail(s.env, c.Span, "", "%s can't have DISTINCT", name)
		return false
	}
	if c.Distinct && c.Over != nil {
		a.fail(s.env, c.Span, "", "DISTINCT can't be combined with OVER")
		return false
	}
	if len(c.WithinGroup) > 0 {
		inner := s.in(s.clause)
		inner.inAggregate = c.Over == nil
		for _, item := range c.WithinGroup {
			a.expr(inner, item.X)
		}
	}
	if c.Over != nil {
		a.window(s, c.Over)
		if f.use == ofWindow && !s.ordered(c.Over) && len(c.WithinGroup) == 0 {
			a.fail(s.env, c.Over.Span, "add ORDER BY", "%s needs an order", name)
			return false
		}
	}
	return true
}

// windowsOf returns a window and the named ones that it is made of.
func (s *scope) windowsOf(w *syntax.Window) []*syntax.Window {
	all := []*syntax.Window{w}
	for w.Name != "" && len(all) <= len(s.windows) { // a ring of names is an error elsewhere
		i := slices.IndexFunc(s.windows, func(n syntax.NamedWindow) bool { return same(n.Name.Value, w.Name) })
		if i < 0 {
			break
		}
		w = s.windows[i].Window
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
	inner := s.in(inWindow)
	if w.Name != "" && !slices.ContainsFunc(s.windows, func(n syntax.NamedWindow) bool { return same(n.Name.Value, w.Name) }) {
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

// nullableCall applies the null rule. Aggregates have their own, unless they are never NULL, as COUNT is.
func (a *analyzer) nullableCall(s *scope, in *invocation, f builtin) bool {
	nullable := func(t typed) bool { return t.Nullable }
	anyNull := slices.ContainsFunc(in.args, nullable)
	if f.use == ofGroup && f.null != nullNever {
		return f.null == nullAlways || a.nullableAggregate(s, in, anyNull)
	}
	switch f.null {
	case nullNever:
		return false
	case nullAlways:
		return a.nullableWindow(in)
	case nullIfFirst:
		return in.args[0].Nullable || s.framed(in.call.Over)
	case nullIfAll:
		return !slices.ContainsFunc(in.args, func(t typed) bool { return !t.Nullable })
	case nullOddly:
		return anyNull || slices.ContainsFunc(in.args, func(t typed) bool { return t.literal == nil })
	default:
		return anyNull
	}
}

// nullableAggregate: over values that are never NULL an aggregate is NULL only of no rows. A group has rows, and so has
// a window, unless ROWS or RANGE cuts the present row off.
func (a *analyzer) nullableAggregate(s *scope, in *invocation, anyNull bool) bool {
	if in.call.Over != nil {
		return anyNull || s.framed(in.call.Over)
	}
	return anyNull || s.group == nil || s.group.whole || s.group.nullable
}

// nullableWindow: LAG and LEAD have no NULL with a default that isn't, of values that aren't.
func (a *analyzer) nullableWindow(in *invocation) bool {
	if in.name == "LAG" || in.name == "LEAD" {
		return len(in.args) < 3 || in.args[0].Nullable || in.args[2].Nullable
	}
	return true
}
