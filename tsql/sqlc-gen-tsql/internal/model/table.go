package model

import (
	"fmt"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/analyze"
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// table builds the struct of a table type, once: those that parameters use, and those that none does yet.
func (b *builder) table(t *catalog.Table) *Table {
	if known := b.tables[t]; known != nil {
		return known
	}
	goName := b.name(t.Place, t.Name.Schema, t.Name.Name)
	table := &Table{
		Struct:    Struct{Name: goName + "Row", Doc: "is a row of the table type " + t.Name.String() + "."},
		SQLName:   t.Name.String(),
		Text:      quote(t.Name.Schema) + "." + quote(t.Name.Name),
		Schema:    analyze.SchemaName{From: 0, To: len(quote(t.Name.Schema)), Schema: t.Name.Schema},
		Statement: "type" + goName,
	}
	if t.Doc != "" {
		table.Doc += "\n\n" + t.Doc
	}
	b.tables[t] = table // also if there are findings: they are reported once
	b.claim(b.exported, t.Place, table.Name, "the table type "+t.Name.String())
	if b.pkg.Tables != TablesJSON && strings.ContainsAny(t.Name.Schema+t.Name.Name, ".[]") {
		b.found.Add(t.File, t.Span, "name", "rename it, or use the option tables: json",
			"the driver can't name the table type %s", t.Name)
	}
	fields, before := scope{}, len(b.found)
	for _, c := range t.Columns {
		b.tableColumn(t, table, fields, c)
	}
	if len(table.Fields) == 0 && len(b.found) == before {
		b.found.Add(t.File, t.Span, "type", "give it a column that is not filled in by the server",
			"the table type %s has no column to be sent", t.Name)
	}
	b.pkg.Types = append(b.pkg.Types, table)
	sortTables(b.pkg.Types)
	return table
}

// nullness writes whether NULL is allowed as a definition does.
func nullness(nullable bool) string {
	if nullable {
		return "NULL"
	}
	return "NOT NULL"
}

// tableColumn adds a column to the struct of a table type, unless the server fills it in: identity, computed and
// generated columns and rowversions can't be inserted.
func (b *builder) tableColumn(t *catalog.Table, table *Table, fields scope, c catalog.Column) {
	at := catalog.Place{File: t.File, Span: c.Span}
	column := TableColumn{
		Name:     c.Name,
		Nullable: c.Nullable,
		Skipped:  c.Identity || c.Computed || c.Generated || c.Type.Kind == sqltype.RowVersion,
	}
	if column.Skipped {
		column.Type, _ = goType(c.Type)
		table.Columns = append(table.Columns, column)
		return
	}
	g, ok := b.typeOf(at, fmt.Sprintf("column %s of the table type %s", c.Name, t.Name), analyze.Param{Type: c.Type})
	if !ok {
		return
	}
	if tvp := g.TVP; b.pkg.Tables != TablesJSON && (tvp == "" || c.Nullable && g.TVPNull == "") {
		b.found.Add(at.File, at.Span, "type", "use the option tables: json",
			"the driver can't send column %s of the table type %s without loss: it is %s %s", c.Name, t.Name, g.Decl, nullness(c.Nullable))
	}
	column.SQLNull = b.pkg.Nulls == NullsSQL
	column.Field, column.Type = b.name(at, t.Name.String(), c.Name), g
	b.claim(fields, at, column.Field, "column "+c.Name)
	goType := g.Name
	if c.Nullable {
		goType = b.pkg.nullable(g)
	}
	table.Columns = append(table.Columns, column)
	table.Fields = append(table.Fields, Field{Name: column.Field, Type: goType, Doc: oneLine(c.Doc)})
}
