package vet

import (
	"slices"
	"strconv"
	"strings"

	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/syntax"
)

// unparen removes parentheses around an expression.
func unparen(x syntax.Expr) syntax.Expr {
	for {
		p, ok := x.(*syntax.Paren)
		if !ok {
			return x
		}
		x = p.X
	}
}

// intValue returns the value of a whole number, with its sign.
func intValue(x syntax.Expr) (int64, bool) {
	sign := int64(1)
	if u, ok := unparen(x).(*syntax.Unary); ok && (u.Op == "-" || u.Op == "+") {
		x = u.X
		if u.Op == "-" {
			sign = -1
		}
	}
	l, ok := unparen(x).(*syntax.Literal)
	if !ok || l.Kind != syntax.IntLiteral {
		return 0, false
	}
	n, err := strconv.ParseInt(l.Value, 10, 64)
	return sign * n, err == nil
}

// callName returns the name of a built-in function in upper case; that of a function of the user's is qualified and
// gives "".
func callName(c *syntax.Call) string {
	if len(c.Name.Parts) != 1 {
		return ""
	}
	return strings.ToUpper(c.Name.Parts[0].Value)
}

// calls says whether a built-in function is called anywhere in a node.
func calls(n syntax.Node, function string) bool {
	for c := range syntax.All[*syntax.Call](n) {
		if callName(c) == function {
			return true
		}
	}
	return false
}

// systemVariable says whether @@name is read anywhere in a node.
func systemVariable(n syntax.Node, name string) bool {
	for v := range syntax.All[*syntax.SystemVariable](n) {
		if v.Name == name {
			return true
		}
	}
	return false
}

// conjuncts splits a condition at its ANDs. Parentheses around the parts are gone.
func conjuncts(x syntax.Expr) []syntax.Expr {
	x = unparen(x)
	if x == nil {
		return nil
	}
	if l, ok := x.(*syntax.Logical); ok && l.Op == "AND" {
		return append(conjuncts(l.X), conjuncts(l.Y)...)
	}
	return []syntax.Expr{x}
}

// target returns the source that a statement writes, and its tree node.
func (u *unit) target(s syntax.Stmt) (*tableSource, syntax.TableSource) {
	var t syntax.TableSource
	switch s := s.(type) {
	case *syntax.Insert:
		t = s.Target
	case *syntax.Update:
		t = s.Target
	case *syntax.Delete:
		t = s.Target
	case *syntax.Merge:
		t = s.Target
	default:
		return nil, nil
	}
	return u.sources[t], t
}

// writesStored says whether a statement changes rows of the database, rather than of a table variable or temp table.
func (u *unit) writesStored(s syntax.Stmt) bool {
	switch s := s.(type) {
	case *syntax.Truncate:
		return !strings.HasPrefix(last(s.Table).Value, "#")
	case *syntax.SelectStmt:
		for b := range syntax.All[*syntax.Select](s) {
			if b.Into != nil && !strings.HasPrefix(last(b.Into).Value, "#") {
				return true
			}
		}
		return false
	}
	source, _ := u.target(s)
	return source != nil && (source.kind == objectSource || source.kind == querySource)
}

// writes returns the statements of a unit that change stored rows, in the order of the text.
func (u *unit) writes() []syntax.Stmt {
	var out []syntax.Stmt
	for s := range syntax.All[syntax.Stmt](u.node) {
		if u.writesStored(s) {
			out = append(out, s)
		}
	}
	return out
}

// tableName returns the name of a stored table, "" in both parts for anything else.
func (s *tableSource) tableName() catalog.Name {
	switch {
	case s == nil || s.kind != objectSource:
		return catalog.Name{}
	case s.table != nil:
		return s.table.Name
	case s.ref != nil && len(s.ref.Name.Parts) == 2:
		return catalog.Name{Schema: s.ref.Name.Parts[0].Value, Name: s.ref.Name.Parts[1].Value}
	case s.ref != nil:
		return catalog.Name{Name: last(s.ref.Name).Value}
	default:
		return catalog.Name{}
	}
}

// hinted says whether a table is read with one of the hints.
func hinted(t *syntax.TableRef, hints ...string) bool {
	return slices.ContainsFunc(t.Hints, func(h syntax.Option) bool { return slices.Contains(hints, h.Name) })
}
