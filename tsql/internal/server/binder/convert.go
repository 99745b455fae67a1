package binder

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

// Family says which types hold their values alike, so that a value of one is a value of a wider one as it is.
func Family(t value.Type) string {
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
func unconverted(from, to value.Type) bool { return Family(from) == Family(to) }

// comparable converts two expressions to the type in which they are compared.
func (b *Binder) comparable(x, y *Node, operator string) (*Node, *Node, value.Type, error) {
	if err := sqltype.Comparable(x.Type.Type, y.Type.Type); err != nil {
		return nil, nil, value.Type{}, incompatible(x.Type, y.Type, operator)
	}
	union, err := sqltype.Union(x.Type.Type, y.Type.Type)
	if err != nil {
		return nil, nil, value.Type{}, incompatible(x.Type, y.Type, operator)
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
func (b *Binder) compared(n *Node, t value.Type) *Node {
	if n.Type.Kind == sqltype.Null {
		out := *n
		out.Type = t
		return &out
	}
	if unconverted(n.Type, t) {
		if n.Kind == IsColumn && n.Type.IsCharacter() && (n.Type.IsNational() != t.IsNational() || n.Type.Collation != t.Collation) {
			return &Node{
				Kind: IsCast, Name: "as " + t.String() + collationName(t), Type: t, Nullable: n.Nullable, Args: []*Node{n}, at: n.at,
				Value: func(args []Code) execute.Expr { return args[0].Expr },
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
func (b *Binder) converted(n *Node, t value.Type) *Node {
	if n.Type.Kind == sqltype.Null {
		out := *n
		out.Type = t
		return &out
	}
	if n.Type.Type == t.Type {
		return n
	}
	from, label := n.Type, labelled(n)
	return b.folded(&Node{
		Kind: IsCast, Name: "convert " + from.String() + " " + t.String(), Type: t, Label: label.Label, other: label.Other,
		Nullable: n.Nullable, Args: []*Node{n}, at: n.at,
		Value: strict1(func(v execute.Value) (execute.Value, error) { return value.Convert(v, from, t, 0) }),
	})
}

// become converts one of several results to their common type.
func (b *Binder) become(n *Node, t value.Type) *Node {
	if !keeps(n.Type, t) {
		return b.converted(n, t)
	}
	same := *n
	same.Type, same.literal = t, nil
	if n.Kind == IsColumn && t.Kind != n.Type.Kind {
		// The slot has a type of its own for those who compare it.
		same.Kind, same.Name, same.Args = IsCast, "as "+t.String(), []*Node{n}
		same.Value = func(args []Code) execute.Expr { return args[0].Expr }
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
func (b *Binder) implicitly(n *Node, t value.Type) (*Node, error) {
	if n.Type.Kind == sqltype.Table || n.Type.Kind == sqltype.Cursor {
		return nil, fault.New(206, described(n.Type), described(t))
	}
	if err := sqltype.Assignable(n.Type.Type, t.Type); err != nil {
		if sqltype.Castable(n.Type.Type, t.Type) == nil {
			return nil, fault.New(257, described(n.Type), described(t))
		}
		return nil, fault.New(206, described(n.Type), described(t))
	}
	if t.IsCharacter() && t.Collation == nil {
		t.Collation = n.Type.Collation
	}
	return b.converted(n, t), nil
}

// unite returns the type that all results convert to.
func (b *Binder) unite(list []*Node) (value.Type, value.Label, error) {
	var t value.Type
	for i, n := range list {
		if i == 0 {
			t = n.Type
			continue
		}
		union, err := sqltype.Union(t.Type, n.Type.Type)
		if err != nil {
			return t, 0, fault.New(206, described(t), described(n.Type))
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
func (b *Binder) cast(s *scope, x *syntax.Cast) (*Node, error) {
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
	if n.Type.Kind != sqltype.Null && sqltype.Castable(n.Type.Type, to.Type) != nil {
		return nil, fault.New(529, described(n.Type), described(to))
	}
	out := &Node{Name: x.Func + " " + to.String(), Type: to, Nullable: n.Nullable, Args: []*Node{n}, at: x.Span, Kind: IsCast}
	if to.IsCharacter() && n.Type.IsCharacter() {
		out.Type.Collation, out.Label = n.Type.Collation, n.Label
	}
	if x.Style != nil {
		style, err := b.expr(s, x.Style)
		if err != nil {
			return nil, err
		}
		if style, err = b.implicitly(style, value.OfKind(sqltype.Int)); err != nil {
			return nil, err
		}
		out.Args = append(out.Args, style)
		out.Nullable = out.Nullable || style.Nullable
	}
	try := strings.HasPrefix(x.Func, "TRY_")
	out.Nullable = out.Nullable || try
	from, result := n.Type, b.Collated(out.Type)
	out.Value = func(args []Code) execute.Expr { return castCode(args, from, result, try) }
	return b.folded(out), nil
}

// parse binds PARSE and TRY_PARSE.
func (b *Binder) parse(s *scope, x *syntax.Cast, n *Node, to value.Type) (*Node, error) {
	if err := function.CanParse(x.Func, n.Type, to); err != nil {
		return nil, err
	}
	try := strings.HasPrefix(x.Func, "TRY_")
	out := &Node{Name: x.Func + " " + to.String(), Type: to, Nullable: n.Nullable || try, Args: []*Node{n}, at: x.Span, Kind: IsCast}
	if x.Style != nil {
		culture, err := b.expr(s, x.Style)
		if err != nil {
			return nil, err
		}
		if culture, err = b.implicitly(culture, value.NVarChar(sqltype.Max)); err != nil {
			return nil, err
		}
		out.Args = append(out.Args, culture)
		out.Nullable = out.Nullable || culture.Nullable
	}
	out.Value = func(args []Code) execute.Expr {
		return func(r *execute.Run) (execute.Value, error) {
			var texts [2]string
			for i, arg := range args {
				v, err := arg.Expr(r)
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

func castCode(args []Code, from, to value.Type, try bool) execute.Expr {
	x := args[0].Expr
	var style execute.Expr
	if len(args) > 1 {
		style = args[1].Expr
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
func (b *Binder) castType(t *syntax.TypeName) (value.Type, error) {
	if b.isBuiltinType(t) {
		return b.typeBy(sqltype.ParseCast, t)
	}
	return b.declaredType(t)
}

// declaredType resolves a type as it is written in a declaration, such as OPENJSON … WITH.
func (b *Binder) declaredType(t *syntax.TypeName) (value.Type, error) {
	if b.isBuiltinType(t) {
		return b.typeBy(sqltype.Parse, t)
	}
	u := b.Env.Database.FindType(t.Name.Schema(), t.Name.Last().Value, b.Env.Schema)
	if u == nil || u.Table != nil {
		return value.Type{}, value.UnknownType(syntax.Dotted(t.Name.Parts), fault.New(243, syntax.Dotted(t.Name.Parts)))
	}
	return u.Type, nil
}

// isBuiltinType reports whether a type's name is that of a type of the server's.
func (b *Binder) isBuiltinType(t *syntax.TypeName) bool {
	parts := t.Name.Parts
	qualified := len(parts) > 2 || len(parts) == 2 && b.Fold(parts[0].Value) != "sys"
	return !qualified && sqltype.Known(t.Name.Last().Value)
}

func (b *Binder) typeBy(parse func(name string, args []string) (sqltype.Type, error), t *syntax.TypeName) (value.Type, error) {
	args := make([]string, len(t.Args))
	for i, a := range t.Args {
		args[i] = a.Value
	}
	resolved, err := parse(t.Name.Last().Value, args)
	if err == nil && t.Collection != nil {
		return value.Type{}, value.OfCollection()
	}
	if err != nil {
		return value.Type{}, value.UnknownType(t.Name.Last().Value, fault.New(243, t.Name.Last().Value))
	}
	return value.Type{Type: resolved}, nil
}

// atTimeZone binds x AT TIME ZONE zone.
func (b *Binder) atTimeZone(s *scope, x *syntax.AtTimeZone) (*Node, error) {
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
	t, err := builtin.AtTimeZone(n.Type.Type)
	if err != nil {
		return nil, fault.New(8116, described(n.Type), 1, "AT TIME ZONE")
	}
	from, to := n.Type, value.Type{Type: t}
	return &Node{
		Name: "AT TIME ZONE", Type: to, Nullable: n.Nullable || zone.Nullable, Args: []*Node{n, zone}, at: x.Span,
		Value: func(args []Code) execute.Expr {
			return func(r *execute.Run) (execute.Value, error) {
				v, err := args[0].Expr(r)
				if err != nil || v.IsNull() {
					return execute.Value{}, err
				}
				z, err := args[1].Expr(r)
				if err != nil || z.IsNull() {
					return execute.Value{}, err
				}
				return function.AtTimeZone(v, from, to, z.Str())
			}
		},
	}, nil
}
