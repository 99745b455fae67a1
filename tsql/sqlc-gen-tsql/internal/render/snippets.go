package render

// Each function here returns Go that stands in a generated file. Names and texts from scripts go into it as string
// literals or comments only, which literal, comment and strconv.Quote see to: whatever a script calls its columns, none of
// it becomes code.

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/model"
)

// argument writes the statement that adds an argument to a call: a function of package runtime for each mode, given the
// T-SQL type as a value.
func argument(a model.Arg) string {
	value := "p." + a.Field
	add := func(function string) string {
		return fmt.Sprintf("%s(&a, %s, %s, %s)", function, strconv.Quote(a.Name), a.Type.Kind, value)
	}
	bytes := a.Type.Bytes()
	switch a.Mode {
	case model.Required:
		return add("required")
	case model.OptionalNull:
		return add("optionalNull")
	case model.TableArg:
		return tableArgument(a, value)
	case model.Nullable:
		return add("nullable" + variant(a, bytes))
	case model.OptionalArg:
		if bytes {
			return add("optionalBytes")
		}
		return add("optional")
	case model.Output:
		return "out" + a.Field + " := " + add("output"+variant(a, bytes))
	default:
		panic(fmt.Sprintf("unknown mode %d", a.Mode))
	}
}

// variant is the end of the name of the function that takes a value that may be NULL.
func variant(a model.Arg, bytes bool) string {
	switch {
	case bytes:
		return "Bytes"
	case a.SQLNull:
		return "SQL"
	default:
		return ""
	}
}

// tableArgument writes the statement that adds rows, in the form that the option tables asks for.
func tableArgument(a model.Arg, value string) string {
	name, document, row := strconv.Quote(a.Name), strconv.Quote(a.Document), a.Table.Name
	if a.Document == "" {
		return fmt.Sprintf("sendTVP(&a, %s, q.text(&%s), %s, (*%s).tvp)", name, a.Table.Statement, value, row)
	}
	return fmt.Sprintf("sendTable(&a, %s, %s, %s, (*%s).put)", name, document, value, row)
}

// column writes the statement that adds a value to the row of a table argument.
func column(c model.TableColumn) string {
	function := "column"
	if c.Nullable {
		function += "Null" + variant(model.Arg{SQLNull: c.SQLNull}, c.Type.Bytes())
	}
	return fmt.Sprintf("%s(t, %s, %s, r.%s)", function, strconv.Quote(c.Name), c.Type.Kind, c.Field)
}

// element writes the statement that adds an argument of a :batch, whose arguments are the row of a document.
func element(a model.Arg) string {
	return column(model.TableColumn{Name: a.Name, Field: a.Field, Type: a.Type, Nullable: a.Mode == model.Nullable, SQLNull: a.SQLNull})
}

// wireName is the struct that the driver's form of a table is made of.
func wireName(t *model.Table) string { return "tvp" + t.Name }

// wireType is what the driver takes for a column. Of one that is skipped it reads only the type.
func wireType(c model.TableColumn) string {
	if c.Nullable && !c.Skipped {
		return c.Type.TVPNull
	}
	return c.Type.TVP
}

// tvpField writes a field of that struct. A column that is skipped is there, so that those behind it are in their
// places, and the driver leaves it to the server.
func tvpField(c model.TableColumn) string {
	if !c.Skipped {
		return c.Field + " " + wireType(c)
	}
	goType := wireType(c)
	if goType == "" { // of a type that it can't send, which doesn't matter here
		goType = "int32"
	}
	return "_ " + goType + " `tvp:\"@identity\"`"
}

// tvpValue writes the value of a field of that struct.
func tvpValue(c model.TableColumn) string {
	value := "r." + c.Field
	call := func(function string) string {
		return fmt.Sprintf("%s[%s](t, %s, %s, %s)", function, wireType(c), strconv.Quote(c.Name), c.Type.Kind, value)
	}
	switch {
	case c.Nullable && c.Type.Bytes():
		return call("tvpBytes")
	case wireType(c) == "sql.NullString": // all texts, those that are never NULL, too
		switch {
		case !c.Nullable:
			value = "&" + value
		case c.SQLNull:
			value = "pointer(" + value + ")"
		}
		return fmt.Sprintf("tvpText(t, %s, %s, %s)", strconv.Quote(c.Name), c.Type.Kind, value)
	case c.Nullable && c.SQLNull:
		value = "pointer(" + value + ")"
		return call("tvpNull")
	case c.Nullable:
		return call("tvpNull")
	case slices.Contains([]string{"bool", "uint8", "int16", "int32", "int64"}, c.Type.Name): // which always fit
		return value
	default:
		return call("tvpColumn")
	}
}

// literal writes a string: as it is if it has several lines, so that a query can be read in the generated file.
func literal(s string) string {
	if strings.Contains(s, "\n") && strconv.CanBackquote(strings.ReplaceAll(s, "\n", "")) {
		return "`" + s + "`"
	}
	return strconv.Quote(s)
}

// message is the text of a sentinel behind the name of the package.
func message(s *model.Sentinel) string {
	if s.Text == "" {
		return strconv.Quote(fmt.Sprintf(": error %d", s.Number))
	}
	return strconv.Quote(": " + strings.TrimSuffix(s.Text, "."))
}

// comment writes text behind the beginning of a comment.
func comment(text string) string { return strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n// ") }

// comments writes lines as a comment.
func comments(lines []string) string {
	var out strings.Builder
	for i, line := range lines {
		if i > 0 {
			out.WriteByte('\n')
		}
		out.WriteString(strings.TrimRight("// "+line, " "))
	}
	return out.String()
}

// columns writes the names of columns, in lines of a readable length: gofmt breaks none.
func columns(names []string) string {
	var out strings.Builder
	width := 0
	for i, name := range names {
		if i > 0 {
			out.WriteString(", ")
		}
		if width += len(name) + 4; width > 100 {
			out.WriteString("\n")
			width = 0
		}
		out.WriteString(strconv.Quote(name))
	}
	if strings.Contains(out.String(), "\n") {
		return "\n" + out.String() + ",\n"
	}
	return out.String()
}
