package binder

import (
	"errors"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/builtin"
	"github.com/duroxide/duroxide-go/tsql/internal/server/ask"
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
func (b *Binder) call(s *scope, x *syntax.Call) (*Node, error) {
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
	if f, ok := ask.Functions[name]; ok {
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
func (b *Binder) callError(x *syntax.Call, err error) error {
	if u, ok := errors.AsType[*function.UnsupportedError](err); ok {
		return b.Unsupported(x.Span, "%s", u.What)
	}
	return err
}

// arguments binds the arguments of a built-in function. Words such as DAY are no columns, and are NULL.
func (b *Binder) arguments(s *scope, x *syntax.Call) ([]*Node, []function.Argument, error) {
	f, ok := builtin.Lookup(x)
	kinds, fits := f.Kinds(len(x.Args))
	var args []*Node
	var known []function.Argument
	for i, a := range x.Args {
		word := ok && fits && (kinds[i] == builtin.PartWord || kinds[i] == builtin.JSONWord)
		var n *Node
		var err error
		if word {
			n = constantNode(value.Value{}, value.OfKind(sqltype.Null))
			n.Name = "word " + strings.ToUpper(wordText(a))
		} else if n, err = b.expr(s, a); err != nil {
			return nil, nil, err
		}
		args = append(args, n)
		known = append(known, function.Argument{Type: n.Type, Nullable: n.Nullable, Literal: n.literal, Expr: a})
	}
	for _, key := range x.Keys {
		n, err := b.expr(s, key)
		if err != nil {
			return nil, nil, err
		}
		args = append(args, n)
		known = append(known, function.Argument{Type: n.Type, Nullable: n.Nullable, Literal: n.literal, Expr: key})
	}
	return args, known, nil
}

// wordText is a word that stands as an argument, such as DAY, which the parser reads as a column.
func wordText(x syntax.Expr) string {
	switch x := x.(type) {
	case *syntax.ColumnRef:
		return syntax.Dotted(x.Parts)
	case *syntax.Literal:
		return x.Value
	default:
		return ""
	}
}

// bound makes the node of a bound function.
func (b *Binder) bound(x *syntax.Call, name string, f *function.Bound, args []*Node) (*Node, error) {
	out := &Node{
		Name: name + "()", Type: f.Type, Nullable: f.Nullable, at: x.Span,
		varies: !f.Deterministic && !f.Once, session: !f.Deterministic,
	}
	for i, n := range args {
		if i < len(f.Args) && f.Args[i].Kind != sqltype.Invalid && n.Type.Kind != sqltype.Null {
			var err error
			if n, err = b.implicitly(n, f.Args[i]); err != nil {
				return nil, err
			}
		}
		out.Args = append(out.Args, n)
	}
	if f.Type.IsCharacter() {
		label, err := resolve(args...)
		if err != nil {
			return nil, err
		}
		if out.Label = label.Label; out.Label > value.CoercibleDefault {
			out.Type.Collation = label.Collation
		}
	}
	eval := f.Eval
	out.Value = func(args []Code) execute.Expr { return evalCode(eval, Operands(args)) }
	if f.Once && !f.Deterministic && len(args) == 0 {
		number := b.NewOnce()
		out.Value = func([]Code) execute.Expr { return execute.Once(number, evalCode(eval, nil)) }
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
func (b *Binder) isCLRColumn(s *scope, parts []syntax.Ident) bool {
	f, err := b.find(s, &syntax.ColumnRef{Parts: parts})
	if err != nil {
		return false
	}
	n, err := f.source.Column(f.index)
	return err == nil && slices.Contains([]sqltype.Kind{sqltype.HierarchyID, sqltype.Geography, sqltype.Geometry}, n.Type.Kind)
}

// userFunction binds a call of a scalar function that the user has made.
func (b *Binder) userFunction(s *scope, x *syntax.Call) (*Node, error) {
	if first := x.Name.Parts[0].Value; len(x.Name.Parts) == 1 || strings.EqualFold(first, "$PARTITION") {
		if len(x.Name.Parts) > 1 || sysview.FunctionElsewhere("", "", first) {
			return nil, b.Unsupported(x.Span, "%s", strings.ToUpper(first))
		}
		return nil, fault.New(195, first, "built-in function name")
	}
	m, ok := b.object(x.Name).(*schema.Module)
	var def *syntax.CreateFunction
	if ok {
		def, _ = m.Stmt.(*syntax.CreateFunction)
	}
	if def == nil || def.Returns == nil {
		if sysview.FunctionElsewhere(b.databaseNamed(x.Name), x.Name.Schema(), x.Name.Last().Value) {
			return nil, b.absent(x.Span, syntax.Dotted(x.Name.Parts))
		}
		if b.isCLRColumn(s, x.Name.Parts[:len(x.Name.Parts)-1]) {
			return nil, b.Unsupported(x.Span, "the method %s", x.Name.Last().Value)
		}
		return nil, fault.New(4121, x.Name.Parts[0].Value, syntax.Dotted(x.Name.Parts))
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
		return nil, b.Unsupported(x.Span, "a table as an argument of a scalar function")
	}
	out := &Node{
		Name: schema.QualifiedName(m), Type: t, Nullable: true, Args: args, at: x.Span, session: true, calls: true,
		Value: func(args []Code) execute.Expr {
			list := Operands(args)
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
func (b *Binder) inside(m *schema.Module) *Binder {
	return &Binder{
		statement: b.statement, depth: b.depth + 1, owner: m, inherited: b.inherited,
		Env: &Env{
			Database: b.Env.Database, Server: b.Env.Server, File: fileOf(m), Schema: m.Schema.Name, Module: m,
			Temp: func(string) *schema.Table { return nil }, Chooser: b.Env.Chooser,
		},
	}
}

// moduleArguments binds the arguments of a function of the user's, converted to the types of the parameters. Table
// arguments are returned by their slots.
func (b *Binder) moduleArguments(s *scope, inside *Binder, m *schema.Module, params []*syntax.Param, x *syntax.Call) ([]*Node, []int, error) {
	name := schema.QualifiedName(m)
	if len(x.Args) < len(params) {
		return nil, nil, fault.New(313, name)
	}
	if len(x.Args) > len(params) {
		return nil, nil, fault.New(8144, name)
	}
	var args []*Node
	var tables []int
	for i, a := range x.Args {
		t, table, err := inside.paramType(params[i].Type)
		if err != nil {
			return nil, nil, err
		}
		if table != nil {
			v, ok := a.(*syntax.Variable)
			if !ok || b.Env.Tables[b.Fold(v.Name)] == nil {
				return nil, nil, fault.New(206, "table", syntax.Dotted(params[i].Type.Name.Parts))
			}
			slot := b.Env.Tables[b.Fold(v.Name)].Slot
			tables = append(tables, slot)
			b.uses(slot)
			continue
		}
		var n *Node
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
func (b *Binder) paramType(t *syntax.TypeName) (value.Type, *schema.Table, error) {
	if !b.isBuiltinType(t) {
		if u := b.Env.Database.FindType(t.Name.Schema(), t.Name.Last().Value, b.Env.Schema); u != nil && u.Table != nil {
			return value.Type{}, u.Table, nil
		}
	}
	typ, err := b.declaredType(t)
	return typ, nil, err
}

// assigned converts what is stored in a parameter or variable: text that is too long is cut off.
func (b *Binder) assigned(n *Node, t value.Type) (*Node, error) {
	if n.Type.Kind != sqltype.Null {
		if _, err := b.implicitly(n, t); err != nil {
			return nil, err
		}
	}
	if n.Type.Type == t.Type {
		return n, nil
	}
	from := n.Type
	return b.folded(&Node{
		Name: "assign " + t.String(), Type: t, Nullable: n.Nullable, Args: []*Node{n}, at: n.at,
		Value: strict1(func(v execute.Value) (execute.Value, error) { return value.Assign(v, from, t) }),
	}), nil
}
