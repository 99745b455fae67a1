package plan

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
func (b *binder) cond(s *scope, x syntax.Expr) (*node, error) {
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
		return nullTest(n, x.Not), nil
	case *syntax.Exists:
		return b.exists(s, x)
	case *syntax.Quantified:
		return b.quantified(s, x)
	case *syntax.UpdateTest:
		return b.updateTest(x)
	case *syntax.Call:
		if name := strings.ToUpper(lastOf(x.Name)); len(x.Name.Parts) == 1 && slices.Contains(conditionsElsewhere, name) {
			return nil, b.unsupported(x.Span, "%s", name)
		}
	}
	return nil, fault.New(4145, "condition")
}

// conditionsElsewhere are the functions that are conditions. They need a full-text index, or a server after 2022.
var conditionsElsewhere = []string{"CONTAINS", "FREETEXT", "REGEXP_LIKE"}

// conditions binds a condition and splits it at its ANDs.
func (b *binder) conditions(s *scope, x syntax.Expr) ([]*node, error) {
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
func (b *binder) logical(s *scope, x *syntax.Logical) (*node, error) {
	l, err := b.cond(s, x.X)
	if err != nil {
		return nil, err
	}
	r, err := b.cond(s, x.Y)
	if err != nil {
		return nil, err
	}
	if x.Op == "AND" {
		return connect(isAnd, l, r), nil
	}
	return connect(isOr, l, r), nil
}

// connect is AND or OR of conditions.
func connect(k kind, list ...*node) *node {
	if len(list) == 1 {
		return list[0]
	}
	out := &node{kind: k, name: "AND", at: list[0].at}
	if k == isOr {
		out.name = "OR"
	}
	for _, n := range list {
		if n.kind == k {
			out.args = append(out.args, n.args...)
		} else {
			out.args = append(out.args, n)
		}
		out.nullable = out.nullable || n.nullable
	}
	out.truth = func(args []code) execute.Cond {
		conditions := make([]execute.Cond, len(args))
		for i, a := range args {
			conditions[i] = a.cond
		}
		if k == isAnd {
			return execute.And(conditions)
		}
		return execute.Or(conditions)
	}
	return out
}

// notNode is NOT n.
func notNode(n *node) *node {
	return &node{
		kind: isNot, name: "NOT", nullable: n.nullable, args: []*node{n}, at: n.at,
		truth: func(args []code) execute.Cond {
			c := args[0].cond
			return func(r *execute.Run) (execute.Truth, error) {
				t, err := c(r)
				return t.Not(), err
			}
		},
	}
}

// nullTest is IS NULL, or IS NOT NULL.
func nullTest(n *node, not bool) *node {
	out := &node{kind: isNullTest, name: "IS NULL", args: []*node{n}, at: n.at}
	if not {
		out.kind, out.name = isNotNull, "IS NOT NULL"
	}
	out.truth = func(args []code) execute.Cond {
		x := args[0].expr
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

func (b *binder) compareExpr(s *scope, x *syntax.Compare) (*node, error) {
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
func (b *binder) compare(op string, l, r *node) (*node, error) {
	l, r, t, err := b.comparable(l, r, comparisonNames[op])
	if err != nil {
		return nil, err
	}
	return compareNode(op, l, r, t), nil
}

// compareNode compares two expressions that have been converted to a type.
func compareNode(op string, l, r *node, t value.Type) *node {
	return &node{
		kind: isCompare, name: op, typ: t, nullable: l.nullable || r.nullable, args: []*node{l, r}, at: l.at,
		truth: func(args []code) execute.Cond {
			return compareCode(op, t, args[0].expr, args[1].expr)
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
func (b *binder) distinct(l, r *node, not bool) (*node, error) {
	l, r, t, err := b.comparable(l, r, "IS DISTINCT FROM")
	if err != nil {
		return nil, err
	}
	name := "IS DISTINCT FROM"
	if not {
		name = "IS NOT DISTINCT FROM"
	}
	return &node{
		name: name, args: []*node{l, r}, at: l.at,
		truth: func(args []code) execute.Cond {
			return func(run *execute.Run) (execute.Truth, error) {
				a, err := args[0].expr(run)
				if err != nil {
					return execute.False, err
				}
				c, err := args[1].expr(run)
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
func (b *binder) between(s *scope, x *syntax.Between) (*node, error) {
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
	out := connect(isAnd, ge, le)
	if x.Not {
		return notNode(out), nil
	}
	return out, nil
}

// in binds x IN (list), which is an OR of comparisons, and x IN (query).
func (b *binder) in(s *scope, x *syntax.In) (*node, error) {
	n, err := b.expr(s, x.X)
	if err != nil {
		return nil, err
	}
	var out *node
	if x.Query != nil {
		out, err = b.anyOf(s, "=", n, x.Query, x)
	} else {
		var list []*node
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
		out = connect(isOr, list...)
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
func (b *binder) like(s *scope, x *syntax.Like) (*node, error) {
	var args []*node
	for _, e := range []syntax.Expr{x.X, x.Pattern, x.Escape} {
		if e == nil {
			continue
		}
		n, err := b.expr(s, e)
		if err != nil {
			return nil, err
		}
		if !n.typ.IsCharacter() {
			if n, err = b.implicitly(n, value.NVarChar(sqltype.Max)); err != nil {
				return nil, fault.New(8116, described(n.typ), len(args)+1, "like")
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
	out := &node{kind: isLike, name: "LIKE " + collation.Name, args: args, at: x.Span}
	for _, a := range args {
		out.nullable = out.nullable || a.nullable
	}
	// Blanks at the end of varchar do not count, those of nvarchar do.
	blanks := !args[0].typ.IsNational() && !args[1].typ.IsNational()
	out.truth = func(args []code) execute.Cond { return likeCode(operands(args), collation, blanks) }
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
func (b *binder) updateTest(x *syntax.UpdateTest) (*node, error) {
	t := b.env.Inserted
	if t == nil {
		return nil, fault.New(140)
	}
	c := t.Column(x.Column.Value, b.fold)
	if c == nil {
		return nil, fault.New(207, x.Column.Value)
	}
	ordinal := c.Ordinal
	return &node{
		name: "UPDATE " + c.Name, at: x.Span, session: true,
		truth: func([]code) execute.Cond {
			return func(r *execute.Run) (execute.Truth, error) {
				u := r.Frame.Updated
				return execute.TruthOf(ordinal < len(u) && u[ordinal]), nil
			}
		},
	}, nil
}
