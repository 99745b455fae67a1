package binder

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// cond binds a condition.
func (b *Binder) cond(s *scope, x syntax.Expr) (*Node, error) {
	switch x := x.(type) {
	case *syntax.Paren:
		return b.cond(s, x.X)
	case *syntax.Compare:
		return b.compareExpr(s, x)
	case *syntax.Logical:
		return b.logical(s, x)
	case *syntax.Not:
		n, err := b.cond(s, x.X)
		if err != nil {
			return nil, err
		}
		return notNode(n), nil
	case *syntax.Between:
		return b.between(s, x)
	case *syntax.In:
		return b.in(s, x)
	case *syntax.Like:
		return b.like(s, x)
	case *syntax.IsNull:
		n, err := b.expr(s, x.X)
		if err != nil {
			return nil, err
		}
		return NullTest(n, x.Not), nil
	case *syntax.Exists:
		return b.exists(s, x)
	case *syntax.Quantified:
		return b.quantified(s, x)
	case *syntax.UpdateTest:
		return b.updateTest(x)
	case *syntax.Call:
		if name := strings.ToUpper(x.Name.Last().Value); len(x.Name.Parts) == 1 && slices.Contains(conditionsElsewhere, name) {
			return nil, b.Unsupported(x.Span, "%s", name)
		}
	}
	return nil, fault.New(4145, "condition")
}

// conditionsElsewhere are the functions that are conditions. They need a full-text index, or a server after 2022.
var conditionsElsewhere = []string{"CONTAINS", "FREETEXT", "REGEXP_LIKE"}

// conditions binds a condition and splits it at its ANDs.
func (b *Binder) conditions(s *scope, x syntax.Expr) ([]*Node, error) {
	if x == nil {
		return nil, nil
	}
	n, err := b.cond(s, x)
	if err != nil {
		return nil, err
	}
	return conjuncts(nil, n), nil
}

// logical binds AND and OR; chains of one of them become one node.
func (b *Binder) logical(s *scope, x *syntax.Logical) (*Node, error) {
	l, err := b.cond(s, x.X)
	if err != nil {
		return nil, err
	}
	r, err := b.cond(s, x.Y)
	if err != nil {
		return nil, err
	}
	if x.Op == "AND" {
		return connect(IsAnd, l, r), nil
	}
	return connect(IsOr, l, r), nil
}

// connect is AND or OR of conditions.
func connect(k Kind, list ...*Node) *Node {
	if len(list) == 1 {
		return list[0]
	}
	out := &Node{Kind: k, Name: "AND", at: list[0].at}
	if k == IsOr {
		out.Name = "OR"
	}
	for _, n := range list {
		if n.Kind == k {
			out.Args = append(out.Args, n.Args...)
		} else {
			out.Args = append(out.Args, n)
		}
		out.Nullable = out.Nullable || n.Nullable
	}
	out.Truth = func(args []Code) execute.Cond {
		conditions := make([]execute.Cond, len(args))
		for i, a := range args {
			conditions[i] = a.Cond
		}
		if k == IsAnd {
			return execute.And(conditions)
		}
		return execute.Or(conditions)
	}
	return out
}

// notNode is NOT n.
func notNode(n *Node) *Node {
	return &Node{
		Kind: IsNot, Name: "NOT", Nullable: n.Nullable, Args: []*Node{n}, at: n.at,
		Truth: func(args []Code) execute.Cond {
			c := args[0].Cond
			return func(r *execute.Run) (execute.Truth, error) {
				t, err := c(r)
				return t.Not(), err
			}
		},
	}
}

// NullTest returns the condition that a value IS NULL, or IS NOT NULL.
func NullTest(n *Node, not bool) *Node {
	out := &Node{Kind: IsNullTest, Name: "IS NULL", Args: []*Node{n}, at: n.at}
	if not {
		out.Kind, out.Name = IsNotNull, "IS NOT NULL"
	}
	out.Truth = func(args []Code) execute.Cond {
		x := args[0].Expr
		return func(r *execute.Run) (execute.Truth, error) {
			v, err := x(r)
			return execute.TruthOf(v.IsNull() != not), err
		}
	}
	return out
}

