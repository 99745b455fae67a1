package analyze

import (
	"cmp"
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// inference finds the types of an annotated query's parameters, which nothing declares, from the places where they
// stand:
//
//   - compared or united with an expression that has a type (=, IN, BETWEEN, CASE, COALESCE, UNION), it has that type,
//     also when it reaches the comparison as a column of a derived table;
//   - as the pattern of LIKE, or a part of it, it has the widest type of the text's family that a pattern can have:
//     with wildcards in it, it may be longer than what it finds;
//   - stored in a column or passed to a parameter, it has the type of that, and may be NULL if the column may;
//   - beside a whole number or a float in arithmetic, it is such a number: a decimal says nothing about the scale of
//     what it is added to or multiplied with;
//   - where only one type makes sense (TOP, a function's argument, CAST), it has that type.
//
// Literals give no type: @p = 1 may mean any number. All places must agree.
//
// The parameters learn from one another, by way of columns of derived tables and of arithmetic, and so a query is typed
// again until a round brings nothing new:
//
//	SELECT … WHERE @a = @b AND @b = o.id     -- first round: @b is bigint; second: @a as well
type inference struct {
	params map[string]*inferred
	order  []*inferred // by first use
	nulls  map[string]bool
	tested map[string]bool
	given  map[string]Param
}

// inferred is one parameter.
//
// It is shared by all rounds and by all places where the parameter stands; uses alone begins anew in each.
type inferred struct {
	name string       // as first written, with the @
	at   diag.Span    // where it is used first
	Type sqltype.Type // Invalid as long as it is not known
	uses []use        // of the present run
	// asked says that gen:null names the parameter.
	asked    bool
	tested   bool // the text has a way for NULL
	stores   bool // it is stored somewhere
	refuses  bool // it is stored where NULL is refused
	reported bool
}

// use is a place that says what type a parameter has.
type use struct {
	Type     sqltype.Type
	at       diag.Span
	stores   bool // the parameter is stored there
	nullable bool // and may be NULL there
}

// newInference returns an inference for a query whose directives say the given types (gen:param, may be nil) and name
// the given parameters as nullable (gen:null); names are with the @.
func newInference(given []Param, nulls []string) *inference {
	in := &inference{params: map[string]*inferred{}, nulls: map[string]bool{}, tested: map[string]bool{}, given: map[string]Param{}}
	for _, name := range nulls {
		in.nulls[catalog.Fold(name)] = true
	}
	for _, p := range given {
		in.given[catalog.Fold(p.Name)] = p
	}
	return in
}

// use notes that a variable occurs. It returns the parameter, or nil outside of annotated queries.
//
// A nil inference is that of a procedure, where a variable that was not declared is a mistake.
func (in *inference) use(name string, at diag.Span) *inferred {
	if in == nil {
		return nil
	}
	key := catalog.Fold(name)
	p := in.params[key]
	if p == nil {
		given := in.given[key]
		p = &inferred{name: name, at: at, Type: given.Type, asked: in.nulls[key] || given.Nullable, tested: in.tested[key]}
		in.params[key] = p
		in.order = append(in.order, p)
	}
	if at.From < p.at.From { // FROM and WHERE are read before the select list
		p.name, p.at = name, at
	}
	return p
}

// see notes what a place says about the parameter.
//
// Once the type is known, further places are checked like any expression of that type, by conversion and not by
// equality: an int column compared with a bigint parameter is no contradiction.
func (p *inferred) see(u use) {
	if p.Type.Kind == sqltype.Invalid {
		p.uses = append(p.uses, u)
	}
	if u.stores {
		p.stores = true
		p.refuses = p.refuses || !u.nullable
	}
}

// null reports whether the parameter may be NULL: because a directive says so, because the text asks whether it is, or
// because it is stored in columns that may be.
//
// UPDATE … SET note = @note WHERE note = @note may be called with NULL: the store decides, and a comparison with NULL
// finds nothing but is no error.
func (p *inferred) null() bool { return p.asked || (p.tested || p.stores) && !p.refuses }

// testsNull marks the parameters for which a query has a way if they are NULL: those that it compares with NULL, and
// those that are the first argument of COALESCE or ISNULL.
//
//	WHERE (@customer IS NULL OR customer = @customer) AND placed_at >= COALESCE(@since, '20000101')
func (in *inference) testsNull(s syntax.Stmt) {
	mark := func(x syntax.Expr) {
		if v, ok := syntax.Unparen(x).(*syntax.Variable); ok {
			in.tested[catalog.Fold(v.Name)] = true
		}
	}
	for test := range syntax.All[*syntax.IsNull](s) {
		mark(test.X)
	}
	for call := range syntax.All[*syntax.Call](s) {
		name := call.Name.Last().Value
		if len(call.Name.Parts) == 1 && len(call.Args) > 0 && (same(name, "COALESCE") || same(name, "ISNULL")) {
			mark(call.Args[0])
		}
	}
}

// pair lets a parameter without a type take that of what it is compared with.
func pair(x, y typed, at diag.Span) {
	if x.param != nil && x.bad() && y.tells() {
		x.param.see(use{Type: y.Type, at: at})
	}
	if y.param != nil && y.bad() && x.tells() {
		y.param.see(use{Type: x.Type, at: at})
	}
}

// pairNumbers is pair for arithmetic.
//
// In price * @factor the factor would get the scale of a price, decimal(10, 2), and 1.075 would be rounded on its way
// to the server without a word.
func pairNumbers(x, y typed, at diag.Span) {
	for _, t := range []sqltype.Type{x.Type, y.Type} {
		if t.IsExactInteger() || t.Kind == sqltype.Float {
			pair(x, y, at)
			return
		}
	}
}

// likePattern gives the parameters that a pattern consists of their type.
//
// The parts of N'%' + @part + N'%' are parameters too. The length is the greatest of the family (4000 or 8000) rather
// than that of the column: to look for 'abc%' in a char(3) is sensible.
func (a *analyzer) likePattern(s *scope, pattern syntax.Expr, text sqltype.Type) {
	switch x := pattern.(type) {
	case *syntax.Paren:
		a.likePattern(s, x.X, text)
	case *syntax.Binary:
		if x.Op == "+" || x.Op == "||" {
			a.likePattern(s, x.X, text)
			a.likePattern(s, x.Y, text)
		}
	case *syntax.Variable:
		if p := s.env.infer.use(x.Name, x.Span); p != nil {
			p.see(use{Type: textOf(text, 8000), at: x.Span})
		}
	}
}

// textOf returns the type of a text's family that holds so many bytes.
func textOf(text sqltype.Type, bytes int) sqltype.Type {
	switch {
	case !text.IsNational():
		return varchar(bytes)
	case bytes == sqltype.Max:
		return nvarchar(bytes)
	default:
		return nvarchar(bytes / 2)
	}
}

// tells reports whether an expression says what type a parameter beside it has.
//
// A literal does not, because it has the least type that holds it: @p = 1 would make @p an int where the author means a
// bigint.
func (t typed) tells() bool { return !t.bad() && !t.isNull() && t.literal == nil }

// argument checks a value for a parameter or a column of a known type: EXEC arguments and the like. A parameter of an
// annotated query takes that type; nullable says whether it may then be NULL.
func (a *analyzer) argument(e *env, x typed, want sqltype.Type, nullable bool, at diag.Span, what string) {
	if x.param != nil && want.Kind != sqltype.Invalid {
		x.param.see(use{Type: want, at: at, stores: true, nullable: nullable})
		if x.param.asked && !nullable {
			a.fail(e, at, "leave it out of gen:null", "%s: %s may be NULL, which is refused here", what, x.param.name)
		}
	}
	if x.bad() || x.isNull() || want.Kind == sqltype.Invalid {
		return
	}
	if err := sqltype.Assignable(x.Type, want); err != nil {
		a.fail(e, at, castAdvice(x.Type, want), "%s: %v", what, err)
	}
}

// inferParams finds the parameters that the statements run checks use; e.infer must be set. It calls run with a child
// of e until all types are known, or no more can be found out; only the findings of the last call are reported, and
// a parameter whose type cannot be found is one too. The parameters come in the order of their first use.
//
// It ends, since each round but the last gives a type to a parameter or learns that one is stored, of which there are
// finitely many.
func (a *analyzer) inferParams(e *env, run func(e *env)) []Param {
	for {
		before := e.infer.stored()
		inner := newEnv(e, e.file)
		for _, p := range e.infer.given {
			if p.Table != nil {
				inner.declareTable(p.Name, p.Table)
			}
		}
		for _, p := range e.infer.order {
			p.uses = nil
		}
		found := a.quietly(func() { run(inner) })
		if !a.settle(e) && e.infer.stored() == before {
			*a.found = append(*a.found, found...)
			return a.inferredParams(e, len(found) > 0)
		}
	}
}

// stored counts what is known about the parameters that are stored: the next run may come to other nullabilities when
// it has changed.
func (in *inference) stored() int {
	n := 0
	for _, p := range in.order {
		if p.stores {
			n++
		}
		if p.refuses {
			n++
		}
	}
	return n
}

// takesTable notes that a table parameter occurs, if directives give the parameter such a type.
func (in *inference) takesTable(name string, at diag.Span) {
	if in != nil && in.given[catalog.Fold(name)].Table != nil {
		in.use(name, at)
	}
}

// settle gives the parameters of which all places agree their type, and reports whether there were any.
//
// Two places that disagree are reported, even if one type could hold both: the type is what goes over the wire, and a
// wider one than the column's makes the server convert the column and pass by its index.
func (a *analyzer) settle(e *env) bool {
	found := false
	for _, p := range e.infer.order {
		if p.Type.Kind != sqltype.Invalid || len(p.uses) == 0 || p.reported {
			continue
		}
		first := p.uses[0]
		i := slices.IndexFunc(p.uses, func(u use) bool { return u.Type != first.Type })
		if i < 0 {
			p.Type, found = first.Type, true
			continue
		}
		p.reported = true
		line, column := e.file.Position(first.at.From)
		a.fail(e, p.uses[i].at, "say which: -- gen:param "+p.name+" "+first.Type.String(),
			"%s is %s here and %s in line %d, column %d", p.name, p.uses[i].Type, first.Type, line, column)
	}
	return found
}

// inferredParams reports the parameters without a type, and returns all. After other findings it reports none: what is
// wrong may be the very place that says the type.
func (a *analyzer) inferredParams(e *env, wrong bool) []Param {
	slices.SortFunc(e.infer.order, func(p, q *inferred) int { return cmp.Compare(p.at.From, q.at.From) })
	var params []Param
	for _, p := range e.infer.order {
		given := e.infer.given[catalog.Fold(p.name)]
		if p.Type.Kind == sqltype.Invalid && given.Table == nil && !p.reported && !wrong {
			p.reported = true
			a.fail(e, p.at, "add -- gen:param "+p.name+" <type>", "nothing here says what type %s has", p.name)
		}
		params = append(params, Param{
			Name: p.name, Type: p.Type, Table: given.Table, Nullable: given.Table == nil && p.null(), Span: p.at,
		})
	}
	return params
}
