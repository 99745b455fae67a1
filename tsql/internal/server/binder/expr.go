package binder

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/builtin"
	"github.com/duroxide/duroxide-go/tsql/internal/server/ask"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// expr binds an expression. In a grouped query, one that is written as in GROUP BY is the grouped value.
func (b *Binder) expr(s *scope, x syntax.Expr) (*Node, error) {
	if n := b.groupedExpr(s, x); n != nil {
		return n, nil
	}
	n, err := b.plainExpr(s, x)
	if err != nil {
		return nil, err
	}
	if n.isTruth() {
		return nil, b.Unsupported(x.Range(), "a condition where a value is expected")
	}
	return n, nil
}

// plainExpr is expr without what GROUP BY does to it.
func (b *Binder) plainExpr(s *scope, x syntax.Expr) (*Node, error) {
	switch x := x.(type) {
	case *syntax.Literal:
		return b.literal(x)
	case *syntax.Paren:
		return b.expr(s, x.X)
	case *syntax.Variable:
		return b.variable(x)
	case *syntax.SystemVariable:
		return b.systemVariable(x)
	case *syntax.ColumnRef:
		return b.column(s, x)
	case *syntax.Unary:
		return b.unary(s, x)
	case *syntax.Binary:
		return b.binary(s, x)
	case *syntax.Case:
		return b.caseOf(s, x)
	case *syntax.Cast:
		return b.cast(s, x)
	case *syntax.Method:
		return nil, b.Unsupported(x.Span, "the method %s", x.Name.Value)
	case *syntax.Call:
		return b.call(s, x)
	case *syntax.Subquery:
		return b.scalarSubquery(s, x)
	case *syntax.NextValue:
		return b.nextValue(x)
	case *syntax.AtTimeZone:
		return b.atTimeZone(s, x)
	case *syntax.Collate:
		return b.collate(s, x)
	default:
		return b.cond(s, x)
	}
}

// literal binds a constant.
func (b *Binder) literal(x *syntax.Literal) (*Node, error) {
	if x.Kind == syntax.DefaultLiteral {
		return nil, fault.New(156, "DEFAULT")
	}
	v, t, err := value.Literal(x)
	if err != nil {
		return nil, err
	}
	n := constantNode(v, t)
	n.literal, n.at = x, x.Span
	return n, nil
}

// variable binds @v.
func (b *Binder) variable(x *syntax.Variable) (*Node, error) {
	if n := b.params[b.Fold(x.Name)]; n != nil {
		return n, nil
	}
	v := b.Env.Variables[b.Fold(x.Name)]
	if v == nil {
		if b.Env.CursorVariables[b.Fold(x.Name)] {
			return nil, fault.New(16949, x.Name)
		}
		return nil, fault.New(137, x.Name)
	}
	slot := v.Slot
	return &Node{
		Kind: IsVariable, Name: b.Fold(x.Name), Type: v.Type, Nullable: true, at: x.Span,
		Value: func([]Code) execute.Expr {
			return func(r *execute.Run) (execute.Value, error) { return r.Frame.Variables[slot], nil }
		},
	}, nil
}

// systemVariable binds @@name.
func (b *Binder) systemVariable(x *syntax.SystemVariable) (*Node, error) {
	name := strings.ToUpper(x.Name)
	result, ok := builtin.Variable(name)
	if !ok {
		return nil, fault.New(137, x.Name)
	}
	return &Node{
		Name: name, Type: value.Type{Type: result.Type}, Nullable: result.Nullable, session: true, at: x.Span,
		Value: func([]Code) execute.Expr { return systemVariableCode(strings.TrimPrefix(name, "@@")) },
	}, nil
}

func systemVariableCode(name string) execute.Expr {
	return func(r *execute.Run) (execute.Value, error) {
		s := r.Frame.Session
		switch name {
		case "ROWCOUNT":
			return value.OfInt(s.RowCount()), nil
		case "ERROR":
			return value.OfInt(int64(s.LastError())), nil
		case "IDENTITY":
			return s.LastIdentity(), nil
		case "NESTLEVEL":
			return value.OfInt(int64(r.Frame.Depth)), nil
		default:
			return ask.Variable(r, name), nil
		}
	}
}

// Operands returns the expressions in a list of codes, for a function that takes all of them.
func Operands(args []Code) []execute.Expr {
	out := make([]execute.Expr, len(args))
	for i, a := range args {
		out[i] = a.Expr
	}
	return out
}

