package plan

import (
	"strconv"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// node is a bound and typed expression or condition. A node is never changed once it is made, so that several
// expressions may share one: a reference to a column of a view is the view's own expression.
//
// What most nodes mean is known to their make function alone. The planner looks at few: columns, constants, comparisons
// and what connects them. They have a kind.
type node struct {
	kind kind
	// name tells operations apart: two nodes of one name with equal operands have equal values. See key.
	name     string
	typ      value.Type
	label    value.Label      // of the collation of a string
	other    *value.Collation // the second collation, if label is value.NoCollation
	nullable bool
	// shownNull says that SQL Server describes the expression as one that may be NULL, though it never is.
	shownNull bool
	args      []*node
	// Exactly one of value and truth makes the code: of an expression, or of a condition.
	value func(args []code) execute.Expr
	truth func(args []code) execute.Cond

	slot    int            // of a column
	base    *schema.Column // of a column of a table
	literal *syntax.Literal
	sub     *subquery
	varies  bool // it may have another value each time it is computed, as NEWID() has
	session bool // it depends on the session or the clock, so that it cannot be computed beforehand
	calls   bool // it calls a function of the user's
	at      diag.Span
}

// kind is what the planner knows of a node.
type kind uint8

// The kinds.
const (
	opaque     kind = iota
	isColumn        // slot
	isConstant      // the same value in every execution
	isVariable      // of the frame
	isCompare       // name is the operator
	isNullTest      // args[0] IS NULL
	isNotNull       // args[0] IS NOT NULL
	isAnd
	isOr
	isNot
	isInList // args[0] IN (args[1:])
	isLike
	isCast // an implicit or explicit conversion of args[0]
	isSubquery
)

// code is what a node is compiled to.
type code struct {
	expr execute.Expr
	cond execute.Cond
}

// key is the structure of an expression: equal keys mean equal values.
func (n *node) key() string {
	var b strings.Builder
	n.writeKey(&b)
	return b.String()
}

func (n *node) writeKey(b *strings.Builder) {
	if n.varies || n.sub != nil {
		b.WriteString("?" + strconv.Itoa(int(n.at.From)))
	}
	b.WriteString(n.name)
	if n.kind == isColumn {
		b.WriteString(strconv.Itoa(n.slot))
	}
	if len(n.args) == 0 {
		return
	}
	b.WriteByte('(')
	for _, a := range n.args {
		a.writeKey(b)
		b.WriteByte(',')
	}
	b.WriteByte(')')
}

// slots are those that the node reads, below subqueries too.
func (n *node) slots() set {
	var s set
	n.addSlots(&s)
	return s
}

func (n *node) addSlots(s *set) {
	if n.kind == isColumn {
		s.add(n.slot)
	}
	if n.sub != nil {
		s.addAll(n.sub.free())
	}
	for _, a := range n.args {
		a.addSlots(s)
	}
}

// walk visits a node and what is below it.
func (n *node) walk(visit func(*node)) {
	visit(n)
	for _, a := range n.args {
		a.walk(visit)
	}
}

// constant reports whether the node has the same value always, whatever the session does.
func (n *node) constant() bool {
	ok := true
	n.walk(func(x *node) {
		if x.kind == isColumn || x.kind == isVariable || x.varies || x.session || x.sub != nil {
			ok = false
		}
	})
	return ok
}

// hasSubquery reports whether other statements may be executed when the node is computed: there is a subquery in it, or
// a call of a function of the user's.
func (n *node) hasSubquery() bool {
	found := false
	n.walk(func(x *node) { found = found || x.sub != nil || x.calls })
	return found
}

// isVolatile reports whether computing the node twice may yield two values.
func (n *node) isVolatile() bool {
	found := false
	n.walk(func(x *node) { found = found || x.varies })
	return found
}

// replace returns the node with columns replaced.
func (n *node) replace(by map[int]*node) *node {
	if n.kind == isColumn {
		if r := by[n.slot]; r != nil {
			return r
		}
		return n
	}
	changed := false
	args := make([]*node, len(n.args))
	for i, a := range n.args {
		args[i] = a.replace(by)
		changed = changed || args[i] != a
	}
	if !changed {
		return n
	}
	out := *n
	out.args = args
	return &out
}

// isTruth reports whether the node is a condition.
func (n *node) isTruth() bool { return n.truth != nil }

// columnNode is a reference to a slot.
func columnNode(slot int, t value.Type, nullable bool) *node {
	return &node{
		kind: isColumn, name: "#", typ: t, label: value.Implicit, nullable: nullable, slot: slot,
		value: func([]code) execute.Expr {
			return func(r *execute.Run) (execute.Value, error) { return r.Slots[slot], nil }
		},
	}
}

// constantNode is a value.
func constantNode(v value.Value, t value.Type) *node {
	return &node{
		kind: isConstant, name: "=" + t.String() + ":" + v.String(), typ: t, nullable: v.IsNull(),
		value: func([]code) execute.Expr {
			return func(*execute.Run) (execute.Value, error) { return v, nil }
		},
	}
}

// constantValue returns the value of a constant.
func (n *node) constantValue() (value.Value, bool) {
	if n.kind != isConstant {
		return value.Value{}, false
	}
	v, err := n.value(nil)(nil)
	return v, err == nil
}

// conjuncts splits a condition at its ANDs.
func conjuncts(list []*node, n *node) []*node {
	if n == nil {
		return list
	}
	if n.kind == isAnd {
		for _, a := range n.args {
			list = conjuncts(list, a)
		}
		return list
	}
	return append(list, n)
}

// slotsOf are the slots that a list of nodes reads.
func slotsOf(list ...*node) set {
	var s set
	for _, n := range list {
		if n != nil {
			n.addSlots(&s)
		}
	}
	return s
}
