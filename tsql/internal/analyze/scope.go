package analyze

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/lookup"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// scope is what an expression sees. A subquery's scope has that of the query around it as its outer one.
//
// A scope is never changed once expressions have been typed in it; in and inner make copies. That keeps what ORDER BY
// may see, say, from leaking into WHERE, which is evaluated before it.
type scope struct {
	level

	env   *env
	outer *scope
	ctes  *cte
	group *grouping // the rows are groups; nil if they aren't
	merge bool      // OUTPUT of a MERGE, which has $action
}

// level is what a scope has of one query, and place a column of a source.
type (
	level = lookup.Level[*source]
	place = lookup.Place[*source]
)

// source is one table of a FROM clause.
//
// It has a relation of its own rather than a pointer to the table's, as an outer join makes its columns nullable for
// one query only.
type source struct {
	relation
	name   string // the alias, or else the table's own name; empty if it cannot be referred to
	schema string // of a table without an alias, which may be referred to as schema.table.column
	at     diag.Span
	table  *catalog.Table // of tables, temp tables and table variables
	// after lists the tables on whose rows it depends whether and which rows this one has: the other side of an outer
	// join, the left side of an APPLY.
	after   []*source
	lateral bool // right of an APPLY: its keys hold among the rows for one row of the left side
	// refined marks the columns of which WHERE has shown that they are not NULL.
	refined map[int]bool
	pseudo  bool    // inserted or deleted of an OUTPUT clause
	copyOf  *source // the same table of FROM, for another clause
}

// Exposed, Width and NameOf are what lookup asks of a table.
func (src *source) Exposed() (name, schema string) { return src.name, src.schema }
func (src *source) Width() int                     { return len(src.columns) }
func (src *source) NameOf(i int) string            { return src.columns[i].Name }

// cte is one common table expression; those defined before it follow.
//
// The list grows at its front, so that each expression sees those before it and none after it, as in
//
//	WITH a AS (SELECT 1 AS x), b AS (SELECT x FROM a) SELECT x FROM b
type cte struct {
	name  string
	rel   *relation
	outer *cte
}

// find looks a common table expression up.
func (c *cte) find(name string) *cte {
	for c != nil && !same(c.name, name) {
		c = c.outer
	}
	return c
}

// grouping is what a grouped query may refer to outside its aggregates.
//
// For SELECT YEAR(o.at), o.kind, COUNT(*) … GROUP BY YEAR(o.at), o.kind the columns are kind alone, and YEAR(o.at) is
// in items: the expression may be used as it stands, but o.at may not.
type grouping struct {
	columns  []place          // grouped columns
	items    map[string]typed // other grouped expressions by their fingerprint
	nullable bool             // ROLLUP and its like put NULL in place of grouped values
	whole    bool             // there is no GROUP BY: all rows are one group, which may be empty
}

// inner returns a scope for a query that stands in this one.
//
// It begins in FROM, the clause that is evaluated first. Whether the subquery may in fact see the outer one is for its
// place to say: a derived table does not, unless it is right of an APPLY.
func (s *scope) inner() *scope {
	return &scope{env: s.env, outer: s, ctes: s.ctes, level: level{Clause: lookup.InFrom}}
}

// in returns the scope as another clause of the same query sees it.
//
// Only directly below EXISTS, and there only in the select list, may * stand for no columns.
func (s *scope) in(c lookup.Clause) *scope {
	inner := *s
	inner.Clause = c
	inner.Exists = s.Exists && c == lookup.InList
	return &inner
}