// strict1 makes an expression of one operand that is NULL if the operand is.
func strict1(f func(v execute.Value) (execute.Value, error)) func(args []Code) execute.Expr {
	return func(args []Code) execute.Expr {
		x := args[0].Expr
		return func(r *execute.Run) (execute.Value, error) {
			v, err := x(r)
			if err != nil || v.IsNull() {
				return execute.Value{}, err
			}
			return f(v)
		}
	}
}

// unary binds + - ~.
func (b *Binder) unary(s *scope, x *syntax.Unary) (*Node, error) {
	n, err := b.expr(s, x.X)
	if err != nil {
		return nil, err
	}
	t, err := sqltype.Unary(x.Op, n.Type.Type)
	if err != nil {
		names := map[string]string{"-": "minus", "+": "plus", "~": "'~'"}
		return nil, fault.New(8117, described(n.Type), names[x.Op])
	}
	if x.Op == "+" {
		return n, nil
	}
	from, to := n.Type, value.Type{Type: t}
	out := &Node{Name: "unary" + x.Op, Type: to, Nullable: n.Nullable, Args: []*Node{n}, at: x.Span}
	if x.Op == "-" {
		out.Value = strict1(func(v execute.Value) (execute.Value, error) { return value.Negate(v, from, to) })
	} else {
		out.Value = strict1(func(v execute.Value) (execute.Value, error) { return value.BitNot(v, from) })
	}
	folded := b.folded(out)
	if folded != out && n.literal != nil {
		folded.literal = n.literal // -1 is as much of a literal as 1, for the types of what it stands beside
	}
	return folded, nil
}

// binary binds arithmetic and concatenation.
func (b *Binder) binary(s *scope, x *syntax.Binary) (*Node, error) {
	l, err := b.expr(s, x.X)
	if err != nil {
		return nil, err
	}
	r, err := b.expr(s, x.Y)
	if err != nil {
		return nil, err
	}
	return b.arithmetic(x.Op, l, r, x)
}

// arithmetic makes an operation of two bound operands.
func (b *Binder) arithmetic(op string, l, r *Node, at syntax.Node) (*Node, error) {
	lt, rt := literally(l, r), literally(r, l)
	t, err := sqltype.Arithmetic(op, lt.Type, rt.Type)
	if err != nil {
		return nil, incompatible(l.Type, r.Type, arithmeticNames[op])
	}
	out := &Node{
		Name: op, Type: value.Type{Type: t}, Nullable: l.Nullable || r.Nullable, Args: []*Node{l, r}, at: at.Range(),
	}
	if t.IsCharacter() {
		label, err := resolve(l, r)
		if err != nil {
			return nil, err
		}
		out.Type.Collation, out.Label, out.other = label.Collation, label.Label, label.Other
	}
	result := out.Type
	out.Value = func(args []Code) execute.Expr {
		x, y := args[0].Expr, args[1].Expr
		return func(run *execute.Run) (execute.Value, error) {
			a, err := x(run)
			if err != nil {
				return execute.Value{}, err
			}
			c, err := y(run)
			if err != nil || a.IsNull() || c.IsNull() {
				return execute.Value{}, err
			}
			return value.Arithmetic(op, a, c, lt, rt, result)
		}
	}
	return b.folded(out), nil
}

// arithmeticNames are the operators as error 402 and 8117 call them.
var arithmeticNames = map[string]string{
	"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "%": "modulo", "&": "'&'", "|": "'|'", "^": "'^'",
	"||": "concatenation", "<<": "left shift", ">>": "right shift",
}

// incompatible is the error for operands that don't mix.
func incompatible(a, c value.Type, operator string) error {
	switch {
	case a.Kind == c.Kind:
		return fault.New(8117, described(a), operator)
	case a.IsTemporal() != c.IsTemporal() && (a.IsNumeric() || c.IsNumeric()):
		return fault.New(206, described(a), described(c))
	default:
		return fault.New(402, described(a), described(c), operator)
	}
}

// literally is the type of an operand beside another: an integer literal has just its digits when it meets a decimal.
func literally(n, other *Node) value.Type {
	if n.literal != nil && n.literal.Kind == syntax.IntLiteral && other.Type.Kind == sqltype.Decimal {
		if t, err := sqltype.IntLiteralBesideDecimal(n.literal.Value); err == nil {
			return value.Type{Type: t}
		}
	}
	return n.Type
}

// labelled is the collation of a node.
func labelled(n *Node) value.Labelled {
	if !n.Type.IsCharacter() {
		return value.Labelled{}
	}
	return value.Labelled{Collation: n.Type.Collation, Label: n.Label, Other: n.other}
}

