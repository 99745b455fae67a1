package plan

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/builtin"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// expr binds an expression. In a grouped query, one that is written as in GROUP BY is the grouped value.
func (b *binder) expr(s *scope, x syntax.Expr) (*node, error) {
	if n := b.groupedExpr(s, x); n != nil {
		return n, nil
	}
	n, err := b.plainExpr(s, x)
	if err != nil {
		return nil, err
	}
	if n.isTruth() {
		return nil, b.unsupported(x.Range(), "a condition where a value is expected")
	}
	return n, nil
}

// plainExpr is expr without what GROUP BY does to it.
func (b *binder) plainExpr(s *scope, x syntax.Expr) (*node, error) {
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
		return nil, b.unsupported(x.Span, "the method %s", x.Name.Value)
	case *syntax.Call:
		return b.call(s, x)
	case *syntax.Subquery:
		return b.scalarSubquery(s, x)
	case *syntax.NextValue:
		return b.nextValue(s, x)
	case *syntax.AtTimeZone:
		return b.atTimeZone(s, x)
	case *syntax.Collate:
		return b.collate(s, x)
	default:
		return b.cond(s, x)
	}
}

// literal binds a constant.
func (b *binder) literal(x *syntax.Literal) (*node, error) {
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
func (b *binder) variable(x *syntax.Variable) (*node, error) {
	if n := b.params[b.fold(x.Name)]; n != nil {
		return n, nil
	}
	v := b.env.Variables[b.fold(x.Name)]
	if v == nil {
		if b.env.CursorVariables[b.fold(x.Name)] {
			return nil, fault.New(16949, x.Name)
		}
		return nil, fault.New(137, x.Name)
	}
	slot := v.Slot
	return &node{
		kind: isVariable, name: b.fold(x.Name), typ: v.Type, nullable: true, at: x.Span,
		value: func([]code) execute.Expr {
			return func(r *execute.Run) (execute.Value, error) { return r.Frame.Variables[slot], nil }
		},
	}, nil
}

// systemVariable binds @@name.
func (b *binder) systemVariable(x *syntax.SystemVariable) (*node, error) {
	name := strings.ToUpper(x.Name)
	result, ok := builtin.Variable(name)
	if !ok {
		return nil, fault.New(137, x.Name)
	}
	return &node{
		name: name, typ: value.Type{Type: result.Type}, nullable: result.Nullable, session: true, at: x.Span,
		value: func([]code) execute.Expr { return systemVariableCode(strings.TrimPrefix(name, "@@")) },
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
			return systemFact(r, name), nil
		}
	}
}

// operands is code for expressions of which a function takes all.
func operands(args []code) []execute.Expr {
	out := make([]execute.Expr, len(args))
	for i, a := range args {
		out[i] = a.expr
	}
	return out
}

