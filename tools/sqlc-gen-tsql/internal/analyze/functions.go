package analyze

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/syntax"
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
type rule func(c *invocation) (sqltype.Type, error)

// nullRule says when a call may be NULL.
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
func lookupBuiltin(c *syntax.Call) (builtin, bool) {
	if len(c.Name.Parts) != 1 {
		return builtin{}, false
	}
	f, ok := builtins[strings.ToUpper(c.Name.Parts[0].Value)]
	return f, ok
}

// isAggregate reports calls of aggregates.
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
		a.unify(s.env, in)
	}
	if !fit || !a.clauses(s, c, f) || slices.ContainsFunc(in.args, typed.bad) {
		return typed{}
	}
	t, err := f.result(in)
	if err != nil {
		return a.fail(s.env, c.Span, "", "%s", prefixed(in.name, err.Error()))
	}
	return typed{Type: t, Nullable: a.nullableCall(s, in, f)}
}

// unify lets parameters among the arguments of COALESCE and its like take the type of the others.
func (a *analyzer) unify(e *env, in *invocation) {
	skip := 0
	if in.name == "IIF" || in.name == "CHOOSE" {
		skip = 1
	}
	for i := skip; i < len(in.args); i++ {
		for j := i + 1; j < len(in.args); j++ {
			a.pair(e, in.args[i], in.args[j], in.call.Span)
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
func (a *analyzer) userFunction(s *scope, c *syntax.Call) typed {
	full, err := a.cat.Resolve(c.Name)
	if err != nil {
		return a.failName(s.env, c.Name.Span, "", "%v", err)
	}
	f := a.cat.Function(full)
	name := lastPart(c.Name).Value
	switch {
	case f == nil && len(c.Name.Parts) == 1:
		return a.failName(s.env, c.Name.Span, suggestOr(name, slices.Collect(maps.Keys(builtins)), "use another one, or wrap it in a function of a script"),
			"function %s is not known to the generator", name)
	case f == nil:
		return a.failName(s.env, c.Name.Span, a.nearest(full), "no script defines a function %s", full)
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

// suggestOr is suggest with another fix for names that are near to nothing.
func suggestOr(name string, candidates []string, fix string) string {
	slices.Sort(candidates)
	if s := suggest(strings.ToUpper(name), candidates); s != "" {
		return s
	}
	return fix
}

// placement checks that a function may stand where it does, and returns the scope of its arguments; nil if not.
func (a *analyzer) placement(s *scope, c *syntax.Call, f builtin) *scope {
	name := strings.ToUpper(c.Name.Parts[0].Value)
	bad := func(fix, format string, args ...any) *scope {
		a.fail(s.env, c.Span, fix, format, args...)
		return nil
	}
	switch {
	case c.Over != nil && (f.use == ofRow || f.use == ofGrouped):
		return bad("", "%s can't have OVER", name)
	case c.Over == nil && f.use == ofWindow:
		return bad("add OVER (ORDER BY …)", "%s needs OVER", name)
	case c.Over != nil && !s.clause.windows():
		return bad("compute it in a derived table", "%s OVER can't stand in %s", name, s.clause)
	case c.Over != nil:
		return s.in(inHaving) // an aggregate may be its argument, but no other window function
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

// argumentKinds are the letters of builtin.args. Two more are read by arguments itself: p is a word such as DAY, and c
// a condition.
var argumentKinds = map[byte]argumentKind{
	'a': {},
	's': {want: "text", to: typeNVarCharMax},
	'n': {want: "a number", to: typeFloat},
	'i': {want: "a whole number", param: typeInt, to: typeBigInt},
	'd': {want: "a date or time", to: dateTimeOffset(7)},
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

// functionArgument types one argument.
func (a *analyzer) functionArgument(s *scope, name string, kind byte, x syntax.Expr) (typed, bool) {
	switch kind {
	case 'p':
		ref, ok := x.(*syntax.ColumnRef)
		if !ok || len(ref.Parts) != 1 || !slices.Contains(dateParts, strings.ToLower(ref.Parts[0].Value)) {
			a.fail(s.env, x.Range(), "write one such as DAY or MILLISECOND", "%s takes a part of a date here", name)
			return typed{}, false
		}
		return typed{Type: typeInt}, true
	case 'c':
		a.cond(s, x)
		return typed{Type: typeBit}, true
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
		good = sqltype.Assignable(t.Type, k.to) == nil && !(kind == 'd' && t.Type.IsNumeric() && t.literal == nil)
	}
	if !good {
		a.fail(s.env, x.Range(), "CAST it", "%s takes %s, not %s", name, k.want, t.Type)
	}
	return t, good
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
		return "at least " + count(n, "argument")
	case optional != "":
		return fmt.Sprintf("%d to %s", n, count(n+len(optional), "argument"))
	default:
		return count(n, "argument")
	}
}

// clauses checks what follows the arguments: OVER, WITHIN GROUP, DISTINCT.
func (a *analyzer) clauses(s *scope, c *syntax.Call, f builtin) bool {
	name := strings.ToUpper(c.Name.Parts[0].Value)
	if c.Distinct && f.use != ofGroup {
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
		if f.use == ofWindow && len(c.Over.OrderBy) == 0 && c.Over.Name == "" && len(c.WithinGroup) == 0 {
			a.fail(s.env, c.Over.Span, "add ORDER BY", "%s needs an order", name)
			return false
		}
	}
	return true
}

// window checks OVER (…).
func (a *analyzer) window(s *scope, w *syntax.Window) {
	inner := s.in(inHaving)
	if w.Name != "" && !slices.ContainsFunc(s.windows, func(n syntax.NamedWindow) bool { return same(n.Name.Value, w.Name) }) {
		a.failName(s.env, w.Span, "", "no WINDOW clause defines %s", w.Name)
	}
	for _, x := range w.PartitionBy {
		a.expr(inner, x)
	}
	for _, item := range w.OrderBy {
		if lit, ok := unparen(item.X).(*syntax.Literal); ok && lit.Kind == syntax.IntLiteral {
			a.fail(s.env, lit.Span, "order by a column, or by (SELECT NULL)", "a number means no column in a window")
			continue
		}
		a.expr(inner, item.X)
	}
}

// nullableCall applies the null rule.
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
		return in.args[0].Nullable || in.call.Over != nil && in.call.Over.Frame != ""
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
		return anyNull || in.call.Over.Frame != ""
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

// --- Rules -----------------------------------------------------------------------------------------------------------

// fixed yields one type whatever the arguments.
func fixed(t sqltype.Type) rule {
	return func(*invocation) (sqltype.Type, error) { return t, nil }
}

// ofFirst yields the type of the first argument, with the untyped NULL as int.
func ofFirst(c *invocation) (sqltype.Type, error) {
	if c.args[0].isNull() {
		return typeInt, nil
	}
	return c.args[0].Type, nil
}

// aggregate applies a rule of package sqltype to the first argument.
func aggregate(f func(sqltype.Type) (sqltype.Type, error)) rule {
	return func(c *invocation) (sqltype.Type, error) {
		if c.args[0].isNull() {
			return sqltype.Type{}, errors.New("NULL has no type: CAST it")
		}
		return f(c.args[0].Type)
	}
}

// united yields the union of the arguments from the n-th on.
func united(n int) rule {
	return func(c *invocation) (sqltype.Type, error) {
		t := c.args[n].Type
		var err error
		for _, arg := range c.args[n+1:] {
			if t, err = sqltype.Union(t, arg.Type); err != nil {
				return t, err
			}
		}
		if t.Kind == sqltype.Null {
			return t, errors.New("at least one value must have a type: CAST a NULL")
		}
		return t, nil
	}
}

// isNullRule is ISNULL: the type of the first argument, into which the second is cut.
func isNullRule(c *invocation) (sqltype.Type, error) {
	first, second := c.args[0], c.args[1]
	switch {
	case first.isNull() && second.isNull():
		return typeInt, nil
	case first.isNull():
		return second.Type, nil
	case second.isNull():
		return first.Type, nil
	}
	return first.Type, sqltype.Assignable(second.Type, first.Type)
}

// nullIfRule is NULLIF: the type of the first argument.
func nullIfRule(c *invocation) (sqltype.Type, error) {
	if c.args[0].isNull() {
		return sqltype.Type{}, errors.New("the first argument can't be NULL")
	}
	if c.args[1].isNull() {
		return c.args[0].Type, nil
	}
	return c.args[0].Type, sqltype.Comparable(c.args[0].Type, c.args[1].Type)
}

// shiftRule is LAG and LEAD: the type of the value, to which the default converts.
func shiftRule(c *invocation) (sqltype.Type, error) {
	if len(c.args) == 3 && !c.args[2].isNull() && !c.args[0].isNull() {
		if err := sqltype.Assignable(c.args[2].Type, c.args[0].Type); err != nil {
			return sqltype.Type{}, err
		}
	}
	return ofFirst(c)
}

// percentileRule is PERCENTILE_DISC's: one of the ordered values. Their type is not at hand here.
func percentileRule(*invocation) (sqltype.Type, error) {
	return sqltype.Type{}, errors.New("not known to the generator; use PERCENTILE_CONT, which is float")
}

// sizedBy yields int, or bigint when one of the given arguments is a (max) type.
func sizedBy(args ...int) rule {
	return func(c *invocation) (sqltype.Type, error) {
		for _, i := range args {
			if c.args[i].Type.IsLOB() {
				return typeBigInt, nil
			}
		}
		return typeInt, nil
	}
}

// varying returns the varchar or nvarchar that holds text of a type: what is no text takes as much as it prints.
func varying(t sqltype.Type, national bool) sqltype.Type {
	switch {
	case t.Kind == sqltype.XML, t.Kind == sqltype.NText:
		return typeNVarCharMax
	case t.Kind == sqltype.Text && national:
		return typeNVarCharMax
	case t.Kind == sqltype.Text:
		return varchar(sqltype.Max)
	}
	n := t.Length
	if !t.IsCharacter() {
		n = printed(t)
	}
	if national || t.IsNational() {
		if n > 4000 {
			n = 4000
		}
		return nvarchar(n)
	}
	return varchar(n)
}

// printed is how many characters a value that is no text takes at most.
func printed(t sqltype.Type) int {
	switch t.Kind {
	case sqltype.Bit, sqltype.Null:
		return 1
	case sqltype.TinyInt:
		return 3
	case sqltype.SmallInt:
		return 6
	case sqltype.Int:
		return 12
	case sqltype.Decimal:
		return 41
	case sqltype.UniqueIdentifier:
		return 36
	case sqltype.Binary, sqltype.VarBinary:
		return t.Length
	default:
		return 40
	}
}

// sameText keeps the length of the first argument.
func sameText(c *invocation) (sqltype.Type, error) {
	if c.args[0].isNull() {
		return varchar(1), nil
	}
	return varying(c.args[0].Type, false), nil
}

// longText has room for any result: 8,000 bytes, or (max) when the first argument has.
func longText(c *invocation) (sqltype.Type, error) {
	first := c.args[0].Type
	national := first.IsNational()
	if c.name == "REPLACE" {
		for _, arg := range c.args[1:] {
			national = national || arg.Type.IsNational()
		}
	}
	switch {
	case first.IsBinary():
		if first.IsMax() {
			return first, nil
		}
		return varbinary(8000), nil
	case first.IsLOB():
		return varying(first, national), nil
	case national:
		return nvarchar(4000), nil
	default:
		return varchar(8000), nil
	}
}

// partOf is SUBSTRING, LEFT and RIGHT: as long as the whole, or as the number says if it is a literal.
func partOf(number int) rule {
	return func(c *invocation) (sqltype.Type, error) {
		first := c.args[0].Type
		if c.name == "SUBSTRING" && !first.IsCharacter() && !first.IsBinary() && !c.args[0].isNull() {
			return sqltype.Type{}, fmt.Errorf("takes text or binary data, not %s", first)
		}
		t := varying(first, false)
		if first.IsBinary() {
			t = varbinary(first.Length)
			if first.Kind == sqltype.Image {
				t = varbinary(sqltype.Max)
			}
		}
		if lit := c.args[number].literal; lit != nil && t.Length != sqltype.Max {
			if n, err := strconv.Atoi(lit.Value); err == nil {
				t.Length = max(1, min(n, t.Length))
			}
		}
		return t, nil
	}
}

// concatRule is CONCAT and CONCAT_WS: the lengths add up, and (max) is contagious.
func concatRule(c *invocation) (sqltype.Type, error) {
	values := c.args
	length, national, unbound := 0, false, false
	add := func(t typed, times int) {
		v := varying(t.Type, false)
		national = national || v.Kind == sqltype.NVarChar
		unbound = unbound || v.Length == sqltype.Max
		length += v.Length * times
	}
	if c.name == "CONCAT_WS" {
		values = c.args[1:]
		add(c.args[0], len(values)-1)
	}
	for _, v := range values {
		add(v, 1)
	}
	switch {
	case unbound && national:
		return typeNVarCharMax, nil
	case unbound:
		return varchar(sqltype.Max), nil
	case national:
		return nvarchar(max(1, min(length, 4000))), nil
	default:
		return varchar(max(1, min(length, 8000))), nil
	}
}

// strRule is STR: as long as the second argument says, 10 without one.
func strRule(c *invocation) (sqltype.Type, error) {
	if len(c.args) < 2 {
		return varchar(10), nil
	}
	if lit := c.args[1].literal; lit != nil {
		if n, err := strconv.Atoi(lit.Value); err == nil && n > 0 && n <= 8000 {
			return varchar(n), nil
		}
	}
	return varchar(8000), nil
}

// keepsDate is DATEADD: the type of the date, and datetime for text. DATETRUNC makes datetime2 of text.
func keepsDate(argument int, ofText sqltype.Type) rule {
	return func(c *invocation) (sqltype.Type, error) {
		t := c.args[argument]
		switch {
		case t.Type.IsTemporal():
			return t.Type, nil
		case t.Type.IsCharacter(), t.Type.IsNumeric(), t.isNull():
			return ofText, nil
		default:
			return sqltype.Type{}, fmt.Errorf("takes a date or time, not %s", t.Type)
		}
	}
}

// withOffset is SWITCHOFFSET and TODATETIMEOFFSET: the fractional digits are kept.
func withOffset(c *invocation) (sqltype.Type, error) {
	if n, ok := fraction(c.args[0].Type); ok {
		return dateTimeOffset(n), nil
	}
	return dateTimeOffset(7), nil
}

// withPrecision is TIMEFROMPARTS and its like: the last argument, a literal, says how many fractional digits.
func withPrecision(of func(int) sqltype.Type) rule {
	return func(c *invocation) (sqltype.Type, error) {
		lit := c.args[len(c.args)-1].literal
		if lit == nil {
			return sqltype.Type{}, errors.New("the precision must be a number from 0 to 7")
		}
		n, err := strconv.Atoi(lit.Value)
		if err != nil || n < 0 || n > 7 {
			return sqltype.Type{}, errors.New("the precision must be a number from 0 to 7")
		}
		return of(n), nil
	}
}

// sameNumber is ABS and its like: the type of the number, with small integers as int. A decimal is changed by adjust.
func sameNumber(adjust func(sqltype.Type) sqltype.Type) rule {
	return func(c *invocation) (sqltype.Type, error) {
		t := c.args[0].Type
		switch t.Kind {
		case sqltype.TinyInt, sqltype.SmallInt, sqltype.Int:
			return typeInt, nil
		case sqltype.BigInt:
			return typeBigInt, nil
		case sqltype.Decimal:
			return adjust(t), nil
		case sqltype.Money, sqltype.SmallMoney:
			return sqltype.Type{Kind: sqltype.Money}, nil
		default:
			return typeFloat, nil
		}
	}
}

func unchanged(t sqltype.Type) sqltype.Type { return t }

func withoutFraction(t sqltype.Type) sqltype.Type { return decimal(t.Precision, 0) }

func widest(t sqltype.Type) sqltype.Type { return decimal(38, t.Scale) }

// trimRule is TRIM, whose text comes last.
func trimRule(c *invocation) (sqltype.Type, error) {
	return sameText(&invocation{call: c.call, name: c.name, args: c.args[len(c.args)-1:]})
}

// encodeRule is BASE64_ENCODE: four characters for three bytes.
func encodeRule(c *invocation) (sqltype.Type, error) {
	t := c.args[0].Type
	if !t.IsBinary() {
		return t, fmt.Errorf("takes binary data, not %s", t)
	}
	if n := (t.Length + 2) / 3 * 4; !t.IsMax() && n <= 8000 {
		return varchar(n), nil
	}
	return varchar(sqltype.Max), nil
}

// randomRule is CRYPT_GEN_RANDOM: as many bytes as the literal says.
func randomRule(c *invocation) (sqltype.Type, error) {
	if lit := c.args[0].literal; lit != nil {
		if n, err := strconv.Atoi(lit.Value); err == nil && n > 0 && n <= 8000 {
			return varbinary(n), nil
		}
	}
	return varbinary(8000), nil
}