// resolve is the collation of what is made of several strings.
func resolve(nodes ...*Node) (value.Labelled, error) {
	var out value.Labelled
	for _, n := range nodes {
		if !n.Type.IsCharacter() {
			continue
		}
		var err error
		if out, err = value.Resolve(out, labelled(n)); err != nil {
			return out, err
		}
	}
	return out, nil
}

// collate binds x COLLATE name.
func (b *Binder) collate(s *scope, x *syntax.Collate) (*Node, error) {
	n, err := b.expr(s, x.X)
	if err != nil {
		return nil, err
	}
	if !n.Type.IsCharacter() && n.Type.Kind != sqltype.Null {
		return nil, fault.New(447, described(n.Type))
	}
	c, err := b.collationNamed(x.Name.Value)
	if err != nil {
		return nil, err
	}
	if c == n.Type.Collation {
		same := *n
		same.Label = value.Explicit
		return &same, nil
	}
	return &Node{
		Kind: IsCast, Name: "COLLATE " + c.Name, Type: n.Type.With(c), Label: value.Explicit, Nullable: n.Nullable,
		Args: []*Node{n}, at: x.Span, Value: func(args []Code) execute.Expr { return args[0].Expr },
	}, nil
}

// collationNamed finds a collation; DATABASE_DEFAULT is one.
func (b *Binder) collationNamed(name string) (*value.Collation, error) {
	if strings.EqualFold(name, "DATABASE_DEFAULT") || strings.EqualFold(name, "CATALOG_DEFAULT") {
		return b.collation(), nil
	}
	c, ok := value.CollationByName(name)
	if !ok {
		return nil, value.UnknownCollation(name)
	}
	return c, nil
}

// nextValue binds NEXT VALUE FOR.
func (b *Binder) nextValue(x *syntax.NextValue) (*Node, error) {
	if x.Over != nil {
		return nil, b.Unsupported(x.Span, "NEXT VALUE FOR … OVER")
	}
	o := b.object(x.Sequence)
	seq, ok := o.(*schema.Sequence)
	if !ok {
		return nil, fault.New(208, syntax.Dotted(x.Sequence.Parts))
	}
	b.needs("UPDATE", seq)
	d := b.draws[seq]
	if d == nil {
		d = &draw{last: b.NewSlot(), count: b.NewSlot()}
		if b.draws == nil {
			b.draws = map[*schema.Sequence]*draw{}
		}
		b.draws[seq] = d
	}
	seen := b.NewSlot()
	return &Node{
		Name: "NEXT VALUE FOR " + schema.QualifiedName(seq), Type: seq.Type, varies: true, session: true, at: x.Span,
		Value: func([]Code) execute.Expr {
			return func(r *execute.Run) (execute.Value, error) { return d.next(r, seq, seen) }
		},
	}, nil
}

// draw is where a statement keeps the value of a sequence: however often it asks for the next one, there is one for
// each row.
type draw struct{ last, count int }

// next is the value of the present row for one of the places that ask for it, which has asked as often as the slot seen
// says. Each of them asks once for a row.
func (d *draw) next(r *execute.Run, seq *schema.Sequence, seen int) (execute.Value, error) {
	rows := int64(0)
	if v := r.Slots[seen]; !v.IsNull() {
		rows = v.Int()
	}
	if drawn := r.Slots[d.count]; drawn.IsNull() || drawn.Int() <= rows {
		v, err := r.Frame.Session.NextValue(seq)
		if err != nil {
			return execute.Value{}, err
		}
		r.Slots[d.last], r.Slots[d.count] = v, value.OfInt(rows+1)
	}
	r.Slots[seen] = value.OfInt(rows + 1)
	return r.Slots[d.last], nil
}

// folded computes what is constant. An error comes when it is executed, and only if it is.
func (b *Binder) folded(n *Node) *Node {
	if n.Value == nil || n.Kind == isConstant || !n.Constant() {
		return n
	}
	v, err := compile(n).Expr(nil)
	if err != nil {
		return n
	}
	c := constantNode(v, n.Type)
	c.Label, c.at = n.Label, n.at
	c.Nullable = n.Nullable && v.IsNull()
	return c
}

// compile makes code of a node without subqueries.
func compile(n *Node) Code {
	args := make([]Code, len(n.Args))
	for i, a := range n.Args {
		args[i] = compile(a)
	}
	if n.Truth != nil {
		return Code{Cond: n.Truth(args)}
	}
	return Code{Expr: n.Value(args)}
}