// column types a reference to a column. Outside of aggregates, a grouped query has only the grouped ones; the check is
// the same for a subquery's reference to the grouped query around it.
func (a *analyzer) column(s *scope, ref *syntax.ColumnRef) typed {
	name := ref.Last().Value
	if strings.HasPrefix(name, "$") || len(ref.Parts) == 1 && !ref.Parts[0].Quoted && (same(name, "IDENTITYCOL") || same(name, "ROWGUIDCOL")) {
		return a.pseudoColumn(s, ref)
	}
	if len(ref.Parts) > 3 {
		return a.failName(s.env, ref.Span, "give the table an alias and write alias.column",
			"%s names a column through its database", syntax.Dotted(ref.Parts))
	}
	at, owner, ok := a.find(s, ref)
	if !ok {
		return typed{}
	}
	column := at.Table.columns[at.Column]
	t := typed{Type: column.Type, Nullable: column.Nullable, origin: column.origin}
	if at.Column < len(at.Table.params) {
		t.param = at.Table.params[at.Column]
	}
	if owner.group == nil || owner.InAggregate {
		return t
	}
	if !slices.Contains(owner.group.columns, at) {
		return a.fail(s.env, ref.Span, "add it to GROUP BY or put it into an aggregate",
			"%s is neither grouped nor aggregated", syntax.Dotted(ref.Parts))
	}
	t.Nullable = t.Nullable || owner.group.nullable
	return t
}

// find looks a column up from the inside out. It returns where it is and the scope that has it. A table found by its
// qualifier ends the search: a column that it lacks is unknown, whatever there is further out.
//
// An unqualified name is searched scope by scope, and the nearest one that has it wins. That is the trap of
//
//	WHERE id IN (SELECT order_id FROM dbo.customers)
//
// where order_id is a column of the outer table: right by the rules, so that no finding can be made of it here.
func (a *analyzer) find(s *scope, ref *syntax.ColumnRef) (place, *scope, bool) {
	name := ref.Last()
	a.names.look(s, ref)
	for at := s; at != nil; at = at.outer {
		places, candidates := at.Find(ref, same)
		switch {
		case len(places) > 0:
			a.names.refer(ref, places[0].Table)
		case len(ref.Parts) > 1 && len(candidates) > 0:
			a.names.refer(ref, candidates[0])
		}
		switch {
		case len(places) == 1:
			return places[0], at, true
		case len(places) > 1:
			a.failAmbiguous(s, ref, places)
			return place{}, nil, false
		case slices.ContainsFunc(candidates, func(src *source) bool { return src.bad }):
			return place{}, nil, false
		case len(ref.Parts) > 1 && len(candidates) > 0:
			a.failColumn(s.env, name, candidates[0], syntax.Dotted(ref.Parts[:len(ref.Parts)-1]))
			return place{}, nil, false
		}
	}
	a.failUnknownColumn(s, ref)
	return place{}, nil, false
}

// addColumn is the fix for a column that a table hasn't, if none of its columns has a similar name.
const addColumn = "name a column that is there, or add this one in a script of the table"

// failColumn reports a column that a table hasn't. Of the server's own views, not all are known.
func (a *analyzer) failColumn(e *env, name syntax.Ident, src *source, called string) {
	if src.isSystem() {
		a.failServer(e, name.Span, "", "column %s of %s is not known to the generator", name.Value, src.table.Name)
	} else {
		a.failName(e, name.Span, addColumn, "%s has no column %s", called, name.Value)
	}
	a.meant(name.Value, columnNames(src))
}

// isSystem reports the server's own views.
func (src *source) isSystem() bool { return src.table != nil && src.table.Name.IsSystem() }

// failAmbiguous reports a column that several tables have. That two tables have one name is reported by itself.
func (a *analyzer) failAmbiguous(s *scope, ref *syntax.ColumnRef, places []place) {
	x, y := places[0].Table, places[1].Table
	if len(ref.Parts) > 1 && same(x.name, y.name) && same(x.schema, y.schema) {
		return
	}
	var tables []string
	for _, p := range places {
		if p.Table.name != "" {
			tables = append(tables, p.Table.name)
		}
	}
	a.failName(s.env, ref.Span, "qualify it with the table's name or alias",
		"column %s is ambiguous: it is in %s", syntax.Dotted(ref.Parts), strings.Join(tables, " and "))
}

