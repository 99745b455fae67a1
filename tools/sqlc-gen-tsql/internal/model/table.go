package model

import (
	"fmt"
	"strings"

	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/analyze"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/sqltype"
)

// table builds the struct of a table type, once.
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
	b.tables[t] = table
	b.claim(b.exported, t.Place, table.Name, "the table type "+t.Name.String())
	if b.pkg.Tables == TablesTVP && strings.ContainsAny(t.Name.Schema+t.Name.Name, ".[]") {
		b.found.Add(t.File, t.Span, "name", "rename it, or use the option tables: json",
			"the driver can't name the table type %s", t.Name)
	}
	fields := scope{}
	for _, c := range t.Columns {
		b.tableColumn(t, table, fields, c)
	}
	if len(table.Fields) == 0 {
		b.found.Add(t.File, t.Span, "type", "give it a column that is not filled in by the server",
			"the table type %s has no column to be sent", t.Name)
	}
	table.texts(t)
	b.pkg.Types = append(b.pkg.Types, table)
	sortTables(b.pkg.Types)
	return table
}

// tableColumn adds a column to the struct of a table type.
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
	if tvp := g.TVP; b.pkg.Tables == TablesTVP && (tvp == "" || c.Nullable && g.TVPNull == "") {
		b.found.Add(at.File, at.Span, "type", "use the option tables: json",
			"the driver can't send column %s of the table type %s, %s that may be NULL: %t, without loss", c.Name, t.Name, g.Decl, c.Nullable)
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

// texts writes the parts of the INSERT that fills a table variable from a document, which has an array for each row.
func (t *Table) texts(def *catalog.Table) {
	var columns, values, with []string
	for _, c := range def.Columns {
		i := len(columns)
		if i == len(t.Fields) {
			break
		}
		if column := t.sent(c.Name); column == nil {
			continue
		}
		name := quote(c.Name)
		columns = append(columns, name)
		value, decl := name, declaration(c.Type)
		switch c.Type.Kind {
		case sqltype.Binary, sqltype.VarBinary:
			// Hexadecimal digits rather than base64: not every server decodes that.
			value, decl = fmt.Sprintf("CONVERT(%s, %s, 1)", decl, name), "varchar(max)"
		case sqltype.Image:
			value, decl = fmt.Sprintf("CONVERT(varbinary(max), %s, 1)", name), "varchar(max)"
		case sqltype.Text:
			decl = "varchar(max)"
		case sqltype.NText, sqltype.XML:
			decl = "nvarchar(max)"
		}
		values = append(values, value)
		with = append(with, fmt.Sprintf("%s %s '$[%d]'", name, decl, i))
	}
	t.columns, t.values, t.with = list(columns), list(values), list(with)
}

// list joins items in lines of a readable length.
func list(items []string) string {
	var out strings.Builder
	width := 0
	for i, item := range items {
		switch {
		case i == 0:
		case width+len(item) > docWidth:
			out.WriteString(",\n    ")
			width = 0
		default:
			out.WriteString(", ")
		}
		out.WriteString(item)
		width += len(item) + 2
	}
	return out.String()
}

// sent returns the column of that name unless it is skipped.
func (t *Table) sent(name string) *TableColumn {
	for i, c := range t.Columns {
		if c.Name == name && !c.Skipped {
			return &t.Columns[i]
		}
	}
	return nil
}
