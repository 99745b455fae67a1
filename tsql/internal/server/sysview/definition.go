package sysview

import (
	"fmt"
	maps0 "maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// definition is a column as it is written in the text of a view.
type definition struct {
	Column
	constant Value
	isFixed  bool // constant holds what all rows have
}

// catalogCollation is that of columns which hold words of the system and not names that somebody has chosen.
const catalogCollation = "Latin1_General_CI_AS_KS_WS"

// getters find the values of columns in what a row is made of.
type getters[T any] map[string]func(r T) Value

// relation makes a view of a text and what fills it. The text has the columns in their order, separated by commas or
// line ends: a name, a type, a question mark if it may be NULL, and "= 0", "= 'text'" or "= NULL" if all rows have the
// same. For all other columns there has to be a getter, in the last of the maps that has the name.
//
// A text rather than Go values, because it can be held beside the documentation and read.
func relation[T any](name, text string, rows func(c *Context) ([]T, error), maps ...getters[T]) *View {
	schemaName, short, _ := strings.Cut(name, ".")
	v := &View{Schema: schemaName, Name: short, definition: define(name, text)}
	get := merge(name, v.definition, maps)
	v.rows = func(c *Context, wanted []bool) ([][]Value, error) {
		found, err := rows(c)
		return fill(found, v.definition, get, wanted), err
	}
	return v
}

// keyed adds to a view how to find the rows with one value in a column, for what procedures ask on every call.
func keyed[T any](v *View, column string, find func(c *Context, key Value) ([]T, error), maps ...getters[T]) *View {
	get := merge(v.Name, v.definition, maps)
	v.keys = append(v.keys, key{v.column(column), func(c *Context, equals Value, wanted []bool) ([][]Value, error) {
		found, err := find(c, equals)
		return fill(found, v.definition, get, wanted), err
	}})
	return v
}

// ofObjects joins groups of views, and adds to those of objects, which are made of listObjects, how to find the rows of
// one object and of one schema.
func ofObjects(groups ...[]*View) []*View {
	views := slices.Concat(groups...)
	for _, v := range views {
		if v.column("object_id") >= 0 {
			v.narrowed("object_id", objectsWithID)
			v.narrowed("schema_id", objectsInSchema)
		}
	}
	return views
}

// narrowed adds how to find the rows with one value in a column, if the view has it: by looking at few objects.
func (v *View) narrowed(by string, among func(db *schema.Database, id int32) []schema.Object) {
	column := v.column(by)
	if column < 0 {
		return
	}
	v.keys = append(v.keys, key{column, func(c *Context, id Value, wanted []bool) ([][]Value, error) {
		few := *c
		few.among = among(c.Database, int32(id.Int()))
		return v.rows(&few, wanted)
	}})
}

// column is the place of a column; -1 if there is none of that name.
func (v *View) column(name string) int {
	return slices.IndexFunc(v.definition, func(d definition) bool { return d.Name == name })
}

// fill makes the rows.
func fill[T any](list []T, columns []definition, get []func(T) Value, wanted []bool) [][]Value {
	out := make([][]Value, len(list))
	cells := make([]Value, len(list)*len(columns))
	for i, r := range list {
		row := cells[i*len(columns) : (i+1)*len(columns) : (i+1)*len(columns)]
		for k := range columns {
			switch {
			case len(wanted) > 0 && !wanted[k]:
			case get[k] == nil:
				row[k] = columns[k].constant
			default:
				row[k] = get[k](r)
			}
		}
		out[i] = row
	}
	return out
}

// merge finds the getter of every column. That one is missing, or that there is one for nothing, is a mistake of this
// package, which every use of it finds.
func merge[T any](name string, columns []definition, maps []getters[T]) []func(T) Value {
	all := getters[T]{}
	for _, m := range maps {
		maps0.Copy(all, m)
	}
	list := make([]func(T) Value, len(columns))
	for i, c := range columns {
		if c.isFixed {
			continue
		}
		if list[i] = all[c.Name]; list[i] == nil {
			panic(fmt.Sprintf("sysview: %s: nothing fills column %s", name, c.Name))
		}
	}
	return list
}

// define reads the text of a view.
func define(name, text string) []definition {
	var list []definition
	for line := range strings.Lines(text) {
		for part := range strings.SplitSeq(strings.TrimSpace(line), ", ") {
			if part == "" {
				continue
			}
			d, err := defineColumn(part)
			if err != nil {
				panic(fmt.Sprintf("sysview: %s: %s: %v", name, part, err))
			}
			list = append(list, d)
		}
	}
	return list
}

func defineColumn(text string) (definition, error) {
	text, constant, isFixed := strings.Cut(text, " = ")
	name, kind, _ := strings.Cut(text, " ")
	kind, nullable := strings.CutSuffix(kind, "?")
	t, err := parseType(kind)
	d := definition{Column: Column{Name: name, Type: t, Nullable: nullable}, isFixed: isFixed}
	if isFixed && err == nil {
		d.constant, err = parseConstant(constant)
	}
	return d, err
}

// parseType reads "nvarchar(60)" or "decimal(38)". Types have one facet at most.
func parseType(text string) (value.Type, error) {
	name, length, hasLength := strings.Cut(strings.TrimSuffix(text, ")"), "(")
	var facets []string
	if hasLength {
		facets = []string{length}
	}
	t, err := sqltype.Parse(name, facets)
	return value.Type{Type: t}, err
}

func parseConstant(text string) (Value, error) {
	if text == "NULL" {
		return Value{}, nil
	}
	if s, ok := strings.CutPrefix(text, "'"); ok {
		return value.OfString(strings.TrimSuffix(s, "'")), nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return value.OfInt(n), err
}

// columns gives the columns their collations: names have that of the database, words of the system their own.
func columns(definitions []definition, db *schema.Database) []Column {
	list := make([]Column, len(definitions))
	for i, d := range definitions {
		list[i] = d.Column
		if !d.Type.IsCharacter() {
			continue
		}
		if db != nil {
			list[i].Type.Collation = db.Collation
		}
		if fixed, ok := value.CollationByName(catalogCollation); ok && (d.Name == "type" || strings.HasSuffix(d.Name, "_desc")) {
			list[i].Type.Collation = fixed
		}
	}
	return list
}

// What getters return.

func str(s string) Value { return value.OfString(s) }

// orNull is a text that is NULL when it is empty.
func orNull(s string) Value {
	if s == "" {
		return Value{}
	}
	return value.OfString(s)
}

func number[N ~int | ~int16 | ~int32 | ~int64 | ~uint8](n N) Value { return value.OfInt(int64(n)) }

func flag(b bool) Value { return value.OfBool(b) }

// optional is a number that is NULL when it is 0.
func optional[N ~int | ~int32 | ~int64](n N) Value {
	if n == 0 {
		return Value{}
	}
	return value.OfInt(int64(n))
}

// moment is a datetime; NULL for the zero time.
func moment(t time.Time) Value {
	if t.IsZero() {
		return Value{}
	}
	return value.FromTime(t, dateTime)
}

// milliseconds is how a duration is shown.
func milliseconds(d time.Duration) Value {
	return value.OfInt(min(max(d.Milliseconds(), math.MinInt32), math.MaxInt32))
}

var dateTime = value.Type{Type: sqltype.Type{Kind: sqltype.DateTime}}