// failUnknownColumn reports a reference that no scope knows: the table is unknown, or the column. A variable of that
// name whose @ was forgotten is suggested too.
//
// A column may be followed by a property or a method in T-SQL (geography's c.Lat, xml's c.value), which looks like a
// qualified name; that is found out before anything is called unknown.
func (a *analyzer) failUnknownColumn(s *scope, ref *syntax.ColumnRef) {
	var sources []*source
	for at := s; at != nil; at = at.outer {
		sources = append(sources, at.Sources...)
	}
	name := ref.Last()
	if len(ref.Parts) > 2 && a.isColumn(s, ref.Parts[:len(ref.Parts)-1]) {
		a.fail(s.env, ref.Span, "CAST the column to text, or leave it to the client", "properties of columns (%s) aren't known to the generator", syntax.Dotted(ref.Parts))
		return
	}
	if n := len(ref.Parts); n > 2 && slices.ContainsFunc(sources, func(src *source) bool { return src.bad && same(src.name, ref.Parts[n-3].Value) }) {
		return // a property of a column, perhaps, of a table that is unknown
	}
	if len(ref.Parts) > 1 {
		qualifier := ref.Parts[len(ref.Parts)-2]
		a.failName(s.env, ref.Parts[0].Span.Until(qualifier.Span), "",
			"%s is no table of this statement", syntax.Dotted(ref.Parts[:len(ref.Parts)-1]))
		a.meant(qualifier.Value, func() []string {
			names := make([]string, len(sources))
			for i, src := range sources {
				names[i] = src.name
			}
			return names
		})
		return
	}
	fix := addColumn
	if _, ok := s.env.variable("@" + name.Value); ok {
		fix = "did you mean @" + name.Value + "?"
	}
	if len(sources) == 0 {
		if fix == addColumn {
			fix = "add a FROM clause, or put quotes around a text"
		}
		a.failName(s.env, ref.Span, fix, "column %s stands where no table is read", name.Value)
		return
	}
	if len(sources) == 1 && sources[0].isSystem() {
		a.failColumn(s.env, name, sources[0], "")
		return
	}
	a.failName(s.env, ref.Span, fix, "no table of this statement has a column %s", name.Value)
	a.meant(name.Value, columnNames(sources...))
}

// pseudoColumn types $action and $identity. The catalog doesn't record what the others stand for.
func (a *analyzer) pseudoColumn(s *scope, ref *syntax.ColumnRef) typed {
	name := strings.ToUpper(ref.Last().Value)
	switch {
	case name == "$ACTION" && s.merge:
		return typed{Type: nvarchar(10)}
	case name == "$ACTION":
		return a.failName(s.env, ref.Span, "", "$action is known only in the OUTPUT clause of MERGE")
	case name != "$IDENTITY" && name != "IDENTITYCOL":
		return a.failName(s.env, ref.Span, "name the column", "%s isn't supported", syntax.Dotted(ref.Parts))
	}
	for _, src := range s.Qualified(ref.Parts[:len(ref.Parts)-1], same) {
		if src.table == nil {
			continue
		}
		for _, c := range src.table.Columns {
			if c.Identity {
				return a.column(s, &syntax.ColumnRef{Span: ref.Span, Parts: []syntax.Ident{
					{Span: ref.Span, Value: src.name}, {Span: ref.Span, Value: c.Name},
				}})
			}
		}
	}
	return a.failName(s.env, ref.Span, "name the column", "no table of this statement has an identity column")
}

// columnNames returns a function that returns the names of all columns of the sources.
func columnNames(sources ...*source) func() []string {
	return func() []string {
		var names []string
		for _, src := range sources {
			for _, c := range src.columns {
				if c.Name != "" {
					names = append(names, c.Name)
				}
			}
		}
		return names
	}
}