// comparisonNames are the operators as error 402 calls them.
var comparisonNames = map[string]string{
	"=": "equal to", "<>": "not equal to", "<": "less than", "<=": "less than or equal to", ">": "greater than",
	">=": "greater than or equal to",
}

// normal returns an operator without the spellings that mean the same.
func normal(op string) string {
	switch op {
	case "!=":
		return "<>"
	case "!<":
		return ">="
	case "!>":
		return "<="
	default:
		return op
	}
}

func (b *Binder) compareExpr(s *scope, x *syntax.Compare) (*Node, error) {
	l, err := b.expr(s, x.X)
	if err != nil {
		return nil, err
	}
	r, err := b.expr(s, x.Y)
	if err != nil {
		return nil, err
	}
	if strings.Contains(x.Op, "DISTINCT") {
		return b.distinct(l, r, strings.Contains(x.Op, "NOT"))
	}
	return b.compare(normal(x.Op), l, r)
}

// compare makes a comparison.
func (b *Binder) compare(op string, l, r *Node) (*Node, error) {
	l, r, t, err := b.comparable(l, r, comparisonNames[op])
	if err != nil {
		return nil, err
	}
	return CompareNode(op, l, r, t), nil
}

// CompareNode compares two expressions that have been converted to a type.
func CompareNode(op string, l, r *Node, t value.Type) *Node {
	return &Node{
		Kind: IsCompare, Name: op, Type: t, Nullable: l.Nullable || r.Nullable, Args: []*Node{l, r}, at: l.at,
		Truth: func(args []Code) execute.Cond {
			return compareCode(op, t, args[0].Expr, args[1].Expr)
		},
	}
}

// outcomes says for each operator what comes of a comparison that yields -1, 0 or 1.
var outcomes = map[string][3]execute.Truth{
	"=":  {execute.False, execute.True, execute.False},
	"<>": {execute.True, execute.False, execute.True},
	"<":  {execute.True, execute.False, execute.False},
	"<=": {execute.True, execute.True, execute.False},
	">":  {execute.False, execute.False, execute.True},
	">=": {execute.False, execute.True, execute.True},
}

func compareCode(op string, t value.Type, x, y execute.Expr) execute.Cond {
	outcome := outcomes[op]
	return func(r *execute.Run) (execute.Truth, error) {
		a, err := x(r)
		if err != nil {
			return execute.False, err
		}
		c, err := y(r)
		if err != nil || a.IsNull() || c.IsNull() {
			return execute.Unknown, err
		}
		switch n := value.Compare(a, c, t); {
		case n < 0:
			return outcome[0], nil
		case n == 0:
			return outcome[1], nil
		default:
			return outcome[2], nil
		}
	}
}

// distinct binds IS [NOT] DISTINCT FROM, for which NULL is a value.
func (b *Binder) distinct(l, r *Node, not bool) (*Node, error) {
	l, r, t, err := b.comparable(l, r, "IS DISTINCT FROM")
	if err != nil {
		return nil, err
	}
	name := "IS DISTINCT FROM"
	if not {
		name = "IS NOT DISTINCT FROM"
	}
	return &Node{
		Name: name, Args: []*Node{l, r}, at: l.at,
		Truth: func(args []Code) execute.Cond {
			return func(run *execute.Run) (execute.Truth, error) {
				a, err := args[0].Expr(run)
				if err != nil {
					return execute.False, err
				}
				c, err := args[1].Expr(run)
				if err != nil {
					return execute.False, err
				}
				same := a.IsNull() && c.IsNull()
				if !a.IsNull() && !c.IsNull() {
					same = value.Compare(a, c, t) == 0
				}
				return execute.TruthOf(same == not), nil
			}
		},
	}, nil
}

// between binds x BETWEEN low AND high.
func (b *Binder) between(s *scope, x *syntax.Between) (*Node, error) {
	n, err := b.expr(s, x.X)
	if err != nil {
		return nil, err
	}
	low, err := b.expr(s, x.Low)
	if err != nil {
		return nil, err
	}
	high, err := b.expr(s, x.High)
	if err != nil {
		return nil, err
	}
	ge, err := b.compare(">=", n, low)
	if err != nil {
		return nil, err
	}
	le, err := b.compare("<=", n, high)
	if err != nil {
		return nil, err
	}
	out := connect(IsAnd, ge, le)
	if x.Not {
		return notNode(out), nil
	}
	return out, nil
}

