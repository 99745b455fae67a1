package vet

import (
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/analyze"
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// intValue returns the value of a whole number, with its sign. ok is false for anything else, a constant expression
// such as 60 * 60 included: rules that need its value leave it alone.
func intValue(x syntax.Expr) (int64, bool) {
	sign := int64(1)
	if u, ok := syntax.Unparen(x).(*syntax.Unary); ok && (u.Op == "-" || u.Op == "+") {
		x = u.X
		if u.Op == "-" {
			sign = -1
		}
	}
	l, ok := syntax.Unparen(x).(*syntax.Literal)
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

// readsErrorNumber reports whether ERROR_NUMBER() is called anywhere in a node.
func readsErrorNumber(n syntax.Node) bool {
	for c := range syntax.All[*syntax.Call](n) {
		if callName(c) == "ERROR_NUMBER" {
			return true
		}
	}
	return false
}

// systemVariable says whether @@name is read anywhere in a node. The parser keeps their names in upper case.
func systemVariable(n syntax.Node, name string) bool {
	for v := range syntax.All[*syntax.SystemVariable](n) {
		if v.Name == name {
			return true
		}
	}
	return false
}

// fixesKey says whether equalities among the comparisons fix all columns of one of a table's keys, so that at most one
// row is meant for each row of whatever the columns are compared with.
func (u *unit) fixesKey(source *analyze.ReadTable, comparisons iter.Seq[*syntax.Compare]) bool {
	fixed := u.fixed(source, comparisons)
	return slices.ContainsFunc(source.Table.Keys, func(k catalog.Key) bool { return covers(fixed, k.Columns) })
}

// fixed are the columns of a table, folded, that comparisons say the value of.
func (u *unit) fixed(source *analyze.ReadTable, comparisons iter.Seq[*syntax.Compare]) map[string]bool {
	fixed := map[string]bool{}
	for c := range comparisons {
		if c.Op != "=" {
			continue
		}
		for _, side := range []syntax.Expr{c.X, c.Y} {
			// The column must be this table's: the key of a joined one says nothing about how many rows of this one
			// match.
			if ref, ok := syntax.Unparen(side).(*syntax.ColumnRef); ok && u.Refs[ref].Source == source && u.Refs[ref].Column != nil {
				fixed[catalog.Fold(u.Refs[ref].Column.Name)] = true
			}
		}
	}
	return fixed
}

// covers says whether all columns of a key are fixed.
func covers(fixed map[string]bool, key []string) bool {
	return len(key) > 0 && !slices.ContainsFunc(key, func(c string) bool { return !fixed[catalog.Fold(c)] })
}

// target returns the source that a statement writes, and its tree node. Both are nil for statements that write
// nothing of the kind.
func (u *unit) target(s syntax.Stmt) (*analyze.ReadTable, syntax.TableSource) {
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
	return u.Tables[t], t
}

// writesStored says whether a statement changes rows of the database, rather than of a table variable or temp table.
// A view, a CTE and a derived table count: writing through one changes the table behind. Names with # are temp
// tables, which no other session sees, so that no rule about locks and transactions concerns them.
func (u *unit) writesStored(s syntax.Stmt) bool {
	switch s := s.(type) {
	case *syntax.Truncate:
		return !s.Table.IsTemp()
	case *syntax.SelectStmt:
		for b := range syntax.All[*syntax.Select](s) {
			if b.Into != nil && !b.Into.IsTemp() {
				return true
			}
		}
		return false
	}
	source, _ := u.target(s)
	return source != nil && (source.Kind == analyze.StoredTable || source.Kind == analyze.QueryTable)
}

// writes returns the statements of a unit that change stored rows, in the order of the text. Statements inside of
// others are found as well, each once.
func (u *unit) writes() []syntax.Stmt {
	var out []syntax.Stmt
	for s := range syntax.All[syntax.Stmt](u.node) {
		if u.writesStored(s) {
			out = append(out, s)
		}
	}
	return out
}

// hinted says whether a table is read with one of the hints. The parser keeps the names of hints in upper case.
func hinted(t *syntax.TableRef, hints ...string) bool {
	return slices.ContainsFunc(t.Hints, func(h syntax.Option) bool { return slices.Contains(hints, h.Name) })
}

// is says whether a node has a type, for conditions in which nothing else of it matters.
func is[N syntax.Node](n syntax.Node) bool {
	_, ok := n.(N)
	return ok
}
