package plan

import (
	"errors"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/builtin"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/function"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/sysview"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// lazy are the functions that compute only some of their arguments.
var lazy = function.Lazy()

// call binds a call of a function.
func (b *binder) call(s *scope, x *syntax.Call) (*node, error) {
	f, ok := builtin.Lookup(x)
	if _, numbers := builtin.IsIdentity(x); numbers {
		return nil, fault.New(177)
	}
	if !ok {
		return b.userFunction(s, x)
	}
	name := strings.ToUpper(x.Name.Parts[0].Value)
	switch use := f.Use(); {
	case x.Over != nil:
		return b.windowFunction(s, name, x)
	case use == builtin.Window:
		return nil, fault.New(10753, strings.ToLower(name))
	case use == builtin.Group:
		return b.aggregate(s, name, x)
	case use == builtin.Grouped:
		return b.groupingCall(s, x)
	case slices.Contains(lazy, name):
		return b.lazyCall(s, name, x)
	}
	if f, ok := sessionFunctions[name]; ok {
		return b.askedCall(s, name, f, x)
	}
	if err := b.checkLevel(name, x); err != nil {
		return nil, err
	}
	args, known, err := b.arguments(s, x)
	if err != nil {
		return nil, err
	}
	bound, err := function.Bind(x, known)
	if err != nil {
		return nil, b.callError(x, err)
	}
	return b.bound(x, name, bound, args)
}

// callError gives the place of what is not supported.
func (b *binder) callError(x *syntax.Call, err error) error {
	if u, ok := errors.AsType[*function.UnsupportedError](err); ok {
		return b.unsupported(x.Span, "%s", u.What)
	}
	return err
}

// arguments binds the arguments of a built-in function. Words such as DAY are no columns, and are NULL.
func (b *binder) arguments(s *scope, x *syntax.Call) ([]*node, []function.Argument, error) {
	f, ok := builtin.Lookup(x)
	kinds, fits := f.Kinds(len(x.Args))
	var args []*node
	var known []function.Argument
	for i, a := range x.Args {
		word := ok && fits && (kinds[i] == builtin.PartWord || kinds[i] == builtin.JSONWord)
		var n *node
		var err error
		if word {
			n = constantNode(value.Value{}, value.OfKind(sqltype.Null))
			n.name = "word " + strings.ToUpper(wordText(a))
		} else if n, err = b.expr(s, a); err != nil {
			return nil, nil, err
		}
		args = append(args, n)
		known = append(known, function.Argument{Type: n.typ, Nullable: n.nullable, Literal: n.literal, Expr: a})
	}
	for _, key := range x.Keys {
		n, err := b.expr(s, key)
		if err != nil {
			return nil, nil, err
		}
		args = append(args, n)
		known = append(known, function.Argument{Type: n.typ, Nullable: n.nullable, Literal: n.literal, Expr: key})
	}
	return args, known, nil
}

// wordText is a word that stands as an argument, such as DAY, which the parser reads as a column.
func wordText(x syntax.Expr) string {
	switch x := x.(type) {
	case *syntax.ColumnRef:
		return textOf(x.Parts)
	case *syntax.Literal:
		return x.Value
	default:
		return ""
	}
}

// bound makes the node of a bound function.
func (b *binder) bound(x *syntax.Call, name string, f *function.Bound, args []*node) (*node, error) {
	out := &node{
		name: name + "()", typ: f.Type, nullable: f.Nullable, at: x.Span,
		varies: !f.Deterministic && !f.Once, session: !f.Deterministic,
	}
	for i, n := range args {
		if i < len(f.Args) && f.Args[i].Kind != sqltype.Invalid && n.typ.Kind != sqltype.Null {
			var err error
			if n, err = b.implicitly(n, f.Args[i]); err != nil {
				return nil, err
			}
		}
		out.args = append(out.args, n)
	}
	if f.Type.IsCharacter() {
		label, err := resolve(args...)
		if err != nil {
			return nil, err
		}
		if out.label = label.Label; out.label > value.CoercibleDefault {
			out.typ.Collation = label.Collation
		}
	}
	eval := f.Eval
	out.value = func(args []code) execute.Expr { return evalCode(eval, operands(args)) }
	if f.Once && !f.Deterministic && len(args) == 0 {
		number := b.newOnce()
		out.value = func([]code) execute.Expr { return execute.Once(number, evalCode(eval, nil)) }
	}
	return b.folded(out), nil
}

// evalCode calls a function of package function. Most have few arguments, which then need no memory of their own.
func evalCode(eval function.Eval, args []execute.Expr) execute.Expr {
	return func(r *execute.Run) (execute.Value, error) {
		var few [4]execute.Value
		values := few[:0]
		for _, x := range args {
			v, err := x(r)
			if err != nil {
				return execute.Value{}, err
			}
			values = append(values, v)
		}
		return eval(r, values)
	}
}

// isCLRColumn reports whether a name is that of a column of hierarchyid, geography or geometry, which have methods.
func (b *binder) isCLRColumn(s *scope, parts []syntax.Ident) bool {
	f, err := b.find(s, &syntax.ColumnRef{Parts: parts})
	if err != nil {
		return false
	}
	n, err := f.source.column(f.index)
	return err == nil && slices.Contains([]sqltype.Kind{sqltype.HierarchyID, sqltype.Geography, sqltype.Geometry}, n.typ.Kind)
}

// userFunction binds a call of a scalar function that the user has made.
func (b *binder) userFunction(s *scope, x *syntax.Call) (*node, error) {
	if first := x.Name.Parts[0].Value; len(x.Name.Parts) == 1 || strings.EqualFold(first, "$PARTITION") {
		if len(x.Name.Parts) > 1 || sysview.FunctionElsewhere("", "", first) {
			return nil, b.unsupported(x.Span, "%s", strings.ToUpper(first))
		}
		return nil, fault.New(195, first, "built-in function name")
	}
	m, ok := b.object(x.Name).(*schema.Module)
	var def *syntax.CreateFunction
	if ok {
		def, _ = m.Stmt.(*syntax.CreateFunction)
	}
	if def == nil || def.Returns == nil {
		if sysview.FunctionElsewhere(b.databaseNamed(x.Name), schemaOf(x.Name), lastOf(x.Name)) {
			return nil, b.absent(x.Span, textOf(x.Name.Parts))
		}
		if b.isCLRColumn(s, x.Name.Parts[:len(x.Name.Parts)-1]) {
			return nil, b.unsupported(x.Span, "the method %s", lastOf(x.Name))
		}
		return nil, fault.New(4121, x.Name.Parts[0].Value, textOf(x.Name.Parts))
	}
	b.needs("EXECUTE", m)
	inside := b.inside(m)
	t, err := inside.declaredType(def.Returns)
	if err != nil {
		return nil, err
	}
	args, tables, err := b.moduleArguments(s, inside, m, def.Params, x)
	if err != nil {
		return nil, err
	}
	if len(tables) > 0 {
		return nil, b.unsupported(x.Span, "a table as an argument of a scalar function")
	}
	out := &node{
		name: schema.QualifiedName(m), typ: t, nullable: true, args: args, at: x.Span, session: true, calls: true,
		value: func(args []code) execute.Expr {
			list := operands(args)
			return func(r *execute.Run) (execute.Value, error) {
				values := make([]execute.Value, len(list))
				for i, e := range list {
					var err error
					if values[i], err = e(r); err != nil {
						return execute.Value{}, err
					}
				}
				return r.Frame.Session.CallScalar(r.Frame, m, values)
			}
		},
	}
	return out, nil
}

// inside returns the binder of what stands in a module.
func (b *binder) inside(m *schema.Module) *binder {
	return &binder{
		statement: b.statement, depth: b.depth + 1, owner: m, inherited: b.inherited,
		env: &Env{
			Database: b.env.Database, Server: b.env.Server, File: fileOf(m), Schema: m.Schema.Name, Module: m,
			Temp: func(string) *schema.Table { return nil }, Chooser: b.env.Chooser,
		},
	}
}

// moduleArguments binds the arguments of a function of the user's, converted to the types of the parameters. Table
// arguments are returned by their slots.
func (b *binder) moduleArguments(s *scope, inside *binder, m *schema.Module, params []*syntax.Param, x *syntax.Call) ([]*node, []int, error) {
	name := schema.QualifiedName(m)
	if len(x.Args) < len(params) {
		return nil, nil, fault.New(313, name)
	}
	if len(x.Args) > len(params) {
		return nil, nil, fault.New(8144, name)
	}
	var args []*node
	var tables []int
	for i, a := range x.Args {
		t, table, err := inside.paramType(params[i].Type)
		if err != nil {
			return nil, nil, err
		}
		if table != nil {
			v, ok := a.(*syntax.Variable)
			if !ok || b.env.Tables[b.fold(v.Name)] == nil {
				return nil, nil, fault.New(206, "table", textOf(params[i].Type.Name.Parts))
			}
			slot := b.env.Tables[b.fold(v.Name)].Slot
			tables = append(tables, slot)
			b.uses(slot)
			continue
		}
		var n *node
		if lit, ok := a.(*syntax.Literal); ok && lit.Kind == syntax.DefaultLiteral {
			if params[i].Default == nil {
				return nil, nil, fault.New(8178, name, params[i].Name)
			}
			n, err = inside.expr(&scope{}, params[i].Default)
		} else {
			n, err = b.expr(s, a)
		}
		if err != nil {
			return nil, nil, err
		}
		if n, err = b.assigned(n, t); err != nil {
			return nil, nil, err
		}
		args = append(args, n)
	}
	return args, tables, nil
}

// paramType resolves the type of a parameter, which may be a table type.
func (b *binder) paramType(t *syntax.TypeName) (value.Type, *schema.Table, error) {
	if !b.isBuiltinType(t) {
		if u := b.env.Database.FindType(schemaOf(t.Name), lastOf(t.Name), b.env.Schema); u != nil && u.Table != nil {
			return value.Type{}, u.Table, nil
		}
	}
	typ, err := b.declaredType(t)
	return typ, nil, err
}

// assigned converts what is stored in a parameter or variable: text that is too long is cut off.
func (b *binder) assigned(n *node, t value.Type) (*node, error) {
	if n.typ.Kind != sqltype.Null {
		if _, err := b.implicitly(n, t); err != nil {
			return nil, err
		}
	}
	if n.typ.Type == t.Type {
		return n, nil
	}
	from := n.typ
	return b.folded(&node{
		name: "assign " + t.String(), typ: t, nullable: n.nullable, args: []*node{n}, at: n.at,
		value: strict1(func(v execute.Value) (execute.Value, error) { return value.Assign(v, from, t) }),
	}), nil
}