// in binds x IN (list), which is an OR of comparisons, and x IN (query).
func (b *Binder) in(s *scope, x *syntax.In) (*Node, error) {
	n, err := b.expr(s, x.X)
	if err != nil {
		return nil, err
	}
	var out *Node
	if x.Query != nil {
		out, err = b.anyOf(s, "=", n, x.Query, x)
	} else {
		var list []*Node
		for _, item := range x.List {
			v, err := b.expr(s, item)
			if err != nil {
				return nil, err
			}
			eq, err := b.compare("=", n, v)
			if err != nil {
				return nil, err
			}
			list = append(list, eq)
		}
		out = connect(IsOr, list...)
	}
	if err != nil {
		return nil, err
	}
	if x.Not {
		return notNode(out), nil
	}
	return out, nil
}

// like binds x LIKE pattern.
func (b *Binder) like(s *scope, x *syntax.Like) (*Node, error) {
	var args []*Node
	for _, e := range []syntax.Expr{x.X, x.Pattern, x.Escape} {
		if e == nil {
			continue
		}
		n, err := b.expr(s, e)
		if err != nil {
			return nil, err
		}
		if !n.Type.IsCharacter() {
			if n, err = b.implicitly(n, value.NVarChar(sqltype.Max)); err != nil {
				return nil, fault.New(8116, described(n.Type), len(args)+1, "like")
			}
		}
		args = append(args, n)
	}
	collation, err := value.ResolveComparison("like", labelled(args[0]), labelled(args[1]))
	if err != nil {
		return nil, err
	}
	if collation == nil {
		collation = b.collation()
	}
	out := &Node{Kind: IsLike, Name: "LIKE " + collation.Name, Args: args, at: x.Span}
	for _, a := range args {
		out.Nullable = out.Nullable || a.Nullable
	}
	// Blanks at the end of varchar do not count, those of nvarchar do.
	blanks := !args[0].Type.IsNational() && !args[1].Type.IsNational()
	out.Truth = func(args []Code) execute.Cond { return likeCode(Operands(args), collation, blanks) }
	if x.Not {
		return notNode(out), nil
	}
	return out, nil
}

// likeCode compares a text with a pattern. Blanks says that blanks at the end of the text may be left out.
func likeCode(args []execute.Expr, collation *value.Collation, blanks bool) execute.Cond {
	return func(r *execute.Run) (execute.Truth, error) {
		var texts [3]string
		for i, x := range args {
			v, err := x(r)
			if err != nil || v.IsNull() {
				return execute.Unknown, err
			}
			texts[i] = v.Str()
		}
		var escape rune
		if len(args) == 3 {
			runes := []rune(texts[2])
			if len(runes) != 1 {
				return execute.False, fault.New(506, texts[2], "LIKE")
			}
			escape = runes[0]
		}
		for text := texts[0]; ; {
			ok, err := value.Like(text, texts[1], escape, collation)
			shorter, trailing := strings.CutSuffix(text, " ")
			if ok || err != nil || !blanks || !trailing {
				return execute.TruthOf(ok), err
			}
			text = shorter
		}
	}
}

// updateTest binds UPDATE(column) of a trigger.
func (b *Binder) updateTest(x *syntax.UpdateTest) (*Node, error) {
	t := b.Env.Inserted
	if t == nil {
		return nil, fault.New(140)
	}
	c := t.Column(x.Column.Value, b.Fold)
	if c == nil {
		return nil, fault.New(207, x.Column.Value)
	}
	ordinal := c.Ordinal
	return &Node{
		Name: "UPDATE " + c.Name, at: x.Span, session: true,
		Truth: func([]Code) execute.Cond {
			return func(r *execute.Run) (execute.Truth, error) {
				u := r.Frame.Updated
				return execute.TruthOf(ordinal < len(u) && u[ordinal]), nil
			}
		},
	}, nil
}
