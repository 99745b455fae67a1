package analyze

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/lookup"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// fullTextTable types CONTAINSTABLE and FREETEXTTABLE: the key of each row that is found, and its rank.
//
//	CONTAINSTABLE (dbo.pages, (title, body), @words, 10)     -- KEY, of the type of the key's column, and RANK
func (a *analyzer) fullTextTable(s *scope, c *syntax.Call) relation {
	broken := relation{bad: true}
	ref, ok := c.Args[0].(*syntax.ColumnRef)
	if !ok {
		return broken
	}
	name := &syntax.ObjectName{Span: ref.Span, Parts: ref.Parts}
	src := a.tableRef(s, &syntax.TableRef{Span: ref.Span, Name: name})
	if src.bad {
		return broken
	}
	of := &scope{env: s.env, level: level{Sources: []*source{src}, Clause: lookup.InFrom}}
	for _, arg := range c.Args[1:] {
		if column, ok := arg.(*syntax.ColumnRef); ok {
			a.expr(of, column)
		} else {
			a.expr(s, arg)
		}
	}
	key, why, fix := a.fullTextKey(src, syntax.Dotted(ref.Parts))
	if key < 0 {
		a.failGap(s.env, c.Name.Span, fix+", or exclude the procedure", "the column KEY of %s is not known: %s",
			strings.ToUpper(c.Name.Last().Value), why)
		return broken
	}
	return relation{
		columns: []Column{
			{Name: "KEY", Type: src.columns[key].Type, Span: c.Span},
			{Name: "RANK", Type: typeInt, Span: c.Span},
		},
		keys: [][]string{{"KEY"}},
	}
}

// fullTextKey returns the column that tells apart the rows of a table in its full-text index, or -1 with the reason why
// that isn't known, and what to do. The name of a constraint that has none in the scripts is one that the server has
// made.
func (a *analyzer) fullTextKey(src *source, called string) (column int, why, fix string) {
	index, there := "", false
	if src.table != nil {
		index, there = a.cat.FullText[src.table.Name.Key()]
	}
	if !there {
		return -1, "no script makes a full-text index of " + called, "name the script that has CREATE FULLTEXT INDEX ON " + called
	}
	var columns []string
	for _, k := range src.table.Keys {
		if same(k.Name, index) || k.Name == "" && k.Primary && strings.HasPrefix(catalog.Fold(index), "pk__") {
			columns = k.Columns
		}
	}
	for _, i := range src.table.Indexes {
		if i.Unique && same(i.Name, index) {
			columns = i.Columns
		}
	}
	if len(columns) != 1 {
		return -1, "no script makes " + index + ", the key of the full-text index of " + called, "name the script that makes it, of one column"
	}
	return slices.IndexFunc(src.columns, func(c Column) bool { return same(c.Name, columns[0]) }), "", ""
}
