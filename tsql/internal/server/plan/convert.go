package plan

import (
	"errors"
	"strconv"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/builtin"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/function"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// family says which types hold their values alike, so that a value of one is a value of a wider one as it is.
func family(t value.Type) string {
	switch t.Kind {
	case sqltype.Bit, sqltype.TinyInt, sqltype.SmallInt, sqltype.Int, sqltype.BigInt:
		return "integer"
	case sqltype.Decimal:
		return "decimal " + strconv.Itoa(t.Scale)
	case sqltype.Money, sqltype.SmallMoney:
		return "money"
	case sqltype.Float, sqltype.Real:
		return "float"
	case sqltype.Char, sqltype.VarChar, sqltype.NChar, sqltype.NVarChar:
		return "text"
	case sqltype.Binary, sqltype.VarBinary, sqltype.RowVersion:
		return "binary"
	case sqltype.DateTime, sqltype.SmallDateTime:
		return "datetime"
	default:
		return string(t.Kind)
	}
}

// unconverted reports whether a value of a type can be compared as one of another without being converted. The other
// one is at least as wide.
func unconverted(from, to value.Type) bool { return family(from) == family(to) }

// comparable converts two expressions to the type in which they are compared.
func (b *binder) comparable(x, y *node, operator string) (*node, *node, value.Type, error) {
	if err := sqltype.Comparable(x.typ.Type, y.typ.Type); err != nil {
		return nil, nil, value.Type{}, incompatible(x.typ, y.typ, operator)
	}
	union, err := sqltype.Union(x.typ.Type, y.typ.Type)
	if err != nil {
		return nil, nil, value.Type{}, incompatible(x.typ, y.typ, operator)
	}
	t := value.Type{Type: union}
	if union.IsCharacter() {
		if t.Collation, err = value.ResolveComparison(operator, labelled(x), labelled(y)); err != nil {
			return nil, nil, t, err
		}
		if t.Collation == nil {
			t.Collation = b.collation()
		}
	}
	return b.compared(x, t), b.compared(y, t), t, nil
}

// compared converts an operand of a comparison. Whether a column is converted matters to indexes: one of varchar that
// meets nvarchar is not found through its index, though no value changes.
func (b *binder) compared(n *node, t value.Type) *node {
	if n.typ.Kind == sqltype.Null {
		out := *n
		out.typ = t
		return &out
	}
	if unconverted(n.typ, t) {
		if n.kind == isColumn && n.typ.IsCharacter() && (n.typ.IsNational() != t.IsNational() || n.typ.Collation != t.Collation) {
			return &node{
				kind: isCast, name: "as " + t.String() + collationName(t), typ: t, nullable: n.nullable, args: []*node{n}, at: n.at,
				value: func(args []code) execute.Expr { return args[0].expr },
			}
		}
		return n
	}
	return b.converted(n, t)
}

func collationName(t value.Type) string {
	if t.Collation == nil {
		return ""
	}
	return " " + t.Collation.Name
}

// converted makes an implicit conversion that computes.
func (b *binder) converted(n *node, t value.Type) *node {
	if n.typ.Kind == sqltype.Null {
		out := *n
		out.typ = t
		return &out
	}
	if n.typ.Type == t.Type {
		return n
	}
	from, label := n.typ, labelled(n)
	return b.folded(&node{
		kind: isCast, name: "convert " + from.String() + " " + t.String(), typ: t, label: label.Label, other: label.Other,
		nullable: n.nullable, args: []*node{n}, at: n.at,
		value: strict1(func(v execute.Value) (execute.Value, error) { return value.Convert(v, from, t, 0) }),
	})
}

// become converts one of several results to their common type.
func (b *binder) become(n *node, t value.Type) *node {
	if !keeps(n.typ, t) {
		return b.converted(n, t)
	}
	same := *n
	same.typ, same.literal = t, nil
	if n.kind == isColumn && t.Kind != n.typ.Kind {
		// The slot has a type of its own for those who compare it.
		same.kind, same.name, same.args = isCast, "as "+t.String(), []*node{n}
		same.value = func(args []code) execute.Expr { return args[0].expr }
	}
	return &same
}

// keeps reports whether converting to a type that is at least as wide leaves every value as it is.
func keeps(from, to value.Type) bool {
	if !unconverted(from, to) {
		return false
	}
	switch to.Kind {
	case sqltype.VarChar:
		return !from.IsNational()
	case sqltype.Char, sqltype.NChar, sqltype.Binary:
		return from.Type == to.Type
	case sqltype.Null:
		return false
	default:
		return true
	}
}

// implicitly converts an expression to the type of a place that takes one, such as TOP or the argument of a function.
func (b *binder) implicitly(n *node, t value.Type) (*node, error) {
	if n.typ.Kind == sqltype.Table || n.typ.Kind == sqltype.Cursor {
		return nil, fault.New(206, described(n.typ), described(t))
	}
	if err := sqltype.Assignable(n.typ.Type, t.Type); err != nil {
		if sqltype.Castable(n.typ.Type, t.Type) == nil {
			return nil, fault.New(257, described(n.typ), described(t))
		}
		return nil, fault.New(206, described(n.typ), described(t))
	}
	if t.IsCharacter() && t.Collation == nil {
		t.Collation = n.typ.Collation
	}
	return b.converted(n, t), nil
}

// unite returns the type that all results convert to.
func (b *binder) unite(list []*node) (value.Type, value.Label, error) {
	var t value.Type
	for i, n := range list {
		if i == 0 {
			t = n.typ
			continue
		}
		union, err := sqltype.Union(t.Type, n.typ.Type)
		if err != nil {
			return t, 0, fault.New(206, described(t), described(n.typ))
		}
		t = value.Type{Type: union}
	}
	t.Collation = nil
	if !t.IsCharacter() {
		return t, 0, nil
	}
	label, err := resolve(list...)
	t.Collation = label.Collation
	return t, label.Label, err
}

// cast binds CAST, CONVERT and PARSE.
func (b *binder) cast(s *scope, x *syntax.Cast) (*node, error) {
	n, err := b.expr(s, x.X)
	if err != nil {
		return nil, err
	}
	to, err := b.castType(x.Type)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(x.Func, "PARSE") {
		return b.parse(s, x, n, to)
	}
	if n.typ.Kind != sqltype.Null && sqltype.Castable(n.typ.Type, to.Type) != nil {
		return nil, fault.New(529, described(n.typ), described(to))
	}
	out := &node{name: x.Func + " " + to.String(), typ: to, nullable: n.nullable, args: []*node{n}, at: x.Span, kind: isCast}
	if to.IsCharacter() && n.typ.IsCharacter() {
		out.typ.Collation, out.label = n.typ.Collation, n.label
	}
	if x.Style != nil {
		style, err := b.expr(s, x.Style)
		if err != nil {
			return nil, err
		}
		if style, err = b.implicitly(style, value.OfKind(sqltype.Int)); err != nil {
			return nil, err
		}
		out.args = append(out.args, style)
		out.nullable = out.nullable || style.nullable
	}
	try := strings.HasPrefix(x.Func, "TRY_")
	out.nullable = out.nullable || try
	from, result := n.typ, out.typ
	if result.IsCharacter() && result.Collation == nil {
		result.Collation = b.collation()
	}
	out.value = func(args []code) execute.Expr { return castCode(args, from, result, try) }
	return b.folded(out), nil
}

// parse binds PARSE and TRY_PARSE.
func (b *binder) parse(s *scope, x *syntax.Cast, n *node, to value.Type) (*node, error) {
	if err := function.CanParse(x.Func, n.typ, to); err != nil {
		return nil, err
	}
	try := strings.HasPrefix(x.Func, "TRY_")
	out := &node{name: x.Func + " " + to.String(), typ: to, nullable: n.nullable || try, args: []*node{n}, at: x.Span, kind: isCast}
	if x.Style != nil {
		culture, err := b.expr(s, x.Style)
		if err != nil {
			return nil, err
		}
		if culture, err = b.implicitly(culture, value.NVarChar(sqltype.Max)); err != nil {
			return nil, err
		}
		out.args = append(out.args, culture)
		out.nullable = out.nullable || culture.nullable
	}
	out.value = func(args []code) execute.Expr {
		return func(r *execute.Run) (execute.Value, error) {
			var texts [2]string
			for i, arg := range args {
				v, err := arg.expr(r)
				if err != nil || v.IsNull() {
					return execute.Value{}, err
				}
				texts[i] = v.Str()
			}
			v, err := function.Parse(texts[0], texts[1], to)
			if f, ok := fault.As(err); ok && try && f.Number != fault.Unsupported {
				return execute.Value{}, nil
			}
			return v, err
		}
	}
	return b.folded(out), nil
}

func castCode(args []code, from, to value.Type, try bool) execute.Expr {
	x := args[0].expr
	var style execute.Expr
	if len(args) > 1 {
		style = args[1].expr
	}
	return func(r *execute.Run) (execute.Value, error) {
		v, err := x(r)
		if err != nil || v.IsNull() {
			return execute.Value{}, err
		}
		number := 0
		if style != nil {
			how, err := style(r)
			if err != nil || how.IsNull() {
				return execute.Value{}, err
			}
			number = int(how.Int())
		}
		out, err := value.Convert(v, from, to, number)
		var f *fault.Error
		if try && errors.As(err, &f) && f.Number != fault.Unsupported {
			return execute.Value{}, nil
		}
		return out, err
	}
}

// castType resolves the type of CAST, which has a length of 30 where none is written.
func (b *binder) castType(t *syntax.TypeName) (value.Type, error) {
	if b.isBuiltinType(t) {
		return b.typeBy(sqltype.ParseCast, t)
	}
	return b.declaredType(t)
}

// declaredType resolves a type as it is written in a declaration, such as OPENJSON … WITH.
func (b *binder) declaredType(t *syntax.TypeName) (value.Type, error) {
	if b.isBuiltinType(t) {
		return b.typeBy(sqltype.Parse, t)
	}
	u := b.env.Database.FindType(schemaOf(t.Name), lastOf(t.Name), b.env.Schema)
	if u == nil || u.Table != nil {
		return value.Type{}, value.UnknownType(textOf(t.Name.Parts), fault.New(243, textOf(t.Name.Parts)))
	}
	return u.Type, nil
}

// isBuiltinType reports whether a type's name is that of a type of the server's.
func (b *binder) isBuiltinType(t *syntax.TypeName) bool {
	parts := t.Name.Parts
	qualified := len(parts) > 2 || len(parts) == 2 && b.fold(parts[0].Value) != "sys"
	return !qualified && sqltype.Known(lastOf(t.Name))
}

func (b *binder) typeBy(parse func(name string, args []string) (sqltype.Type, error), t *syntax.TypeName) (value.Type, error) {
	args := make([]string, len(t.Args))
	for i, a := range t.Args {
		args[i] = a.Value
	}
	resolved, err := parse(lastOf(t.Name), args)
	if err == nil && t.Collection != nil {
		return value.Type{}, value.OfCollection()
	}
	if err != nil {
		return value.Type{}, value.UnknownType(lastOf(t.Name), fault.New(243, lastOf(t.Name)))
	}
	return value.Type{Type: resolved}, nil
}

// atTimeZone binds x AT TIME ZONE zone.
func (b *binder) atTimeZone(s *scope, x *syntax.AtTimeZone) (*node, error) {
	n, err := b.expr(s, x.X)
	if err != nil {
		return nil, err
	}
	zone, err := b.expr(s, x.Zone)
	if err != nil {
		return nil, err
	}
	if zone, err = b.implicitly(zone, value.NVarChar(128)); err != nil {
		return nil, err
	}
	t, err := builtin.AtTimeZone(n.typ.Type)
	if err != nil {
		return nil, fault.New(8116, described(n.typ), 1, "AT TIME ZONE")
	}
	from, to := n.typ, value.Type{Type: t}
	return &node{
		name: "AT TIME ZONE", typ: to, nullable: n.nullable || zone.nullable, args: []*node{n, zone}, at: x.Span,
		value: func(args []code) execute.Expr {
			return func(r *execute.Run) (execute.Value, error) {
				v, err := args[0].expr(r)
				if err != nil || v.IsNull() {
					return execute.Value{}, err
				}
				z, err := args[1].expr(r)
				if err != nil || z.IsNull() {
					return execute.Value{}, err
				}
				return function.AtTimeZone(v, from, to, z.Str())
			}
		},
	}, nil
}
