package model

import (
	"fmt"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// A document is the JSON that carries rows: an array with an object for each, whose members are c0, c1 and so on.
// Package runtime writes it; what is here reads it, and both must agree on how each type is spelled.
type document struct {
	param   string // that it comes in
	columns []documentColumn
}

// A documentColumn is a column that a document carries.
type documentColumn struct {
	name string // in T-SQL
	sql  sqltype.Type
}

// decl is the type that OPENJSON reads a value as.
func (c documentColumn) decl() string {
	switch c.sql.Kind {
	case sqltype.Text, sqltype.NText, sqltype.XML, sqltype.Image:
		return "nvarchar(max)"
	case sqltype.Char, sqltype.VarChar, sqltype.NChar, sqltype.NVarChar:
		return nvarchar(c.sql.Length)
	case sqltype.Binary, sqltype.VarBinary:
		if c.sql.Length == sqltype.Max {
			return "nvarchar(max)"
		}
		return nvarchar(2 + 2*c.sql.Length) // digits behind 0x
	default:
		return declaration(c.sql)
	}
}

// nvarchar writes the type of texts of so many characters.
func nvarchar(length int) string {
	const most = 4000 // what a length can be, besides max
	if length == sqltype.Max || length > most {
		return "nvarchar(max)"
	}
	return fmt.Sprintf("nvarchar(%d)", length)
}

// value writes how a value becomes that of the column. Binary ones come as hexadecimal digits.
func (c documentColumn) value() string {
	value := "w." + quote(c.name)
	switch c.sql.Kind {
	case sqltype.Image:
		return "CONVERT(varbinary(max), " + value + ", 1)"
	case sqltype.Binary, sqltype.VarBinary:
		return fmt.Sprintf("CONVERT(%s, %s, 1)", declaration(c.sql), value)
	default:
		return value
	}
}

// insert writes the INSERT of a document's rows into a table variable; number is a column that takes their numbers,
// from 0, or is empty. Only the plain form of OPENJSON numbers the rows.
func (d document) insert(table, number string) string {
	var columns, values, with []string
	from := "OPENJSON(@" + d.param + ")"
	if number != "" {
		columns, values = []string{number}, []string{"CAST(r.[key] AS int)"}
		from += " AS r\nCROSS APPLY OPENJSON(r.[value])"
	}
	for i, c := range d.columns {
		columns = append(columns, quote(c.name))
		values = append(values, c.value())
		with = append(with, fmt.Sprintf("%s %s '$.c%d'", quote(c.name), c.decl(), i))
	}
	return "INSERT INTO @" + table + " (" + list(columns) + ")\nSELECT " + list(values) + "\nFROM " + from +
		" WITH (\n    " + list(with) + "\n) AS w;\n"
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

// document is the JSON of a table argument.
func (a Arg) document() document {
	d := document{param: a.Document}
	for _, c := range a.Table.Columns {
		if !c.Skipped {
			d.columns = append(d.columns, documentColumn{c.Name, c.Type.SQL})
		}
	}
	return d
}

// The parameters of a :batch, and the variables that it runs with.
const (
	batchDocument = "gen_json"
	batchChanged  = "gen_changed"
)

// repeated returns the T-SQL around a statement that makes it run once for each row of a document, in front of it and
// behind it. The statement finds its parameters as variables.
func repeated(args []Arg) (before, after string) {
	d := document{param: batchDocument}
	var columns, variables, assigned []string
	for _, a := range args {
		d.columns = append(d.columns, documentColumn{a.Name, a.Type.SQL})
		decl := a.Type.Decl
		switch a.Type.SQL.Kind {
		// Variables can't be of these types.
		case sqltype.Text:
			decl = "varchar(max)"
		case sqltype.NText:
			decl = "nvarchar(max)"
		case sqltype.Image:
			decl = "varbinary(max)"
		default:
		}
		columns = append(columns, quote(a.Name)+" "+decl)
		variables = append(variables, "@"+a.Name+" "+decl)
		assigned = append(assigned, "@"+a.Name+" = "+quote(a.Name))
	}
	// A loop rather than a cursor: it is as fast over a thousand rows, and a statement may use @@FETCH_STATUS itself.
	before = "SET NOCOUNT ON;\nDECLARE @gen_rows TABLE (gen_row int NOT NULL PRIMARY KEY, " + list(columns) + ");\n" +
		"BEGIN TRY\n" + d.insert("gen_rows", "gen_row") +
		"DECLARE @gen_row int = 0, @gen_count int = (SELECT COUNT(*) FROM @gen_rows), " + list(variables) + ";\n" +
		"SET @" + batchChanged + " = 0;\nWHILE @gen_row < @gen_count\nBEGIN\n" +
		"SELECT " + list(assigned) + " FROM @gen_rows WHERE gen_row = @gen_row;\n"
	// An error does not end a batch by itself: THROW does.
	after = "\nSET @" + batchChanged + " = @" + batchChanged + " + @@ROWCOUNT;\nSET @gen_row = @gen_row + 1;\nEND;\n" +
		"END TRY\nBEGIN CATCH\nTHROW;\nEND CATCH"
	return before, after
}
