// Package lookup finds what a name in a query means, for those who type queries and for those who run them: the
// generator's analysis and the test server's binder. What a table and a scope are besides is theirs to say.
package lookup

import "github.com/duroxide/duroxide-go/tsql/internal/syntax"

// A Clause is where in a query an expression stands. It decides what may stand there.
type Clause string

// The clauses, as messages name them.
const (
	Outside   Clause = "" // of a query
	InFrom    Clause = "FROM"
	InOn      Clause = "ON"
	InWhere   Clause = "WHERE"
	InGroupBy Clause = "GROUP BY"
	InHaving  Clause = "HAVING"
	InWindow  Clause = "a window function" // its arguments, and what OVER names
	InList    Clause = "the select list"
	InOrderBy Clause = "ORDER BY"
	InSet     Clause = "SET"
	InValues  Clause = "VALUES"
	InOutput  Clause = "OUTPUT"
	InTop     Clause = "TOP"
	InOffset  Clause = "OFFSET"
	InDefault Clause = "a column's definition"
)

// String names the clause in a message.
func (c Clause) String() string {
	if c == Outside {
		return "an expression outside a query"
	}
	return string(c)
}

// Aggregates reports whether an aggregate may stand in the clause.
func (c Clause) Aggregates() bool {
	return c == InList || c == InHaving || c == InOrderBy || c == InWindow
}

// Windows reports whether a window function may stand in the clause.
func (c Clause) Windows() bool { return c == InList || c == InOrderBy }

// A Table is a table of a FROM clause, as names refer to it.
type Table interface {
	comparable
	// Exposed returns the name that columns can be qualified with, which is empty if nothing can, and the schema of a
	// table without an alias.
	Exposed() (name, schema string)
	// Width is how many columns there are, and NameOf the name of one; it may be empty.
	Width() int
	NameOf(i int) string
}

// A Place is a column of a table. Two references are the same column if they are the same place, whether one is written
// with the alias and the other without.
type Place[T Table] struct {
	Table  T
	Column int
}

// A Level is what an expression sees of one query. Those of the queries around it are for its user to keep.
type Level[T Table] struct {
	Sources []T // the tables of FROM
	Clause  Clause
	Windows []syntax.NamedWindow
	// InAggregate says that the argument of an aggregate is looked at: there the rows are those that are grouped.
	InAggregate bool
	Exists      bool // directly below EXISTS, where * stands for no columns
}

// Window returns the window that the WINDOW clause has under a name; nil if there is none. same compares names.
func (l *Level[T]) Window(name string, same func(a, b string) bool) *syntax.Window {
	for _, n := range l.Windows {
		if same(n.Name.Value, name) {
			return n.Window
		}
	}
	return nil
}

// Qualified returns the tables that a qualifier may mean; all without one. same compares names.
func (l *Level[T]) Qualified(qualifier []syntax.Ident, same func(a, b string) bool) []T {
	n := len(qualifier)
	if n == 0 {
		return l.Sources
	}
	var found []T
	for _, t := range l.Sources {
		name, schema := t.Exposed()
		if name == "" || !same(name, qualifier[n-1].Value) {
			continue
		}
		if n == 1 || schema != "" && same(schema, qualifier[n-2].Value) {
			found = append(found, t)
		}
	}
	return found
}

// Find returns the columns that a reference may mean, and the tables that were searched.
func (l *Level[T]) Find(ref *syntax.ColumnRef, same func(a, b string) bool) (places []Place[T], tables []T) {
	name := ref.Last().Value
	tables = l.Qualified(ref.Parts[:len(ref.Parts)-1], same)
	for _, t := range tables {
		for i := range t.Width() {
			if column := t.NameOf(i); column != "" && same(column, name) {
				places = append(places, Place[T]{t, i})
			}
		}
	}
	return places, tables
}
