package syntax

import (
	"iter"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
)

// Range returns the span of the whole file, so that a script can be walked like any part of it.
func (s *Script) Range() diag.Span { return diag.Span{To: diag.Pos(len(s.File.Text))} }

// Walk calls visit for a node and, when that returns true, for everything below it, in the order of the text. Parts
// that are values of their parent (a SelectItem, an Ident, an Option) are visited as pointers into it, so that a type
// switch has one form and a node one identity. Comments belong to no statement and are not visited.
func Walk(node Node, visit func(Node) bool) {
	Inspect(node, visit, func(Node) {})
}

// Inspect is Walk with a second function that is called after everything below a node was visited. It is not called for
// nodes that enter refused.
// Between the two calls for a node everything below it is visited, so a caller can keep a stack.
func Inspect(node Node, enter func(Node) bool, leave func(Node)) {
	if node == nil || !enter(node) {
		return
	}
	children(node, func(child Node) { Inspect(child, enter, leave) })
	leave(node)
}

// A visitor receives the direct children of a node.
type visitor func(Node)

// walkOne visits a node that may be nil.
func walkOne[N interface {
	comparable
	Node
}](v visitor, n N) {
	var none N
	if n != none {
		v(n)
	}
}

// walkEach visits the elements of a list of values.
func walkEach[T any, P interface {
	*T
	Node
}](v visitor, parts []T) {
	for i := range parts {
		v(P(&parts[i]))
	}
}

// walkList visits the elements of a list of nodes.
func walkList[N interface {
	comparable
	Node
}](v visitor, nodes []N) {
	for _, n := range nodes {
		walkOne(v, n)
	}
}

// walkPairs visits the nodes of a list, each after its key if there is one.
func walkPairs(v visitor, keys, nodes []Expr) {
	for i, n := range nodes {
		if i < len(keys) {
			v(keys[i])
		}
		v(n)
	}
}

// All yields every node of type N at or below a node, parents before children:
//
//	for throw := range syntax.All[*syntax.Throw](procedure) { … }
//
// Breaking off the loop ends the search.
func All[N Node](node Node) iter.Seq[N] {
	return func(yield func(N) bool) {
		more := true
		Walk(node, func(n Node) bool {
			if found, ok := n.(N); ok && more {
				more = yield(found)
			}
			return more
		})
	}
}

// Unparen takes the parentheses off an expression, for those who look at what is meant: (@a) = (1) is @a = 1. It takes
// and returns nil, too.
func Unparen(x Expr) Expr {
	for {
		p, ok := x.(*Paren)
		if !ok {
			return x
		}
		x = p.X
	}
}