// strict1 makes an expression of one operand that is NULL if the operand is.
func strict1(f func(v execute.Value) (execute.Value, error)) func(args []code) execute.Expr {
	return func(args []code) execute.Expr {
		x := args[0].expr
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
func (b *binder) unary(s *scope, x *syntax.Unary) (*node, error) {
	n, err := b.expr(s, x.X)
	if err != nil {
		return nil, err
	}
	t, err := sqltype.Unary(x.Op, n.typ.Type)
	if err != nil {
		names := map[string]string{"-": "minus", "+": "plus", "~": "'~'"}
		return nil, fault.New(8117, described(n.typ), names[x.Op])
	}
	if x.Op == "+" {
		return n, nil
	}
	from, to := n.typ, value.Type{Type: t}
	out := &node{name: "unary" + x.Op, typ: to, nullable: n.nullable, args: []*node{n}, at: x.Span}
	if x.Op == "-" {
		out.value = strict1(func(v execute.Value) (execute.Value, error) { return value.Negate(v, from, to) })
	} else {
		out.value = strict1(func(v execute.Value) (execute.Value, error) { return value.BitNot(v, from) })
	}
	folded := b.folded(out)
	if folded != out && n.literal != nil {
		folded.literal = n.literal // -1 is as much of a literal as 1, for the types of what it stands beside
	}
	return folded, nil
}

// binary binds arithmetic and concatenation.
func (b *binder) binary(s *scope, x *syntax.Binary) (*node, error) {
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
func (b *binder) arithmetic(op string, l, r *node, at syntax.Node) (*node, error) {
	lt, rt := literally(l, r), literally(r, l)
	t, err := sqltype.Arithmetic(op, lt.Type, rt.Type)
	if err != nil {
		return nil, incompatible(l.typ, r.typ, arithmeticNames[op])
	}
	out := &node{
		name: op, typ: value.Type{Type: t}, nullable: l.nullable || r.nullable, args: []*node{l, r}, at: at.Range(),
	}
	if t.IsCharacter() {
		label, err := resolve(l, r)
		if err != nil {
			return nil, err
		}
		out.typ.Collation, out.label, out.other = label.Collation, label.Label, label.Other
	}
	result := out.typ
	out.value = func(args []code) execute.Expr {
		x, y := args[0].expr, args[1].expr
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
func literally(n, other *node) value.Type {
	if n.literal != nil && n.literal.Kind == syntax.IntLiteral && other.typ.Kind == sqltype.Decimal {
		if t, err := sqltype.IntLiteralBesideDecimal(n.literal.Value); err == nil {
			return value.Type{Type: t}
		}
	}
	return n.typ
}

// labelled is the collation of a node.
func labelled(n *node) value.Labelled {
	if !n.typ.IsCharacter() {
		return value.Labelled{}
	}
	return value.Labelled{Collation: n.typ.Collation, Label: n.label, Other: n.other}
}

// resolve is the collation of what is made of several strings.
func resolve(nodes ...*node) (value.Labelled, error) {
	var out value.Labelled
	for _, n := range nodes {
		if !n.typ.IsCharacter() {
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
func (b *binder) collate(s *scope, x *syntax.Collate) (*node, error) {
	n, err := b.expr(s, x.X)
	if err != nil {
		return nil, err
	}
	if !n.typ.IsCharacter() && n.typ.Kind != sqltype.Null {
		return nil, fault.New(447, described(n.typ))
	}
	c, err := b.collationNamed(x.Name.Value)
	if err != nil {
		return nil, err
	}
	out := &node{
		kind: isCast, name: "COLLATE " + c.Name, typ: n.typ.With(c), label: value.Explicit, nullable: n.nullable,
		args: []*node{n}, at: x.Span, value: func(args []code) execute.Expr { return args[0].expr },
	}
	if c == n.typ.Collation {
		out.kind = n.kind
		same := *n
		same.label = value.Explicit
		return &same, nil
	}
	return out, nil
}

// collationNamed finds a collation; DATABASE_DEFAULT is one.
func (b *binder) collationNamed(name string) (*value.Collation, error) {
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
func (b *binder) nextValue(_ *scope, x *syntax.NextValue) (*node, error) {
	if x.Over != nil {
		return nil, b.unsupported(x.Span, "NEXT VALUE FOR … OVER")
	}
	o := b.object(x.Sequence)
	seq, ok := o.(*schema.Sequence)
	if !ok {
		return nil, fault.New(208, textOf(x.Sequence.Parts))
	}
	b.needs("UPDATE", seq)
	d := b.draws[seq]
	if d == nil {
		d = &draw{last: b.newSlot(), count: b.newSlot()}
		if b.draws == nil {
			b.draws = map[*schema.Sequence]*draw{}
		}
		b.draws[seq] = d
	}
	seen := b.newSlot()
	return &node{
		name: "NEXT VALUE FOR " + schema.QualifiedName(seq), typ: seq.Type, varies: true, session: true, at: x.Span,
		value: func([]code) execute.Expr {
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
func (b *binder) folded(n *node) *node {
	if n.value == nil || n.kind == isConstant || !n.constant() {
		return n
	}
	v, err := compile(n).expr(nil)
	if err != nil {
		return n
	}
	c := constantNode(v, n.typ)
	c.label, c.at = n.label, n.at
	c.nullable = n.nullable && v.IsNull()
	return c
}

// compile makes code of a node without subqueries.
func compile(n *node) code {
	args := make([]code, len(n.args))
	for i, a := range n.args {
		args[i] = compile(a)
	}
	if n.truth != nil {
		return code{cond: n.truth(args)}
	}
	return code{expr: n.value(args)}
}
