package vet

import (
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// index is one index of a table or table type, however it was written: as a constraint of a column or a table, as an
// inline INDEX, or by CREATE INDEX. Columnstore indexes are left out, for none of the rules about keys concerns them.
type index struct {
	u  *unit     // where it was written
	at diag.Span // what is shown of it: the constraint, or the index's name

	// name is empty for a constraint without one, whose name the server makes up.
	name string
	// table is the name of the table or table type, as the catalog has it if it knows it.
	table catalog.Name
	// columns are the key's, without those that are merely included.
	columns []syntax.IndexColumn
	// clustered says that the index is the table itself, by a word or by default.
	clustered bool
	options   []syntax.Option
	// def is the table's definition, nil if the catalog doesn't know it.
	def *catalog.Table
	// isType marks indexes of table types, which are never shared between sessions.
	isType bool
}

// column returns a column of the table by its name; nil if it isn't known.
func (ix *index) column(name string) *catalog.Column {
	if ix.def == nil {
		return nil
	}
	return ix.def.Column(name)
}

// collectIndexes finds the indexes of all scripts, in the order of the text. Those of ALTER TABLE ADD and CREATE
// INDEX are on tables that another script may define, and of which the catalog may know nothing.
func collectIndexes(s *session) []index {
	var out []index
	for _, u := range s.units {
		syntax.Walk(u.node, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.CreateTable:
				out = append(out, u.defined(n.Name, n.Def, false)...)
			case *syntax.AlterTable:
				out = append(out, u.defined(n.Name, n.Add, false)...)
			case *syntax.CreateType:
				out = append(out, u.defined(n.Name, n.Table, true)...)
			case *syntax.CreateIndex:
				if !n.Columnstore {
					ix := u.index(n.Table, n.Columns, n.Options, false)
					ix.at, ix.name, ix.clustered = n.Name.Span, n.Name.Value, n.Clustered
					out = append(out, ix)
				}
			}
			return true
		})
	}
	return out
}

// index makes an index on a table by its name. The name alone must do for a table that the catalog doesn't know:
// options name tables, too.
func (u *unit) index(table *syntax.ObjectName, columns []syntax.IndexColumn, options []syntax.Option, isType bool) index {
	ix := index{u: u, columns: columns, options: options, isType: isType, table: catalog.Name{Name: table.Last().Value}}
	// Temp tables and tables of other databases end here.
	key, ok := u.key(table)
	if !ok {
		return ix
	}
	ix.table, _ = u.catalog.Resolve(table)
	if isType {
		ix.def = u.catalog.TableTypes[key]
	} else {
		ix.def = u.catalog.Tables[key]
	}
	return ix
}

// defined returns the keys and indexes in a table's definition.
func (u *unit) defined(table *syntax.ObjectName, def *syntax.TableDef, isType bool) []index {
	if def == nil {
		return nil
	}
	var out []index
	// PRIMARY KEY and UNIQUE make an index. The primary key's is clustered unless something says otherwise, which is
	// why clusteredOnce has another look.
	constraint := func(c *syntax.Constraint, columns []syntax.IndexColumn) {
		if c.Kind != "PRIMARY KEY" && c.Kind != "UNIQUE" {
			return
		}
		ix := u.index(table, columns, c.Options, isType)
		ix.at = c.Span
		if c.Name != nil {
			ix.name = c.Name.Value
		}
		ix.clustered = c.Clustered || c.Kind == "PRIMARY KEY" && !syntax.HasOption(c.Options, "NONCLUSTERED")
		out = append(out, ix)
	}
	inline := func(d *syntax.IndexDef, columns []syntax.IndexColumn) {
		ix := u.index(table, columns, d.Options, isType)
		ix.at, ix.name, ix.clustered = d.Name.Span, d.Name.Value, d.Clustered
		out = append(out, ix)
	}
	for i := range def.Columns {
		column := &def.Columns[i]
		// A constraint behind a column names no columns: it is on that column.
		own := []syntax.IndexColumn{{Span: column.Name.Span, Name: column.Name}}
		for j := range column.Constraint {
			constraint(&column.Constraint[j], own)
		}
		if column.Index != nil {
			inline(column.Index, own)
		}
	}
	for i := range def.Constraints {
		constraint(&def.Constraints[i], def.Constraints[i].Columns)
	}
	for i := range def.Indexes {
		if d := &def.Indexes[i]; !syntax.HasOption(d.Options, "COLUMNSTORE") {
			inline(d, d.Columns)
		}
	}
	return clusteredOnce(out)
}

// clusteredOnce takes the default away from a primary key when another index of the table is clustered. A table has
// one clustered index at most, and one that is written out wins over the default. Whether CLUSTERED was written can
// only be seen in the text: the tree has the same value for both.
func clusteredOnce(list []index) []index {
	n := 0
	for _, ix := range list {
		if ix.clustered {
			n++
		}
	}
	if n < 2 {
		return list
	}
	for i := range list {
		text := list[i].u.script.File.Slice(list[i].at)
		if list[i].clustered && !containsWord(text, "CLUSTERED") && containsWord(text, "PRIMARY") {
			list[i].clustered = false
		}
	}
	return list
}
