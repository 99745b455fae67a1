package model

import (
	"fmt"
	"strings"

	"github.com/duroxide/duroxide-go/internal/tsql/sqltype"
)

// A document is the JSON that carries rows: an array with an object for each, whose members are c0, c1 and so on. Package
// runtime writes it; what is here reads it, and both must agree on how each type is spelled.
type document struct {
	param   string // that it comes in
	columns []documentColumn
}

// A documentColumn is a column that a document carries.
type documentColumn struct {
	name string // in T-SQL
	sql  sqltype.Type
}

// jsonLimit is how many characters OPENJSON … WITH takes on every server. Babelfish cuts longer ones without a word, to
// which the default schema of OPENJSON is not subject.
const jsonLimit = 4000

// text says that a value is a string in which characters that JSON would escape are written otherwise.
func (c documentColumn) text() bool {
	switch c.sql.Kind {
	case sqltype.Char, sqltype.VarChar, sqltype.NChar, sqltype.NVarChar, sqltype.Text, sqltype.NText, sqltype.XML:
		return true
	default:
		return false
	}
}

// width is how many characters a string in the document can have: two digits for a byte, two characters for an escaped
// one. It is 0 for what is no string, or a short one, and [sqltype.Max] if there is no limit.
func (c documentColumn) width() int {
	switch {
	case c.sql.Kind == sqltype.Image, c.text() && c.sql.Length == 0, c.sql.Length == sqltype.Max:
		return sqltype.Max
	case c.text():
		return 2 * c.sql.Length
	case c.sql.Length > 0:
		return 2 + 2*c.sql.Length // behind 0x
	default:
		return 0
	}
}

// long says that the string may be longer than OPENJSON … WITH takes.
func (c documentColumn) long() bool { return c.width() == sqltype.Max || c.width() > jsonLimit }

// value writes where the value of column i comes from.
func (c documentColumn) value(i int) string {
	value := "w." + quote(c.name)
	if c.long() {
		value = fmt.Sprintf("v.c%d", i)
	}
	switch {
	case c.text():
		return unescape(value)
	case c.sql.Kind == sqltype.Image:
		return fmt.Sprintf("CONVERT(varbinary(max), %s, 1)", value)
	case c.width() != 0:
		// Hexadecimal digits rather than base64, which not every server decodes.
		return fmt.Sprintf("CONVERT(%s, %s, 1)", declaration(c.sql), value)
	default:
		return value
	}
}

// unescape undoes what package runtime does to strings. Babelfish takes the escapes of JSON for the characters that
// they are made of, so there are none: quotes, backslashes and line ends are written with a tilde.
func unescape(value string) string {
	text := value + " COLLATE Latin1_General_BIN2"
	return "CASE WHEN CHARINDEX(N'~', " + text + ") = 0 THEN " + value + " ELSE " +
		"REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(" + text + ", N'~1', N'\"'), N'~2', N'\\'), " +
		"N'~3', NCHAR(10)), N'~4', NCHAR(13)), N'~5', NCHAR(9)), N'~0', N'~') END"
}

// decl is the type that OPENJSON reads a value as.
func (c documentColumn) decl() string {
	switch {
	case c.width() == 0:
		return declaration(c.sql)
	default:
		return fmt.Sprintf("nvarchar(%d)", c.width())
	}
}

// insert writes the INSERT of a document's rows into a table variable; number is a column that takes their numbers, from
// 0, or is empty.
//
// Short values are read with OPENJSON … WITH, which gives them their types. Those that may be longer than it takes on every
// server are picked from the plain form of OPENJSON, which has a row for each member, and turned into columns again.
func (d document) insert(table, number string) string {
	var columns, values, with, long, keys []string
	if number != "" {
		columns, values = []string{number}, []string{"CAST(r.[key] AS int)"}
	}
	for i, c := range d.columns {
		columns = append(columns, quote(c.name))
		values = append(values, c.value(i))
		if c.long() {
			key := fmt.Sprintf("c%d", i)
			keys = append(keys, "N'"+key+"'")
			long = append(long, fmt.Sprintf("MAX(CASE WHEN p.[key] = N'%s' THEN p.[value] END) AS %s", key, key))
		} else {
			with = append(with, fmt.Sprintf("%s %s '$.c%d'", quote(c.name), c.decl(), i))
		}
	}
	// A document of short values is read in one step, a row for each element. Otherwise r is the element, w what of it is
	// short and v what is long.
	from := "OPENJSON(@" + d.param + ")"
	rows := len(long) > 0 || number != ""
	if rows {
		from += " AS r"
	}
	if len(with) > 0 {
		if rows {
			from += "\nCROSS APPLY OPENJSON(r.[value])"
		}
		from += " WITH (\n    " + list(with) + "\n) AS w"
	}
	if len(long) > 0 {
		from += "\nCROSS APPLY (\n    SELECT " + list(long) + "\n    FROM OPENJSON(r.[value]) AS p WHERE p.[key] IN (" +
			strings.Join(keys, ", ") + ")\n) AS v"
	}
	return "INSERT INTO @" + table + " (" + list(columns) + ")\nSELECT " + list(values) + "\nFROM " + from + ";\n"
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
