package binder

import (
	"strconv"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// Node is a bound and typed expression or condition. A node is never changed once it is made, so that several
// expressions may share one: a reference to a column of a view is the view's own expression.
//
// What most nodes mean is known to their make function alone. The planner looks at few: columns, constants, comparisons
// and what connects them. They have a kind.
type Node struct {
	Kind Kind
	// Name tells operations apart: two nodes of one name with equal operands have equal values. See key.
	Name     string
	Type     value.Type
	Label    value.Label      // of the collation of a string
	other    *value.Collation // the second collation, if label is value.NoCollation
	Nullable bool
	// shownNull says that SQL Server describes the expression as one that may be NULL, though it never is.
	shownNull bool
	Args      []*Node
	// Exactly one of value and truth makes the code: of an expression, or of a condition.
	Value func(args []Code) execute.Expr
	Truth func(args []Code) execute.Cond

	Slot    int            // of a column
	Base    *schema.Column // of a column of a table
	literal *syntax.Literal
	Sub     *Subquery
	varies  bool // it may have another value each time it is computed, as NEWID() has
	session bool // it depends on the session or the clock, so that it cannot be computed beforehand
	calls   bool // it calls a function of the user's
	at      diag.Span
}

// Kind is what the planner knows of a node.
type Kind uint8

// The kinds.
const (
	opaque     Kind = iota
	IsColumn        // slot
	isConstant      // the same value in every execution
	IsVariable      // of the frame
	IsCompare       // name is the operator
	IsNullTest      // args[0] IS NULL
	IsNotNull       // args[0] IS NOT NULL
	IsAnd
	IsOr
	IsNot
	IsLike
	IsCast // an implicit or explicit conversion of args[0]
	isSubquery
)

// Code is what a node is compiled to.
type Code struct {
	Expr execute.Expr
	Cond execute.Cond
}

// Key returns the structure of an expression: equal keys mean equal values.
func (n *Node) Key() string {
	var b strings.Builder
	n.writeKey(&b)
	return b.String()
}

func (n *Node) writeKey(b *strings.Builder) {
	if n.varies || n.Sub != nil {
		b.WriteString("?" + strconv.Itoa(int(n.at.From)))
	}
	b.WriteString(n.Name)
	if n.Kind == IsColumn {
		b.WriteString(strconv.Itoa(n.Slot))
	}
	if len(n.Args) == 0 {
		return
	}
	b.WriteByte('(')
	for _, a := range n.Args {
		a.writeKey(b)
		b.WriteByte(',')
	}
	b.WriteByte(')')
}

// Slots returns the slots that the node reads, below subqueries too.
func (n *Node) Slots() Set {
	var s Set
	n.addSlots(&s)
	return s
}

func (n *Node) addSlots(s *Set) {
	if n.Kind == IsColumn {
		s.Add(n.Slot)
	}
	if n.Sub != nil {
		s.AddAll(n.Sub.free())
	}
	for _, a := range n.Args {
		a.addSlots(s)
	}
}

// walk visits a node and what is below it.
func (n *Node) walk(visit func(*Node)) {
	visit(n)
	for _, a := range n.Args {
		a.walk(visit)
	}
}

// Constant reports whether the node has the same value always, whatever the session does.
func (n *Node) Constant() bool {
	ok := true
	n.walk(func(x *Node) {
		if x.Kind == IsColumn || x.Kind == IsVariable || x.varies || x.session || x.Sub != nil {
			ok = false
		}
	})
	return ok
}

// HasSubquery reports whether other statements may be executed when the node is computed: there is a subquery in it, or
// a call of a function of the user's.
func (n *Node) HasSubquery() bool {
	found := false
	n.walk(func(x *Node) { found = found || x.Sub != nil || x.calls })
	return found
}

// IsVolatile reports whether computing the node twice may yield two values.
func (n *Node) IsVolatile() bool {
	found := false
	n.walk(func(x *Node) { found = found || x.varies })
	return found
}

// Replace returns the node with columns replaced.
func (n *Node) Replace(by map[int]*Node) *Node {
	if n.Kind == IsColumn {
		if r := by[n.Slot]; r != nil {
			return r
		}
		return n
	}
	changed := false
	args := make([]*Node, len(n.Args))
	for i, a := range n.Args {
		args[i] = a.Replace(by)
		changed = changed || args[i] != a
	}
	if !changed {
		return n
	}
	out := *n
	out.Args = args
	return &out
}

// isTruth reports whether the node is a condition.
func (n *Node) isTruth() bool { return n.Truth != nil }

// ColumnNode returns a reference to a slot.
func ColumnNode(slot int, t value.Type, nullable bool) *Node {
	return &Node{
		Kind: IsColumn, Name: "#", Type: t, Label: value.Implicit, Nullable: nullable, Slot: slot,
		Value: func([]Code) execute.Expr {
			return func(r *execute.Run) (execute.Value, error) { return r.Slots[slot], nil }
		},
	}
}

// constantNode is a value.
func constantNode(v value.Value, t value.Type) *Node {
	return &Node{
		Kind: isConstant, Name: "=" + t.String() + ":" + v.String(), Type: t, Nullable: v.IsNull(),
		Value: func([]Code) execute.Expr {
			return func(*execute.Run) (execute.Value, error) { return v, nil }
		},
	}
}

// ConstantValue returns the value of a constant.
func (n *Node) ConstantValue() (value.Value, bool) {
	if n.Kind != isConstant {
		return value.Value{}, false
	}
	v, err := n.Value(nil)(nil)
	return v, err == nil
}

// conjuncts splits a condition at its ANDs.
func conjuncts(list []*Node, n *Node) []*Node {
	if n == nil {
		return list
	}
	if n.Kind == IsAnd {
		for _, a := range n.Args {
			list = conjuncts(list, a)
		}
		return list
	}
	return append(list, n)
}

// SlotsOf returns the slots that a list of nodes reads.
func SlotsOf(list ...*Node) Set {
	var s Set
	for _, n := range list {
		if n != nil {
			n.addSlots(&s)
		}
	}
	return s
}
